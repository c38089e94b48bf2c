#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

#include "protocol/task_group.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/storage/purge.hpp"

namespace proxy {

/// The view inside a node over HTTP, on the control thread: /healthz, /readyz, /metrics and
/// /api/v1/{status,peers,summary,config}, POST /api/v1/{drain,reload,purge,peers}, for whom
/// admission.hpp lets in. Plain and small: a few connections, short deadlines, small bodies.
class AdminServer {
public:
    static constexpr std::size_t kMaxConnections = 64;

    struct Hooks {
        std::function<boost::asio::awaitable<NodeStatus>()> status;
        std::function<void()> drain;
        std::function<std::shared_ptr<const Config>()> config;  // what is in effect
        std::function<boost::asio::awaitable<Reloaded>()> reload;
        std::function<boost::asio::awaitable<PurgeReport>(PurgeOrder)> purge;
        std::function<PeersChanged(const PeerOrder&)> change_peers;
    };

    /// Binds; throws boost::system::system_error that names the address.
    AdminServer(boost::asio::io_context& control, const Endpoint& where, Hooks hooks);

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
