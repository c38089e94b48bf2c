#pragma once

#include "proxy/admin/node_control.hpp"

namespace proxy::test {

/// A node that answers the admin port with empty values. Tests override a call.
class SilentNode : public NodeControl {
public:
    boost::asio::awaitable<NodeStatus> status() override { co_return NodeStatus(); }
    std::shared_ptr<const LoadedConfig> config() override {
        return std::make_shared<const LoadedConfig>();
    }
    void drain() override {}
    boost::asio::awaitable<Reloaded> reload() override { co_return Reloaded(); }
    boost::asio::awaitable<PurgeAnswer> purge(PurgeOrder) override { co_return PurgeAnswer(); }
    PeersChanged change_peers(const PeerOrder&) override { return {}; }
    boost::asio::awaitable<std::optional<Explanation>> explain(CacheKey) override {
        co_return std::nullopt;
    }
    boost::asio::awaitable<std::string> reopen_logs() override { co_return std::string(); }
    boost::asio::awaitable<ClusterView> cluster_view() override { co_return ClusterView(); }
    std::vector<HistoryPoint> history(Span) override { return {}; }
    std::optional<std::vector<HistoryPoint>> cluster_history(const std::string&) override {
        return std::nullopt;
    }
    boost::asio::awaitable<SiteTotals> sites() override { co_return SiteTotals(); }
    boost::asio::awaitable<TopLists> top() override { co_return TopLists(); }
    std::vector<RecentErrors::Line> recent_errors() override { return {}; }
};

}  // namespace proxy::test
