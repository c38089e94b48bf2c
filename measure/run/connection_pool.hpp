#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include "base/net/host_port.hpp"
#include "measure/run/proxy_connection.hpp"

namespace measure {

/// The connections of a replay to its proxies, which have the numbers of the list. watch() ends
/// waits after their deadlines, until stop(). One thread.
class ConnectionPool {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Throws std::invalid_argument for a host without an address.
    ConnectionPool(boost::asio::io_context& context, const std::vector<base::HostPort>& proxies);

    /// Makes one attempt, on a kept connection if there is one. A proxy may close a kept connection
    /// at any time, so a connection that closes before the answer proves no failure: the request is
    /// sent once more on a new one. Requests that must not be repeated (RFC 9110 §9.2.2) get a new
    /// connection from the start.
    base::awaitable<Attempt> ask(std::size_t proxy, const std::string& request,
                                 const ExpectedAnswer& expected, bool repeatable, Time deadline);
    /// For a short time after the proxy has refused a connection.
    bool is_down(std::size_t proxy) const;

    base::awaitable<void> watch();
    void stop();

private:
    struct Proxy {
        boost::asio::ip::tcp::endpoint endpoint;
        std::vector<ProxyConnection*> idle;
        Time down_until{};
    };

    void drop(ProxyConnection* connection);

    boost::asio::io_context& context_;
    std::deque<Proxy> proxies_;
    std::list<ProxyConnection> connections_;
    boost::asio::steady_timer watch_;
    bool stopped_ = false;
};

}  // namespace measure
