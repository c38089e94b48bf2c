#include "proxy/admin/metrics_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

namespace proxy {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// Gathers families in order; each value is added to the family begun last.
class Families {
public:
    void counter(const char* name, const char* help) { begin(name, help, MetricType::Counter); }
    void gauge(const char* name, const char* help) { begin(name, help, MetricType::Gauge); }
    void histogram(const char* name, const char* help) { begin(name, help, MetricType::Histogram); }

    void value(double value, Labels labels = {}) {
        auto& metric = add(std::move(labels));
        metric.counter.value = value;
        metric.gauge.value = value;
    }
    void value(std::uint64_t count, Labels labels = {}) {
        value(static_cast<double>(count), std::move(labels));
    }

    void value(const DurationHistogram& histogram, Labels labels) {
        auto& out = add(std::move(labels)).histogram;
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
            below += histogram.counts[i];
            out.bucket.push_back({below, i < kDurationBuckets.size()
                                             ? kDurationBuckets[i]
                                             : std::numeric_limits<double>::infinity()});
        }
        out.sample_count = below;
        out.sample_sum = histogram.sum_seconds;
    }

    std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

private:
    void begin(const char* name, const char* help, MetricType type) {
        families_.push_back({name, help, type, {}});
    }
    ClientMetric& add(Labels labels) {
        auto& metric = families_.back().metric.emplace_back();
        metric.label = std::move(labels);
        return metric;
    }

    std::vector<MetricFamily> families_;
};

template <class Enum, std::size_t N>
void add_each(Families& out, const char* label, const PerEnum<Enum, N>& counts) {
    for (std::size_t i = 0; i < N; ++i) {
        const auto reason = static_cast<Enum>(i);
        out.value(counts[reason], {{label, std::string(to_string(reason))}});
    }
}

void add_requests(Families& out, const WorkerCounters& work) {
    out.counter("hearsay_requests_total", "Client requests by how they ended.");
    add_each(out, "outcome", work.requests);
    out.histogram("hearsay_request_duration_seconds",
                  "From the end of the request's head to the end of the answer.");
    for (const auto outcome : kOutcomes) {
        out.value(work.durations[static_cast<std::size_t>(outcome)],
                  {{"outcome", std::string(to_string(outcome))}});
    }
    out.counter("hearsay_request_refusals_total", "Requests refused before they were served.");
    add_each(out, "reason", work.refusals);
    out.counter("hearsay_collapsed_requests_total",
                "Requests that followed a fill which another request began.");
    out.value(work.collapsed);
    out.counter("hearsay_origin_requests_total", "Requests sent to origins, validations included.");
    out.value(work.origin_requests);
    out.counter("hearsay_origin_failures_total", "Requests to origins without a usable answer.");
    out.value(work.origin_failures);
    out.counter("hearsay_origin_down_requests_total",
                "Requests not put to an origin, as it left others without an answer.");
    out.value(work.origin_down_requests);
    out.gauge("hearsay_origins_down",
              "Origins that left the last requests without an answer, summed over workers.");
    out.value(work.origins_down);
    out.counter("hearsay_origin_hedges_total",
                "Requests to origins that were sent while a peer was still waited for, by whose "
                "answer came first.");
    out.value(work.origin_hedges - std::min(work.origin_hedges_outrun, work.origin_hedges),
              {{"first", "origin"}});
    out.value(work.origin_hedges_outrun, {{"first", "peer"}});
    out.counter("hearsay_peer_repeats_total",
                "Requests to peers beside one that took unusually long.");
    out.value(work.peer_repeats);
    out.counter("hearsay_peers_too_far_total",
                "Fetches for which no peer was asked, as the origin is so much nearer.");
    out.value(work.peers_too_far);
    out.counter("hearsay_validations_total", "Requests to origins that ended in 304.");
    out.value(work.validations);
    out.counter("hearsay_bytes_total", "Body bytes moved.");
    out.value(work.bytes_to_clients, {{"direction", "to_clients"}});
    out.value(work.bytes_to_peers, {{"direction", "to_peers"}});
    out.value(work.bytes_from_peers, {{"direction", "from_peers"}});
    out.value(work.bytes_from_origins, {{"direction", "from_origins"}});
}

void add_connections(Families& out, const NodeStatus& status) {
    out.gauge("hearsay_connections", "Client connections that are open.");
    out.value(status.connections);
    out.counter("hearsay_connections_accepted_total", "Client connections accepted.");
    out.value(status.work.connections_accepted);
    out.counter("hearsay_log_dropped_total", "Access log lines dropped as the log was too slow.");
    out.value(status.log_dropped);
    out.counter("hearsay_log_failed_total", "Access log lines that could not be written.");
    out.value(status.log_failed);
}

void add_cache(Families& out, const NodeStatus& status) {
    out.gauge("hearsay_cache_objects", "Stored responses.");
    out.value(status.cache.objects);
    out.gauge("hearsay_cache_bytes", "Bytes in use by stored responses.");
    out.value(status.cache.memory_bytes, {{"tier", "memory"}});
    out.value(status.cache.disk_bytes, {{"tier", "disk"}});
    out.gauge("hearsay_body_window_bytes",
              "Bytes in flight of bodies that are not stored, and read ahead.");
    out.value(status.window_bytes);
    out.counter("hearsay_evictions_total", "Stored responses removed to make room.");
    out.value(status.cache.evictions, {{"tier", "memory"}});
    out.value(status.cache.disk_evictions, {{"tier", "disk"}});
    out.counter("hearsay_storage_verdicts_total",
                "Responses by whether they were stored, or what spoke against it.");
    add_each(out, "verdict", status.work.verdicts);
}

/// What can be no node's name: the sum over those that are peers no more.
constexpr const char* kGone = "(gone)";

void add_peers(Families& out, const ClusterCounters& cluster) {
    const auto& peers = cluster.peers;
    auto asked = peers;
    if (cluster.peers_gone > 0) {
        asked.push_back(cluster.gone);
        asked.back().node = kGone;
    }
    out.counter("hearsay_peer_requests_total", "Requests sent to a peer by what became of them.");
    for (const auto& peer : asked) {
        const std::initializer_list<std::pair<const char*, std::uint64_t>> results{
            {"hit", peer.hits},
            {"false_hit", peer.false_hits},
            {"stale_hit", peer.stale_hits},
            {"refused", peer.refused},
            {"failure", peer.failures}};
        for (const auto& [result, count] : results) {
            out.value(count, {{"peer", peer.node}, {"result", result}});
        }
    }
    out.counter("hearsay_peer_given_total", "Answers given to a peer out of the own store.");
    for (const auto& peer : asked) out.value(peer.given, {{"peer", peer.node}});
    out.gauge("hearsay_peer_in_step", "1 while the peer's summary is known and current.");
    for (const auto& peer : peers) out.value(peer.in_step() ? 1.0 : 0.0, {{"peer", peer.node}});
    out.gauge("hearsay_summary_lag_seconds", "Time since a peer's summary was last confirmed.");
    for (const auto& peer : peers) out.value(peer.lag_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_left_alone_seconds",
              "How long a peer that failed, or was asked in vain, is still left alone by one "
              "worker at least.");
    for (const auto& peer : peers) out.value(peer.left_alone_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_round_trip_seconds",
              "How long a peer takes to answer, smoothed; 0 while that is not known.");
    for (const auto& peer : peers) out.value(peer.round_trip_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_objects", "Objects a peer holds, estimated from its summary.");
    for (const auto& peer : peers) out.value(peer.objects, {{"peer", peer.node}});
    out.counter("hearsay_summary_resyncs_total", "Snapshots that repaired a peer's summary.");
    for (const auto& peer : peers) out.value(peer.resyncs, {{"peer", peer.node}});
    out.counter("hearsay_summary_check_failures_total",
                "Check-hashes of a peer that did not agree.");
    for (const auto& peer : peers) out.value(peer.check_failures, {{"peer", peer.node}});
}

void add_invalidations(Families& out, const std::vector<PeerStatus>& peers) {
    out.counter("hearsay_invalidations_total",
                "Keys and tags that are no longer to be used, told to a peer or by it.");
    for (const auto& peer : peers) {
        out.value(peer.invalidations_sent, {{"peer", peer.node}, {"direction", "sent"}});
        out.value(peer.invalidations_received, {{"peer", peer.node}, {"direction", "received"}});
    }
    out.counter("hearsay_invalidations_confirmed_total", "Of those sent, confirmed by the peer.");
    for (const auto& peer : peers) out.value(peer.invalidations_confirmed, {{"peer", peer.node}});
    out.gauge("hearsay_invalidations_pending", "Invalidations that the peer has not confirmed.");
    for (const auto& peer : peers) out.value(peer.invalidations_pending, {{"peer", peer.node}});
}

void add_summary(Families& out, const NodeStatus& status) {
    const auto& cluster = status.cluster;
    out.counter("hearsay_announcements_total", "Summary announcements.");
    out.value(cluster.announcements_sent, {{"direction", "sent"}});
    out.value(cluster.announcements_received, {{"direction", "received"}});
    out.counter("hearsay_announcement_bytes_total", "Bytes on peer links.");
    out.value(cluster.bytes_sent, {{"direction", "sent"}});
    out.value(cluster.bytes_received, {{"direction", "received"}});
    out.counter("hearsay_heartbeats_total", "Heartbeats sent on peer links.");
    out.value(cluster.heartbeats_sent);
    out.counter("hearsay_link_refusals_total", "Peer links refused.");
    for (const auto& [reason, count] : cluster.link_refusals) {
        out.value(count, {{"reason", reason}});
    }
    out.gauge("hearsay_summary_fill_ratio", "Part of the own summary's bits that are set.");
    out.value(status.summary.fill);
    out.gauge("hearsay_summary_objects", "Keys in the own summary.");
    out.value(status.summary.objects);
    out.gauge("hearsay_summary_bits", "Size of the own summary.");
    out.value(status.summary.bits);
    out.gauge("hearsay_summary_expected_false_hit_ratio",
              "Probability that the own summary promises an object that is not there.");
    out.value(status.summary.expected_false_hit);
}

void add_config(Families& out, const ConfigStatus& config) {
    out.counter("hearsay_config_reloads_total", "Reloads of the configuration by how they ended.");
    out.value(config.reloads, {{"result", "applied"}});
    out.value(config.failures, {{"result", "refused"}});
    out.gauge("hearsay_config_last_reload_successful",
              "1 unless the last reload was refused and an earlier configuration is in effect.");
    out.value(config.last_successful() ? 1.0 : 0.0);
    out.gauge("hearsay_config_last_reload_success_timestamp_seconds",
              "When the configuration in effect was last read.");
    out.value(config.loaded_at);
}

}  // namespace

std::string metrics_text(const NodeStatus& status) {
    Families out;
    add_requests(out, status.work);
    add_connections(out, status);
    add_cache(out, status);
    add_peers(out, status.cluster);
    add_invalidations(out, status.cluster.peers);
    add_summary(out, status);
    add_config(out, status.config);
    out.gauge("hearsay_uptime_seconds", "Time since start.");
    out.value(status.uptime_seconds);
    out.gauge("hearsay_ready", "1 while the node takes requests.");
    out.value(status.ready ? 1.0 : 0.0);
    out.gauge("hearsay_build_info", "Always 1; the labels say what runs.");
    out.value(1.0, {{"node", status.node}, {"version", status.version}});
    return out.text();
}

}  // namespace proxy
