#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <list>

#include "base/async/task_group.hpp"
#include "base/net/listener.hpp"
#include "proxy/admin/node_control.hpp"
#include "proxy/telemetry/exception_barrier.hpp"

namespace proxy {

/// The admin port: HTTP access to the node, on the control thread. routes.cpp has its table, and
/// admin_access.hpp its rules of access. Connections are few, deadlines short and bodies small. If
/// all connections are taken, a new one replaces the one that has waited for a request for longest.
/// A handler that throws gives a 500.
class AdminServer {
public:
    static constexpr std::size_t kMaxConnections = 64;
    static constexpr std::size_t kMaxBodyBytes = 1 << 20;  // of a request; 413 above

    /// Binds the port. Throws std::runtime_error with the address. `node` and `faults` outlive the
    /// server.
    AdminServer(boost::asio::io_context& control, const HostPort& where, NodeControl& node,
                ExceptionBarrier& faults);

    void start();
    void stop();
    std::uint16_t port() const { return listener_.port(); }

private:
    class Waiting;

    void take(boost::asio::ip::tcp::socket socket);
    boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket);

    NodeControl& node_;
    ExceptionBarrier& faults_;
    base::Listener listener_;
    std::list<Waiting*> waiting_;  // connections that wait for a request; longest first
    base::TaskGroup tasks_;
};

}  // namespace proxy
