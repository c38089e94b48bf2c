#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/admin/cluster_view.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/admin/purge.hpp"
#include "proxy/admin/view_json.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/loaded_config.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/explanation.hpp"
#include "proxy/telemetry/history.hpp"
#include "proxy/telemetry/recent_errors.hpp"
#include "proxy/telemetry/site_counts.hpp"

namespace proxy {

/// Queries and orders that the admin port passes to its node. Control thread.
class NodeControl {
public:
    virtual ~NodeControl() = default;
    virtual boost::asio::awaitable<NodeStatus> status() = 0;
    /// The configuration in effect.
    virtual std::shared_ptr<const LoadedConfig> config() = 0;
    virtual void drain() = 0;
    virtual boost::asio::awaitable<Reloaded> reload() = 0;
    virtual boost::asio::awaitable<PurgeAnswer> purge(PurgeOrder order) = 0;
    virtual PeersChanged change_peers(const PeerOrder& order) = 0;
    /// Returns nothing if the node ends, or is too busy.
    virtual boost::asio::awaitable<std::optional<Explanation>> explain(CacheKey key) = 0;
    /// Returns the reason for a failure, or an empty string: the log is open again, or is off.
    virtual boost::asio::awaitable<std::string> reopen_logs() = 0;

    // The data behind the dashboard.
    /// All nodes, by the reports of peers.
    virtual boost::asio::awaitable<ClusterView> cluster_view() = 0;
    virtual std::vector<HistoryPoint> history(Span span) = 0;
    /// ClusterHistory::points().
    virtual std::optional<std::vector<HistoryPoint>> cluster_history(const std::string& node) = 0;
    virtual boost::asio::awaitable<SiteTotals> sites() = 0;
    virtual boost::asio::awaitable<TopLists> top() = 0;
    virtual std::vector<RecentErrors::Line> recent_errors() = 0;
};

}  // namespace proxy
