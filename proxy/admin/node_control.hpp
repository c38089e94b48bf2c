#pragma once

#include <boost/asio/awaitable.hpp>
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

/// Queries and orders that the admin port passes to its node. Control thread.
class NodeControl {
public:
    virtual ~NodeControl() = default;
    virtual boost::asio::awaitable<NodeStatus> status() = 0;
    /// The configuration in effect.
    virtual std::shared_ptr<const Config> config() = 0;
    virtual void drain() = 0;
    virtual boost::asio::awaitable<Reloaded> reload() = 0;
    virtual boost::asio::awaitable<PurgeReport> purge(PurgeOrder order) = 0;
    virtual PeersChanged change_peers(const PeerOrder& order) = 0;
    /// Returns nothing if the node ends, or is too busy.
    virtual boost::asio::awaitable<std::optional<Explanation>> explain(CacheKey key) = 0;
    /// Returns the reason for a failure, or an empty string: the log is open again, or is off.
    virtual boost::asio::awaitable<std::string> reopen_logs() = 0;
};

}  // namespace proxy
