#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "protocol/task_group.hpp"
#include "proxy/admin/hooks.hpp"

namespace proxy {

/// The view inside a node over HTTP, on the control thread: what stands in the table of routes.cpp,
/// for whom admission.hpp lets in. Plain and small: a few connections, short deadlines, small
/// bodies.
class AdminServer {
public:
    static constexpr std::size_t kMaxConnections = 64;

    using Hooks = AdminHooks;

    /// Binds; throws boost::system::system_error that names the address.
    AdminServer(boost::asio::io_context& control, const HostPort& where, Hooks hooks);

    void start();
    void stop();
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    boost::asio::awaitable<void> accept_loop();
    boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket);

    Hooks hooks_;
    boost::asio::ip::tcp::acceptor acceptor_;
    protocol::TaskGroup tasks_;
};

}  // namespace proxy
