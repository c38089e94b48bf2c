#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/worker.hpp"

namespace proxy {

// What the parts of a node report of themselves, put together for NodeStatus. Control thread.

/// Of asking one peer, from some or all workers.
struct PeerReport {
    PeerRecord::Counts counts;
    PeerRecord::Time breaker_open_until{};  // by one of them at least
    RoundTrip round_trip;                   // of the first that knows it
    PeerRecord::Failure last_failure;       // the last of all

    PeerReport& operator+=(const PeerReport& other);
};
using PeerReports = std::map<std::string, PeerReport>;  // by node

inline constexpr std::size_t kOriginsShown = 16;
using OriginReports = std::vector<OriginTimes::Origin>;

/// What each worker reported last.
class WorkerReports {
public:
    explicit WorkerReports(boost::asio::io_context& control) : control_(control) {}

    /// Asks all workers. One that does not answer within a second keeps its last report.
    boost::asio::awaitable<void> renew(const std::vector<std::unique_ptr<Worker>>& workers);

    WorkerCounters work() const;
    PeerReports peers() const;
    /// Of all that are no peers any more.
    PeerRecord::Counts gone() const;
    /// The origins that were asked last, kOriginsShown at most.
    OriginReports origins() const;

private:
    struct Report {
        WorkerCounters counters;
        PeerReports peers;
        PeerRecord::Counts gone;
        OriginReports origins;
    };
    static Report report_of(const Worker& worker);

    boost::asio::io_context& control_;
    std::vector<Report> last_;
};

/// Adds what earlier links of this node counted to what the present ones do.
void add_earlier(protocol::ClusterStatus& links, const protocol::ClusterStatus& earlier);

/// How long peers are waited for by the origins' times and these settings.
std::vector<OriginStatus> show_origins(const OriginReports& origins, const ClusterConfig& settings);

/// Writes what of `status` is of memory and disk.
void show_store(SharedCache& cache, NodeStatus& status);

/// One line for the service manager. `last_error`: why the last reload was refused; empty: it was
/// not.
std::string serving_line(const Config& config,
                         const std::vector<protocol::ClusterStatus::Peer>& peers,
                         const std::string& last_error);

/// Writes summary and cluster of `status`. True when all peers are in sync, and all names behind
/// which there may be more have been answered for.
bool show_links(const protocol::ClusterStatus& links, const WorkerReports& asked,
                NodeStatus& status);

}  // namespace proxy
