#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "proxy/admin/cluster_history.hpp"
#include "proxy/admin/cluster_view.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/node/dashboard_data.hpp"
#include "proxy/node/node_parts.hpp"
#include "proxy/node/status_reports.hpp"
#include "proxy/telemetry/recent_errors.hpp"

namespace proxy {

/// Observes a node: its status and the view of its cluster for the admin port, samples for the
/// history, and reports to its peers. Control thread.
class NodeObserver {
public:
    /// The parts outlive this object. `errors` may be null.
    NodeObserver(const NodeParts& node, std::shared_ptr<const RecentErrors> errors);

    /// The node starts now: takes samples until stop().
    void start();
    void stop();
    /// Call it when all threads have ended.
    void close() { dashboard_.close(); }

    /// All of the status but NodeStatus::config.
    boost::asio::awaitable<NodeStatus> status();
    /// All nodes, by the reports of peers.
    boost::asio::awaitable<ClusterView> cluster_view();
    const DashboardData& dashboard() const { return dashboard_; }
    const ClusterHistory& cluster_history() const { return cluster_history_; }

private:
    void sample_at(std::chrono::steady_clock::time_point at);
    boost::asio::awaitable<void> sample();
    NodeStatus observe();

    const NodeParts node_;
    const std::string instance_;
    std::chrono::steady_clock::time_point started_;
    WorkerReports reports_;
    DashboardData dashboard_;
    ClusterHistory cluster_history_;
    boost::asio::steady_timer sampling_;
    bool stopped_ = false;
};

}  // namespace proxy
