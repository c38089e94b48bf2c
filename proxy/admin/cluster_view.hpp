#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "proxy/admin/node_report.hpp"
#include "proxy/admin/node_status.hpp"

namespace proxy {

/// A report older than this shows a silent node. A node that promises its heartbeats at longer
/// intervals has three of them.
inline constexpr std::chrono::seconds kReportIsOld{15};

/// One node of the cluster, as this node knows it.
struct NodeView {
    std::string node;
    bool is_self = false;
    /// The link from it; of a peer alone.
    protocol::PeerState link = protocol::PeerState::connecting;
    double link_seconds = 0;           // for which the link is in that state
    std::optional<NodeReport> report;  // of the own node, or the last one of a peer
    double age_seconds = 0;            // of that report
    bool is_old = false;               // that report
};

/// All nodes that this node knows.
struct ClusterView {
    std::string version;
    double now = 0;               // seconds since 1970
    std::vector<NodeView> nodes;  // this node first, then peers as in the status
};

/// The view of a node in this state. `own`: its own report. A malformed report counts as none.
ClusterView view_of(const NodeStatus& status, NodeReport own,
                    const std::vector<protocol::ReceivedReport>& received);

/// One word: `ready`, `not_ready` or `draining` by the report; `silent`: the report is old; `down`:
/// the node has no link to this one; `refused`: it runs, but one of the two refuses the other;
/// `no_report`: it has a link, but has sent no report yet, or runs an earlier build.
std::string_view state_of(const NodeView& node);

/// For how long a peer has been `silent`, `down`, `refused` or `no_report`, in seconds. Returns
/// nothing for the other states: the uptime in the report bounds these.
std::optional<double> state_seconds_of(const NodeView& node);

/// Notes how far the clocks of peers are ahead of this node's, which says `now`, by the last
/// reports.
void show_clocks(const std::vector<protocol::ReceivedReport>& received,
                 std::chrono::system_clock::time_point now, NodeStatus& status);

/// So far the clock of this node is ahead of those of all its peers, by show_clocks(); 0 if that is
/// within two seconds, the accuracy.
std::chrono::seconds ahead_of_all_peers(const NodeStatus& status);

/// The page of /api/v1/nodes.
std::string nodes_json(const ClusterView& view);

}  // namespace proxy
