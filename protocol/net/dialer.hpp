#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <string>

#include "protocol/net/dial_plan.hpp"
#include "protocol/net/error.hpp"

namespace protocol {

/// Connects to places that have several addresses, so that a dead one costs a moment at most: the
/// attempts overlap (DialPlan), the first that succeeds wins and the others are closed, and what
/// was learnt is used the next time (AddressMemory). For one io_context; one thread only. Outlives
/// the coroutines it gave out.
class Dialer {
public:
    using Time = DialPlan::Time;

    explicit Dialer(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// A connection to one of `addresses` (at least one), which are those of `place`. Errors:
    /// connect_timeout, operation_aborted, no_descriptors, else why the last attempt failed.
    /// No socket but the one it gives is open afterwards.
    boost::asio::awaitable<Result<boost::asio::ip::tcp::socket>> connect(std::string place,
                                                                         Endpoints addresses,
                                                                         Time deadline);
    /// This address took a connection that was then of no use: the others are tried before it.
    void distrust(const std::string& place, const AddressMemory::Endpoint& address);

private:
    boost::asio::any_io_executor executor_;
    AddressMemory memory_;
};

}  // namespace protocol
