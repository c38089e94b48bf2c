#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace proxy {

/// The signs by which a node judges whether the other side of a connection has read a request. One
/// request on one connection; one thread.
class RequestDelivery {
public:
    /// Notes what the other side's system had acknowledged of a reused connection before the
    /// request. Costs one system call.
    void begin_on(int socket);
    /// This system took `bytes` of the request, or refused more of it for `ec`. `in_tls`: a session
    /// may have sent bytes of its own.
    void sent(std::size_t bytes, const boost::system::error_code& ec, bool in_tls) {
        sent_ = sent_ || bytes > 0 || in_tls;
        if (ec && is_fault(ec)) broken_ = true;
    }
    /// A byte of a response has come.
    void answered() { answered_ = true; }
    /// The other side has ended its sending, `orderly` or by a fault.
    void ended(bool orderly) {
        ended_orderly_ = orderly;
        clean_end_ = orderly && !broken_;
        broken_ = broken_ || !orderly;
    }
    /// The silence of the other side's system has ended the wait.
    void vanished() { vanished_ = true; }

    bool is_answered() const { return answered_; }
    bool has_ended_orderly() const { return ended_orderly_; }
    bool has_vanished() const { return vanished_; }
    /// This system took bytes of the request.
    bool was_sent() const { return sent_; }
    /// The judgement of Exchange::was_unread() for a reused connection.
    bool was_unread(int socket) const;
    /// The other side's system has acknowledged no byte of the request, which was sent `time` ago.
    /// Costs one system call.
    bool is_unacknowledged(int socket, std::chrono::nanoseconds time) const;

private:
    static bool is_fault(const boost::system::error_code& ec);

    bool sent_ = false;
    bool answered_ = false;
    bool ended_orderly_ = false;
    bool clean_end_ = false;  // an orderly end without a fault before
    bool broken_ = false;
    bool vanished_ = false;
    std::optional<std::uint64_t> acknowledged_;  // before the request
};

}  // namespace proxy
