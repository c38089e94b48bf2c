#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/error.hpp"

namespace protocol {

inline constexpr std::size_t kMaxNamesInFlight = 256;
inline constexpr std::size_t kMaxNamesKept = 1024;
inline constexpr std::size_t kMaxAddressesPerName = 16;
inline constexpr std::size_t kResolverThreads = 4;  // so that one dead name delays no other

/// Names to endpoints, for one io_context; one thread only (that of the executor). Asks for the
/// same name are one lookup; a lookup cannot be cancelled, but those who wait for it can leave, and
/// its answer is kept for the next. Literal addresses answer at once and start no thread; lookups
/// run on threads of its own. Destruction, which must come before that of the io_context, waits for
/// none: a lookup under way ends on its own and its answer is dropped.
class Resolver {
public:
    using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
    using Addresses = std::vector<boost::asio::ip::address>;
    /// Asks for one name; may block. Called on threads of the resolver, and may outlive it.
    using LookUp = std::function<Result<Addresses>(const std::string& host)>;
    static Result<Addresses> ask_system(const std::string& host);

    /// `keep`: how long an answer counts, good or bad (bad ones at most a second).
    explicit Resolver(boost::asio::any_io_executor executor,
                      std::chrono::steady_clock::duration keep = std::chrono::seconds(5),
                      LookUp look_up = ask_system);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// At least one endpoint, in the system's order. `host`: name, IPv4 or IPv6 address (with or
    /// without brackets); `port`: decimal. Errors: resolve_timeout, resolve_failed, resolver_busy.
    boost::asio::awaitable<Result<Endpoints>> resolve(
        std::string host, std::string port, std::chrono::steady_clock::time_point deadline);

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace protocol
