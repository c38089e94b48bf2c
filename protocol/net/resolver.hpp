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

#include "protocol/net/dns_question.hpp"
#include "protocol/net/error.hpp"
#include "protocol/net/host_port.hpp"
#include "protocol/net/name_table.hpp"

namespace protocol {

/// Names to endpoints, for one io_context; one thread only (that of the executor), and no other is
/// used: no server, however silent, keeps one name waiting for another. Asks for the same name are
/// one look-up, which goes on when those who wait for it leave. What is kept, and how many look-ups
/// one client may have under way, is NameTable's to say. Literal addresses answer at once.
/// Destruction, which must come before that of the io_context, ends what is under way.
class Resolver {
public:
    using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
    using Time = std::chrono::steady_clock::time_point;
    /// Begins to look a name up, see ask_dns().
    using Ask = std::function<std::unique_ptr<NameQuestion>(const std::string& name,
                                                            std::function<void(NameAnswer)> done)>;
    using Now = std::function<Time()>;

    struct Options {
        std::chrono::nanoseconds most_kept = kMostKept;
        DnsSettings dns;
        Ask ask;  // empty: DNS
        Now now;  // empty: the steady clock; says how old an answer is, and no more
    };
    explicit Resolver(boost::asio::any_io_executor executor);
    Resolver(boost::asio::any_io_executor executor, Options options);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// At least one endpoint, best first (RFC 6724). `client`: on whose behalf a name is asked for
    /// that the configuration does not have, as its address. Errors: resolve_timeout,
    /// resolve_failed, resolver_busy.
    boost::asio::awaitable<Result<Endpoints>> resolve(HostPort place, Time deadline,
                                                      std::string client = {});

    /// Whether `address` is still one of those of `host`, by the last answer; a literal address
    /// leads to itself. Waits for nothing: when that answer has expired, a look-up begins whose
    /// result the next call goes by. True also when nothing is known of the name.
    bool leads_to(const std::string& host, const boost::asio::ip::address& address,
                  const std::string& client = {});

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace protocol
