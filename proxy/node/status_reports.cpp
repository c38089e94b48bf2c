#include "proxy/node/status_reports.hpp"

#include <algorithm>
#include <utility>

#include "base/async/awaited_value.hpp"
#include "proxy/blocklists/blocklists.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/upstream/ask_budget.hpp"

namespace proxy {
namespace {

constexpr std::chrono::seconds kReportDeadline{1};

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

PeerStatus status_of(const protocol::ClusterStatus::Peer& link, const PeerReport& report) {
    PeerStatus peer;
    static_cast<protocol::ClusterStatus::Peer&>(peer) = link;
    static_cast<PeerCounters&>(peer) = report.counts;
    const auto now = std::chrono::steady_clock::now();
    peer.last_error = link.last_end.reason();
    if (link.last_end.error) peer.last_error_seconds = seconds(now - link.last_end.at);
    const auto failure = report.shown_failure();
    peer.last_http_error = failure.reason;
    if (!peer.last_http_error.empty()) peer.last_http_error_seconds = seconds(now - failure.at);
    const auto breaker_open = report.breaker_open_until - now;
    peer.breaker_open_seconds = std::max(seconds(breaker_open), 0.0);
    peer.round_trip_seconds = seconds(report.round_trip.mean());
    peer.round_trip_deviation_seconds = seconds(report.round_trip.deviation());
    return peer;
}

}  // namespace

PeerReport& PeerReport::operator+=(const PeerReport& other) {
    base::add(counts, other.counts, kPeerCounters);
    breaker_open_until = std::max(breaker_open_until, other.breaker_open_until);
    if (!round_trip.known()) round_trip = other.round_trip;
    if (!other.last_failure.reason.empty() && other.last_failure.at >= last_failure.at)
        last_failure = other.last_failure;
    recognised_at = std::max(recognised_at, other.recognised_at);
    return *this;
}

PeerRecord::Failure PeerReport::shown_failure() const {
    const auto is_refuted = last_failure.reason == kNotAPeer && recognised_at >= last_failure.at;
    return is_refuted ? PeerRecord::Failure() : last_failure;
}

WorkerReports::Report WorkerReports::report_of(const Worker& worker) {
    Report report{worker.counters,
                  {},
                  worker.upstream.peers.of_gone(),
                  {},
                  worker.upstream.origin_answers.by_site(std::chrono::steady_clock::now()),
                  worker.upstream.leaving_redirects.counts(std::chrono::steady_clock::now())};
    if (worker.upstream.peers.view()) {
        for (std::size_t i = 0; i < worker.upstream.peers.view()->peers.size(); ++i) {
            const auto& node = worker.upstream.peers.view()->peers[i].node;
            const auto& record = worker.upstream.peers.all()[i];
            if (!node.empty())
                report.peers[node] = {record.counts(), record.left_alone_until(),
                                      record.round_trip(), record.last_failure(),
                                      record.recognised_at()};
        }
    }
    for (const auto& [place, origin] : worker.upstream.origin_times.origins()) {
        if (report.origins.size() >= kOriginsShown) break;
        report.origins.emplace_back(place, origin.round_trip);
    }
    return report;
}

boost::asio::awaitable<void> WorkerReports::renew(
    const std::vector<std::unique_ptr<Worker>>& workers) {
    last_.resize(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
        auto& worker = *workers[i];
        if (worker.finished.load(std::memory_order_acquire)) {
            last_[i] = report_of(worker);
            continue;
        }
        const auto reply = std::make_shared<base::AwaitedValue<Report>>(
            std::make_shared<base::Wakeup>(control_.get_executor()));
        boost::asio::post(worker.io, [reply, &worker] {
            worker.upstream.peers.judge_false_hits(std::chrono::steady_clock::now());
            reply->give(report_of(worker));
        });
        const auto deadline = std::chrono::steady_clock::now() + kReportDeadline;
        const auto in_time = co_await reply->wait_until(deadline);
        if (in_time) last_[i] = reply->value();
    }
}

WorkerCounters WorkerReports::work() const {
    WorkerCounters sum;
    for (const auto& report : last_) sum += report.counters;
    return sum;
}

PeerReports WorkerReports::peers() const {
    PeerReports sum;
    for (const auto& report : last_)
        for (const auto& [peer, record] : report.peers) sum[peer] += record;
    return sum;
}

PeerRecord::Counts WorkerReports::gone() const {
    PeerRecord::Counts sum;
    for (const auto& report : last_) base::add(sum, report.gone, kPeerCounters);
    return sum;
}

OriginReports WorkerReports::origins() const {
    OriginReports all;
    for (const auto& report : last_) {
        for (const auto& origin : report.origins) {
            const auto known = std::any_of(all.begin(), all.end(), [&](const auto& other) {
                return other.first == origin.first;
            });
            if (!known && all.size() < kOriginsShown) all.push_back(origin);
        }
    }
    return all;
}

std::vector<SiteAnswersStatus> WorkerReports::answers() const {
    AnswersBySite sum;
    for (const auto& report : last_)
        for (const auto& [site, answers] : report.answers) add_answers(sum, site, answers);
    std::vector<SiteAnswersStatus> shown;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [site, answers] : sum)
        shown.push_back({answers, site, fault_text(site, answers, now),
                         seconds(now - answers.outage.since), seconds(now - answers.outage.last)});
    return shown;
}

LeavingCounts WorkerReports::leaving() const {
    LeavingCounts sum;
    for (const auto& report : last_) sum += report.leaving;
    return sum;
}

std::vector<OriginStatus> show_origins(const OriginReports& origins, const PeerTimes& times) {
    std::vector<OriginStatus> shown;
    auto has_target = false;
    for (const auto& [name, time] : origins) {
        auto place = name.substr(0, name.find_first_of("!/"));
        // A client chose this one, and the status answers everybody.
        const auto is_target = name.substr(place.size()).starts_with('!');
        if (is_target && std::exchange(has_target, true)) continue;
        if (is_target) place = OriginAnswers::kForwardTargets;
        shown.push_back({std::move(place), seconds(time.mean()), seconds(time.deviation()),
                         seconds(peer_budget(RoundTrip(), time, times)),
                         seconds(peer_limit(time, times))});
    }
    return shown;
}

void show_store(SharedCache& cache, NodeStatus& status) {
    const auto store = cache.store.stats();
    status.cache.objects = store.objects;
    status.cache.memory_bytes = store.memory_bytes;
    status.cache.memory_cap_bytes = store.memory_cap_bytes;
    status.cache.evictions = store.evictions;
    if (auto* disk = cache.store.disk()) status.disk = disk->status();
    for (const auto& directory : status.disk) status.cache.disk_bytes += directory.bytes;
    status.cache.disk_evictions = store.disk_evictions;
    status.store_disk = store.disk;
    status.window_bytes = cache.windows.used();
    status.window_cap_bytes = cache.windows.cap();
}

void show_upstreams(const Config& config, UpstreamGroups& groups, NodeStatus& status) {
    const auto now = std::chrono::steady_clock::now();
    const auto add = [&](const UpstreamGroups::Config& group) {
        if (!group) return;
        for (const auto& server : groups.report(group, now))
            status.upstreams.push_back({group->name, server.place, to_string(server.state),
                                        server.weight, server.backup, server.counts.requests,
                                        server.counts.failures, server.counts.in_flight});
    };
    for (const auto& origin : config.origins) add(origin.group);
    add(config.forward.parents);
}

void show_blocklists(const Blocklists* lists, NodeStatus& status) {
    const auto& work = status.work;
    auto& numbers = status.blocklists.numbers;
    // A name in a list is never a false positive.
    numbers.expected_false_positives = static_cast<std::uint64_t>(
        static_cast<double>(work.blocklist_queries - work.blocklist_confirmed) *
            Blocklists::error() +
        0.5);
    if (!lists) return;
    const auto& index = lists->index();
    numbers.entries = index.hashes();
    numbers.memory_bytes = index.memory_bytes();
    numbers.file_bytes = index.file_bytes();
    auto faults = lists->faults();
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const auto& list = lists->lists()[i];
        status.blocklists.lists.push_back({list.config.path, to_string(list.config.format),
                                           to_string(list.config.action), list.entries,
                                           list.malformed, std::move(faults[i])});
    }
}

void show_leaves(const LeafNumbers& leaves, NodeStatus& status) {
    status.tls.leaves = {leaves.cached, leaves.minted, leaves.mint_us};
}

void show_certificates(const TlsContexts& contexts, NodeStatus& status) {
    const auto now = seconds(std::chrono::system_clock::now().time_since_epoch());
    const auto add = [&](const CertificateFacts& facts) {
        // As nanoseconds, an end in the year 9999 would overflow.
        const auto end = static_cast<double>(facts.not_after.time_since_epoch().count());
        status.tls.certificates.push_back(
            {facts.file, facts.names, facts.key_type, end, end - now});
    };
    for (const auto& each : contexts.certificates) add(each->facts);
    if (const auto& interception = contexts.interception) add(interception->authority->facts);
}

void show_links(const protocol::ClusterStatus& links, const WorkerReports& asked,
                NodeStatus& status) {
    status.summary = links.own;
    auto& cluster = status.cluster;
    static_cast<protocol::LinkCounters&>(cluster) = links;
    cluster.link_refusals = links.refusals;
    const auto reports = asked.peers();
    for (const auto& link : links.peers) {
        const auto report = reports.find(link.node);
        cluster.peers.push_back(
            status_of(link, report == reports.end() ? PeerReport() : report->second));
    }
    PeerReport gone;
    gone.counts = asked.gone();
    cluster.gone = status_of(links.gone, gone);
    cluster.peers_gone = links.peers_gone;
    cluster.unanswered = links.unanswered;
    cluster.unplaced = links.unplaced;
    for (const auto& name : links.names)
        cluster.names.push_back({name.name, name.places, name.trouble,
                                 std::chrono::duration<double>(name.age).count()});
}

}  // namespace proxy
