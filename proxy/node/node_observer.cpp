#include "proxy/node/node_observer.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <cstddef>
#include <utility>

#include "base/tls/crypto.hpp"
#include "proxy/telemetry/barrier_handler.hpp"

namespace proxy {
namespace {

/// Samples of the history, and reports to peers. The first comes soon, so that peers see a new
/// node.
constexpr std::chrono::milliseconds kFirstSample{200}, kSampleInterval{5000};

/// 32 random hexadecimal digits.
std::string fresh_instance() {
    std::array<std::byte, 16> bytes{};
    base::random_bytes(bytes);
    std::string out;
    for (const auto each : bytes) {
        out += "0123456789abcdef"[std::to_integer<unsigned>(each) >> 4];
        out += "0123456789abcdef"[std::to_integer<unsigned>(each) & 15];
    }
    return out;
}

}  // namespace

NodeObserver::NodeObserver(const NodeParts& node, std::shared_ptr<const RecentErrors> errors)
    : node_(node),
      instance_(fresh_instance()),
      started_(std::chrono::steady_clock::now()),
      reports_(node.control),
      dashboard_(node.control, node.workers, node.config, std::move(errors)),
      sampling_(node.control) {}

void NodeObserver::start() {
    started_ = std::chrono::steady_clock::now();
    sample_at(started_ + kFirstSample);
}

void NodeObserver::stop() {
    stopped_ = true;
    sampling_.cancel();
}

/// Takes a sample at `at`, and every kSampleInterval from then on.
void NodeObserver::sample_at(std::chrono::steady_clock::time_point at) {
    sampling_.expires_at(at);
    sampling_.async_wait([this, at](const boost::system::error_code& ec) {
        if (ec || stopped_) return;
        sample_at(std::max(at + kSampleInterval, std::chrono::steady_clock::now()));
        boost::asio::co_spawn(node_.control, sample(), kToTheWall);
    });
}

/// Adds the present counts to the history, and reports them to peers. Workers learn the causes of
/// false hits with a delay; the error of the own summary follows the sums.
boost::asio::awaitable<void> NodeObserver::sample() {
    co_await reports_.renew(node_.workers);
    if (stopped_) co_return;
    const auto work = reports_.work();
    dashboard_.sample(work);
    const auto has_cluster = node_.config->cluster.has_value();
    if (has_cluster) {
        summary::FalseHitsSeen seen{work.summary_lookups, reports_.gone().collisions};
        for (const auto& [node, report] : reports_.peers())
            seen.collisions += report.counts.collisions;
        node_.cluster->note_false_hits(seen);
    }
    const auto status = observe();
    auto own = dashboard_.report(status);
    if (has_cluster) {
        node_.cache.cooperation.clock_ahead = ahead_of_all_peers(status).count();
        node_.cluster->report(encode_report(own));
    }
    cluster_history_.add(view_of(status, std::move(own), node_.cluster->received_reports()),
                         std::chrono::steady_clock::now());
}

boost::asio::awaitable<NodeStatus> NodeObserver::status() {
    co_await reports_.renew(node_.workers);
    auto status = observe();
    const auto& config = *node_.config;
    auto& clients = node_.clients;
    status.connections = clients.connections;
    status.log_dropped = clients.access_log.dropped();
    status.log_failed = clients.access_log.failed();
    status.internal_errors = clients.faults.caught();
    status.false_hit_budget = config.summary.false_hit_budget;
    show_certificates(*node_.config.files().tls, status);
    show_leaves(clients.leaves.numbers(), status);
    status.spans = clients.spans.counters();
    status.process = process_status();
    show_blocklists(node_.config.files().blocklists.get(), status);
    show_upstreams(config, node_.cache.upstream.groups, status);
    co_return status;
}

boost::asio::awaitable<ClusterView> NodeObserver::cluster_view() {
    co_await reports_.renew(node_.workers);
    const auto status = observe();
    co_return view_of(status, dashboard_.report(status), node_.cluster->received_reports());
}

/// The parts of the status that peers hear of, by the last reports of the workers.
NodeStatus NodeObserver::observe() {
    NodeStatus status;
    const auto& config = *node_.config;
    status.node = config.node;
    status.instance = instance_;
    status.version = HEARSAY_VERSION;
    const auto uptime = std::chrono::steady_clock::now() - started_;
    status.uptime_seconds = std::chrono::duration<double>(uptime).count();
    status.draining = node_.clients.draining;
    status.work = reports_.work();
    status.answers = reports_.answers();
    status.leaving = reports_.leaving();
    if (config.cluster)
        status.cluster.origins = show_origins(reports_.origins(), config.constants.peers);
    show_store(node_.cache, status);
    show_links(node_.cluster.status(), reports_, status);
    if (config.cluster)
        show_clocks(node_.cluster->received_reports(), std::chrono::system_clock::now(), status);
    static_assert(kReadyAlone == AwaitedOrders::kLongest);
    status.ready = !status.draining && (node_.cluster.is_complete() || uptime >= kReadyAlone);
    return status;
}

}  // namespace proxy
