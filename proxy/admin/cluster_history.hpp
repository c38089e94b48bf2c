#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/admin/cluster_view.hpp"
#include "proxy/telemetry/history.hpp"

namespace proxy {

/// The traffic of each node of the cluster over the last 15 minutes, from the reports of the nodes.
/// An interval lasts from one report to the first that comes kInterval later, so a silent node has
/// none. A node that restarts makes an interval of 0. Points have times over all outcomes alone,
/// those of the minute before the report, and their refusals are requests. Memory: 90 points of 120
/// bytes, 11 KB for each node; 2.8 MB with the 256 peers that cluster.max_peers allows unless it is
/// raised. One thread.
class ClusterHistory {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kInterval{10};
    static constexpr std::size_t kIntervals = 90;

    /// Adds the reports of the view, and drops nodes that the view lacks.
    void add(const ClusterView& view, Time now);

    /// The points of a node, oldest first, or nothing if the view lacked it. For `*`, the sum over
    /// all nodes in intervals of kInterval, up to the last moment that all reporting nodes cover:
    /// the share of a node's interval counts by its time, the median is weighted by requests, and
    /// the 99th percentile is the largest.
    std::optional<std::vector<HistoryPoint>> points(const std::string& node) const;

private:
    struct Node {
        std::optional<ReportedNumbers> last;
        Time last_at;
        std::vector<HistoryPoint> points;

        void note(const ReportedNumbers& numbers, Time at);
    };
    std::vector<HistoryPoint> sum() const;

    std::map<std::string, Node> nodes_;
    Time latest_;
};

}  // namespace proxy
