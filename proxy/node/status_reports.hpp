#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/tls/leaf_certificates.hpp"

namespace proxy {

// Collects reports of the parts of a node for NodeStatus. Control thread.

/// Results of peer requests to one peer, from one or several workers.
struct PeerReport {
    PeerRecord::Counts counts;
    PeerRecord::Time breaker_open_until{};  // the latest of all workers
    RoundTrip round_trip;                   // of the first worker that knows it
    PeerRecord::Failure last_failure;       // of all workers
    PeerRecord::Time recognised_at{};       // the latest of all workers

    /// The last failure. A later response of the peer refutes kNotAPeer, which is then left out.
    PeerRecord::Failure shown_failure() const;

    PeerReport& operator+=(const PeerReport& other);
};
using PeerReports = std::map<std::string, PeerReport>;  // by node

inline constexpr std::size_t kOriginsShown = 16;
using OriginReports = std::vector<std::pair<std::string, RoundTrip>>;  // by place

/// The last report of each worker.
class WorkerReports {
public:
    explicit WorkerReports(boost::asio::io_context& control) : control_(control) {}

    /// Asks all workers. A worker that is silent for a second keeps its last report.
    boost::asio::awaitable<void> renew(const std::vector<std::unique_ptr<Worker>>& workers);

    WorkerCounters work() const;
    PeerReports peers() const;
    /// Sums over former peers.
    PeerRecord::Counts gone() const;
    /// The origins of the last requests, kOriginsShown at most.
    OriginReports origins() const;
    /// The answers of origins by site, OriginAnswers::kMaxSites and `other` at most.
    std::vector<SiteAnswersStatus> answers() const;
    /// The redirects that leave the mirrors.
    LeavingCounts leaving() const;

private:
    struct Report {
        WorkerCounters counters;
        PeerReports peers;
        PeerRecord::Counts gone;
        OriginReports origins;
        AnswersBySite answers;
        LeavingCounts leaving;
    };
    static Report report_of(const Worker& worker);

    boost::asio::io_context& control_;
    std::vector<Report> last_;
};

/// Times of origins, with the limits for peers that follow from them and the settings.
std::vector<OriginStatus> show_origins(const OriginReports& origins, const PeerTimes& times);

/// Fills the parts of `status` about memory and disk.
void show_store(SharedCache& cache, NodeStatus& status);

/// Fills the servers of groups, and the parent proxies.
void show_upstreams(const Config& config, UpstreamGroups& groups, NodeStatus& status);

/// Fills the blocklists of `status`, after its counters of work.
void show_blocklists(const Blocklists* lists, NodeStatus& status);
/// Fills the numbers of certificates for intercepted hosts.
void show_leaves(const LeafNumbers& leaves, NodeStatus& status);
/// Fills the certificates of `status`.
void show_certificates(const TlsContexts& contexts, NodeStatus& status);

/// Fills summary and cluster of `status`.
void show_links(const protocol::ClusterStatus& links, const WorkerReports& asked,
                NodeStatus& status);

}  // namespace proxy
