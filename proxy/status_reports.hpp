#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/cluster_status.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/forwarding/worker.hpp"

namespace proxy {

// What the parts of a node report of themselves, put together for NodeStatus. Control thread.

/// Of asking one peer, from some or all workers.
struct PeerReport {
    PeerRecord::Counts counts;
    PeerRecord::Time left_alone_until{};  // by one of them at least

    PeerReport& operator+=(const PeerReport& other);
};
using PeerReports = std::map<std::string, PeerReport>;  // by node

/// The last that each worker said.
class WorkerReports {
public:
    explicit WorkerReports(boost::asio::io_context& control) : control_(control) {}

    /// Asks all. Of one that is too busy to answer within a second, what it last said stands.
    boost::asio::awaitable<void> renew(const std::vector<std::unique_ptr<Worker>>& workers);

    WorkerCounters work() const;
    PeerReports peers() const;

private:
    struct Report {
        WorkerCounters counters;
        PeerReports peers;
    };
    static Report report_of(const Worker& worker);

    boost::asio::io_context& control_;
    std::vector<Report> last_;
};

/// Adds what earlier links of this node counted to what the present ones do.
void add_earlier(protocol::ClusterStatus& links, const protocol::ClusterStatus& earlier);

/// Writes summary and cluster of `status`. True when all peers are in step.
bool show_links(const protocol::ClusterStatus& links, const PeerReports& asked, NodeStatus& status);

}  // namespace proxy
