#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proxy/admin/node_status.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/storage/purge.hpp"
#include "proxy/telemetry/explanation.hpp"

namespace proxy {

/// What the admin port shows of a node, and asks it to do. Called on the control thread.
struct AdminHooks {
    std::function<boost::asio::awaitable<NodeStatus>()> status;
    std::function<void()> drain;
    std::function<std::shared_ptr<const Config>()> config;  // what is in effect
    std::function<boost::asio::awaitable<Reloaded>()> reload;
    std::function<boost::asio::awaitable<PurgeReport>(PurgeOrder)> purge;
    std::function<PeersChanged(const PeerOrder&)> change_peers;
    /// Of a target URI; nothing: the node is ending.
    std::function<boost::asio::awaitable<std::optional<Explanation>>(CacheKey)> explain;
    /// Why the access log cannot be opened anew; empty: it is open, or there is none.
    std::function<boost::asio::awaitable<std::string>()> reopen_logs;
};

}  // namespace proxy
