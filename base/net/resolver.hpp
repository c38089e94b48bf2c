#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/error.hpp"
#include "base/net/dns_question.hpp"
#include "base/net/host_port.hpp"
#include "base/net/name_table.hpp"

namespace base {

/// A question looks whether the hosts file has changed, if the last look is so long ago. A change
/// ends the lifetime of all answers, because a line there comes before DNS.
inline constexpr std::chrono::seconds kHostsFileLook{10};

/// Resolves names to endpoints for one io_context. It uses one thread, that of the executor, so a
/// silent server delays no other name. Calls for the same name share one look-up, which goes on
/// when its callers leave. NameTable decides about lifetimes and about the look-ups that one client
/// may have in flight. Literal addresses are answered at once. The destructor cancels look-ups; it
/// must run before that of the io_context.
class Resolver {
public:
    using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
    using Time = std::chrono::steady_clock::time_point;
    /// Begins a look-up, see ask_dns().
    using AskFunction = std::function<std::unique_ptr<NameQuestion>(
        const std::string& name, std::function<void(NameAnswer)> done)>;
    using Now = std::function<Time()>;

    struct Options {
        std::chrono::nanoseconds most_kept = kMostKept;
        DnsSettings dns;
        AskFunction ask;  // empty: DNS
        Now now;  // empty: the steady clock and slept(). Only the age of answers depends on it
    };
    explicit Resolver(boost::asio::any_io_executor executor);
    Resolver(boost::asio::any_io_executor executor, Options options);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// Returns at least one endpoint, best first (RFC 6724). `client`: address of the client that
    /// needs a name outside the configuration. Errors: resolve_timeout, resolve_failed,
    /// resolver_busy.
    boost::asio::awaitable<Result<Endpoints>> resolve(HostPort place, Time deadline,
                                                      std::string client = {});

    /// Whether `address` is still an address of `host` in the last answer; a literal address leads
    /// to itself. Returns at once. When the answer has expired, a look-up begins, and the next call
    /// uses its result. An unknown name gives true.
    bool leads_to(const std::string& host, const boost::asio::ip::address& address,
                  const std::string& client = {});

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace base
