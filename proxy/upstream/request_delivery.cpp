#include "proxy/upstream/request_delivery.hpp"

#include <boost/asio/error.hpp>

#include "base/net/acknowledged.hpp"

namespace proxy {

void RequestDelivery::begin_on(int socket) {
    acknowledged_ = base::bytes_acknowledged(socket);
}

/// To a socket the other side's end is EPIPE only if it came before a reset: that stands for the
/// end, which is there to be read.
bool RequestDelivery::is_fault(const boost::system::error_code& ec) {
    return ec != boost::asio::error::operation_aborted && ec != boost::asio::error::broken_pipe;
}

bool RequestDelivery::was_unread(int socket) const {
    if (answered_) return false;
    if (!sent_) return true;
    // A used connection has had bytes acknowledged: none means that the system does not count.
    return clean_end_ && acknowledged_.value_or(0) > 0 &&
           base::bytes_acknowledged(socket) == acknowledged_;
}

bool RequestDelivery::is_unacknowledged(int socket, std::chrono::nanoseconds time) const {
    return !answered_ && base::is_unacknowledged_since(socket, time);
}

}  // namespace proxy
