#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <string>

#include "base/async/error.hpp"
#include "base/net/dial_plan.hpp"

namespace base {

/// Connects to places with several addresses, so that a dead address costs a moment at most.
/// Attempts overlap (DialPlan); the first that succeeds wins, and the others are closed. The next
/// dialling uses the experience (AddressMemory). For one io_context; one thread only. Outlives its
/// coroutines.
class Dialer {
public:
    using Time = DialPlan::Time;

    explicit Dialer(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    /// Returns a connection to one of `addresses` (at least one), the addresses of `place`. Errors:
    /// connect_timeout, operation_aborted, no_descriptors, or the reason of the last attempt. All
    /// other sockets are closed afterwards.
    boost::asio::awaitable<Result<boost::asio::ip::tcp::socket>> connect(std::string place,
                                                                         Endpoints addresses,
                                                                         Time deadline);
    /// The address took a connection that proved useless, so the others are tried first.
    void distrust(const std::string& place, const AddressMemory::Endpoint& address);

private:
    boost::asio::any_io_executor executor_;
    AddressMemory memory_;
};

}  // namespace base
