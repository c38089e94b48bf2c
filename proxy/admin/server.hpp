#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <list>

#include "protocol/net/listener.hpp"
#include "protocol/net/task_group.hpp"
#include "proxy/admin/hooks.hpp"
#include "proxy/telemetry/fault_wall.hpp"

namespace proxy {

/// The view inside a node over HTTP, on the control thread: what stands in the table of routes.cpp,
/// for whom admission.hpp lets in. Plain and small: a few connections, short deadlines, small
/// bodies. When all connections are taken, the one whose request has been waited for longest makes
/// room, so that idle ones keep nobody out. A handler that throws gives a 500.
class AdminServer {
public:
    static constexpr std::size_t kMaxConnections = 64;
    static constexpr std::size_t kMaxBodyBytes = 1 << 20;  // of a request; above: 413

    using Hooks = AdminHooks;

    /// Binds; throws std::runtime_error that names the address.
    AdminServer(boost::asio::io_context& control, const HostPort& where, Hooks hooks,
                FaultWall& faults);

    void start();
    void stop();
    std::uint16_t port() const { return listener_.port(); }

private:
    class Waiting;

    void take(boost::asio::ip::tcp::socket socket);
    boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket);

    Hooks hooks_;
    FaultWall& faults_;
    protocol::Listener listener_;
    std::list<Waiting*> waiting_;  // connections whose next request is waited for; longest first
    protocol::TaskGroup tasks_;
};

}  // namespace proxy
