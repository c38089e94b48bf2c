#include "proxy/admin/metrics_text.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "proxy/admin/metrics_writer.hpp"

namespace proxy {

namespace {

using Labels = MetricsWriter::Labels;

constexpr double kBitsOfByte = 8;

double bytes_of_bits(std::uint64_t bits) {
    return static_cast<double>(bits) / kBitsOfByte;
}

/// Numbers of one object, with the labels that identify it.
template <class Of>
struct LabelledCounters {
    Labels labels;
    const Of* counts;
};

/// Factor between a unit and the base unit of Prometheus.
double to_base_unit(std::string_view unit) {
    return unit == "microseconds" ? 1e6 : 1;
}

/// Adds the families of a table, each with its values for all of `whose`.
template <class Of, std::size_t N>
void add_table(MetricsWriter& out, const base::CounterTable<Of, N>& table,
               const std::vector<LabelledCounters<Of>>& whose) {
    for (const auto* first = std::begin(table); first != std::end(table);) {
        const auto* end = std::find_if(
            first, std::end(table), [&](const auto& each) { return each.family != first->family; });
        if (!first->family.empty()) {
            first->kind == NumberKind::counter ? out.counter(first->family, first->help)
                                               : out.gauge(first->family, first->help);
            for (const auto& [labels, counts] : whose) {
                for (const auto* each = first; each != end; ++each) {
                    auto all = labels;
                    if (!each->label.key.empty())
                        all.push_back(
                            {std::string(each->label.key), std::string(each->label.value)});
                    out.value(static_cast<double>(counts->*each->member) / to_base_unit(each->unit),
                              all);
                }
            }
        }
        first = end;
    }
}

template <class Of, std::size_t N>
void add_table(MetricsWriter& out, const base::CounterTable<Of, N>& table, const Of& counts) {
    add_table<Of>(out, table, {{{}, &counts}});
}

template <class Of, std::size_t N>
void add_table(MetricsWriter& out, const base::CounterTable<Of, N>& table,
               const std::vector<PeerStatus>& peers) {
    std::vector<LabelledCounters<Of>> whose;
    for (const auto& peer : peers) whose.push_back({{{"peer", peer.node}}, &peer});
    add_table(out, table, whose);
}

/// Adds the families of directories, if there are any.
void add_disk(MetricsWriter& out, const std::vector<DiskStatus>& disk) {
    if (disk.empty()) return;
    std::vector<LabelledCounters<DiskCounters>> whose;
    for (const auto& each : disk) whose.push_back({{{"directory", each.path}}, &each});
    add_table(out, kDiskNumbers, whose);
    out.gauge("hearsay_disk_state", "1 for the state that a directory of the disk is in.");
    using State = DiskStatus::State;
    for (const auto& each : disk)
        for (const auto state :
             {State::loading, State::ready, State::stalled, State::paused, State::off})
            out.value(each.state == state ? 1.0 : 0.0,
                      {{"directory", each.path}, {"state", std::string(name(state))}});
    out.gauge("hearsay_disk_loading_seconds", "Time that recovery took.");
    for (const auto& each : disk) out.value(each.loading_seconds, {{"directory", each.path}});
}

template <class Enum>
void add_each(MetricsWriter& out, const char* label, const EnumCounts<Enum>& counts) {
    for (const auto reason : kEachOf<Enum>)
        out.value(counts[reason], {{label, std::string(to_string(reason))}});
}

void add_requests(MetricsWriter& out, const WorkerCounters& work) {
    out.counter("hearsay_requests_total", "Client requests by how they ended.");
    add_each(out, "outcome", work.requests);
    out.histogram("hearsay_request_duration_seconds",
                  "From the end of the request's head to the end of the answer.");
    for (const auto outcome : kEachOf<Outcome>) {
        const auto index = static_cast<std::size_t>(outcome);
        out.value(work.durations[index], work.exemplars[index],
                  {{"outcome", std::string(to_string(outcome))}});
    }
    out.counter("hearsay_request_refusals_total", "Requests refused before they were served.");
    add_each(out, "reason", work.refusals);
    out.counter("hearsay_intercept_failures_total",
                "TLS handshakes that failed inside a CONNECT that the node answers itself.");
    add_each(out, "reason", work.intercept_failures);
    add_table<TrafficCounters>(out, kTrafficCounters, work);
    out.counter("hearsay_origin_hedges_total",
                "Requests to origins that were sent while a peer was still waited for, or for the "
                "rest of its body, by whose answer was used.");
    out.value(work.origin_hedges - std::min(work.origin_hedges_outrun, work.origin_hedges),
              {{"first", "origin"}});
    out.value(work.origin_hedges_outrun, {{"first", "peer"}});
    out.counter("hearsay_storage_verdicts_total",
                "Responses by storage verdict: stored, or the reason against it.");
    add_each(out, "verdict", work.verdicts);
}

/// The label of sums over former peers. Names of nodes exclude it.
constexpr const char* kGone = "(gone)";

void add_peers(MetricsWriter& out, const ClusterCounters& cluster) {
    const auto& peers = cluster.peers;
    auto asked = peers;
    if (cluster.peers_gone > 0) {
        asked.push_back(cluster.gone);
        asked.back().node = kGone;
    }
    add_table<PeerCounters>(out, kPeerCounters, asked);
    out.gauge("hearsay_peer_in_step", "1 while the peer's summary is known and current.");
    for (const auto& peer : peers) out.value(peer.in_sync() ? 1.0 : 0.0, {{"peer", peer.node}});
    out.gauge("hearsay_peer_state", "1 for the state that a peer is in.");
    for (const auto& peer : peers)
        out.value(1.0, {{"peer", peer.node}, {"state", std::string(protocol::name(peer.state))}});
    out.gauge("hearsay_peer_state_seconds", "For how long a peer has been in its state.");
    for (const auto& peer : peers) out.value(peer.state_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_digest_lag_seconds", "Time since a peer's summary was last confirmed.");
    for (const auto& peer : peers) out.value(peer.lag_seconds, {{"peer", peer.node}});
    out.gauge(
        "hearsay_peer_left_alone_seconds",
        "Time until a peer that failed, or lacked most requested keys, gets its next request; "
        "the longest of all workers.");
    for (const auto& peer : peers) out.value(peer.breaker_open_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_round_trip_seconds", "Smoothed answer time of a peer; 0 if unknown.");
    for (const auto& peer : peers) out.value(peer.round_trip_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_clock_ahead_seconds",
              "By how much the clock of a peer is ahead of this node's; negative: behind.");
    for (const auto& peer : peers)
        if (peer.clock_ahead_seconds) out.value(*peer.clock_ahead_seconds, {{"peer", peer.node}});
    out.gauge("hearsay_peer_objects",
              "Objects in a peer's summary, as the peer announced them last.");
    for (const auto& peer : peers) out.value(peer.objects, {{"peer", peer.node}});
    out.gauge("hearsay_peer_digest_bytes", "Size of a peer's summary.");
    for (const auto& peer : peers) out.value(bytes_of_bits(peer.bits), {{"peer", peer.node}});
    out.counter("hearsay_peer_announcement_bytes_total",
                "Payloads of deltas and snapshots that came from a peer.");
    for (const auto& peer : peers)
        out.value(peer.announcement_bytes_received, {{"peer", peer.node}});
    add_table<protocol::SyncCounters>(out, protocol::kSyncCounters, peers);
}

void add_invalidations(MetricsWriter& out, const std::vector<PeerStatus>& peers) {
    out.counter("hearsay_invalidations_total",
                "Invalidated keys and tags, sent to a peer or received from it.");
    for (const auto& peer : peers) {
        out.value(peer.invalidations.sent, {{"peer", peer.node}, {"direction", "sent"}});
        out.value(peer.invalidations_received, {{"peer", peer.node}, {"direction", "received"}});
    }
    out.counter(
        "hearsay_invalidations_confirmed_total",
        "Of all of ours, of earlier instances too where there is a disk, confirmed by the peer.");
    for (const auto& peer : peers) out.value(peer.invalidations.confirmed, {{"peer", peer.node}});
    out.gauge("hearsay_invalidations_pending", "Invalidations that the peer has not confirmed.");
    for (const auto& peer : peers) out.value(peer.invalidations.pending, {{"peer", peer.node}});
}

void add_summary(MetricsWriter& out, const NodeStatus& status) {
    add_table<protocol::LinkCounters>(out, protocol::kLinkCounters, status.cluster);
    out.counter("hearsay_link_refusals_total",
                "Peer links that ended or were refused, by reason; ordinary ends too.");
    for (const auto& [reason, count] : status.cluster.link_refusals) {
        out.value(count, {{"reason", reason}});
    }
    out.gauge("hearsay_digest_fill_ratio", "Part of the own summary's bits that are set.");
    out.value(status.summary.fill_ratio);
    out.gauge("hearsay_digest_objects", "Keys in the own summary.");
    out.value(status.summary.objects);
    out.gauge("hearsay_digest_bytes", "Size of the own summary.");
    out.value(bytes_of_bits(status.summary.bits));
    out.gauge("hearsay_digest_expected_false_hit_ratio",
              "Probability that the own summary promises an object that is not there.");
    out.value(status.summary.expected_false_hit);
    out.gauge("hearsay_false_hit_budget_ratio",
              "Expected false hits per local miss, over all peers, that the settings allow.");
    out.value(status.false_hit_budget);
}

void add_config(MetricsWriter& out, const ConfigStatus& config) {
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

/// Adds the families of certificates, if there are any.
void add_certificates(MetricsWriter& out, const std::vector<CertificateStatus>& certificates) {
    if (certificates.empty()) return;
    out.gauge("hearsay_tls_certificate_expiry_seconds",
              "Time until a certificate of the TLS listener expires; negative afterwards.");
    for (const auto& each : certificates)
        out.value(each.expiry_seconds, {{"certificate", each.file}});
}

/// Adds the families of blocklists, if there are any.
void add_blocklists(MetricsWriter& out, const NodeStatus& status) {
    if (status.blocklists.lists.empty()) return;
    add_table(out, kBlocklistNumbers, status.blocklists.numbers);
    out.gauge("hearsay_blocklist_malformed_lines", "Lines of a blocklist that are left out.");
    for (const auto& each : status.blocklists.lists)
        out.value(each.malformed_lines, {{"list", each.path}});
    out.gauge("hearsay_blocklist_not_renewed",
              "1 while the file of a blocklist has changed and cannot be used, so that its former "
              "state counts.");
    for (const auto& each : status.blocklists.lists)
        out.value(each.fault.empty() ? 0.0 : 1.0, {{"list", each.path}});
}

/// Adds the families of servers in groups, if there are any.
void add_upstreams(MetricsWriter& out, const std::vector<UpstreamStatus>& servers) {
    if (servers.empty()) return;
    const auto labels = [](const UpstreamStatus& each) {
        return Labels{{"group", each.group}, {"server", each.server}};
    };
    out.gauge("hearsay_upstream_up",
              "1 while a server of a group, or a parent proxy, gets requests; 0 while it is down.");
    for (const auto& each : servers) out.value(each.state == "down" ? 0.0 : 1.0, labels(each));
    out.counter("hearsay_upstream_requests_total", "Requests to a server of a group.");
    for (const auto& each : servers) out.value(each.requests, labels(each));
    out.counter("hearsay_upstream_failures_total",
                "Requests to a server of a group without a usable response, and those answered "
                "with 502, 503 or 504.");
    for (const auto& each : servers) out.value(each.failures, labels(each));
    out.gauge("hearsay_upstream_in_flight", "Requests that are open at a server of a group.");
    for (const auto& each : servers) out.value(each.in_flight, labels(each));
}

/// Adds the answers of origins by site, if there are any.
void add_answers(MetricsWriter& out, const std::vector<SiteAnswersStatus>& sites) {
    if (sites.empty()) return;
    out.counter("hearsay_origin_responses_total",
                "Responses of the origin of a site by class: server_error is 5xx, "
                "too_many_requests is 429, and other is the rest.");
    for (const auto& each : sites) {
        const auto& total = each.total;
        const auto bad = total.server_errors + total.too_many;
        out.value(total.server_errors, {{"site", each.site}, {"class", "server_error"}});
        out.value(total.too_many, {{"site", each.site}, {"class", "too_many_requests"}});
        out.value(total.answers - bad, {{"site", each.site}, {"class", "other"}});
    }
    out.gauge("hearsay_origin_up",
              "0 while the origin of a site leaves its last requests without an answer, or answers "
              "them with 5xx; 1 otherwise.");
    for (const auto& each : sites)
        out.value(each.outage.state() == OriginEnd::answered ? 1.0 : 0.0, {{"site", each.site}});
}

/// Adds the redirects that leave the mirrors, if there were any.
void add_leaving(MetricsWriter& out, const LeavingCounts& counts) {
    if (counts.total.empty()) return;
    out.counter("hearsay_leaving_redirects_total",
                "Redirects by which the origin of a site led clients to a host that no mirror "
                "covers.");
    for (const auto& [site, count] : counts.total) out.value(count, {{"site", site}});
}

/// Numbers by the names of Prometheus' own clients.
void add_process(MetricsWriter& out, const ProcessStatus& process) {
    out.counter("process_cpu_seconds_total", "User and system CPU time of all threads.");
    out.value(process.cpu_seconds);
    out.gauge("process_resident_memory_bytes", "Memory that is in use.");
    out.value(process.resident_bytes);
    out.gauge("process_virtual_memory_bytes", "Address space that is in use.");
    out.value(process.virtual_bytes);
    out.gauge("process_open_fds", "File descriptors that are open.");
    out.value(process.open_fds);
    out.gauge("process_max_fds", "How many may be open.");
    out.value(process.max_fds);
    out.gauge("process_start_time_seconds", "When the process started, since 1970.");
    out.value(process.start_time);
}

}  // namespace

std::string metrics_text(const NodeStatus& status, MetricsFormat format) {
    MetricsWriter out(format);
    add_requests(out, status.work);
    add_table<NodeCounters>(out, kNodeCounters, status);
    add_table(out, kCacheCounters, status.cache);
    add_table(out, kStoreDiskNumbers, status.store_disk);
    add_disk(out, status.disk);
    add_peers(out, status.cluster);
    add_invalidations(out, status.cluster.peers);
    add_summary(out, status);
    add_config(out, status.config);
    add_certificates(out, status.tls.certificates);
    add_table(out, kLeafStatus, status.tls.leaves);
    add_table(out, kSpanCounters, status.spans);
    add_blocklists(out, status);
    add_upstreams(out, status.upstreams);
    add_answers(out, status.answers);
    add_leaving(out, status.leaving);
    out.gauge("hearsay_uptime_seconds", "Time since start.");
    out.value(status.uptime_seconds);
    out.gauge("hearsay_ready", "1 while the node takes requests.");
    out.value(status.ready ? 1.0 : 0.0);
    out.gauge("hearsay_build_info", "Always 1; the labels have node and version.");
    out.value(1.0, {{"node", status.node}, {"version", status.version}});
    add_process(out, status.process);
    return out.finish();
}

}  // namespace proxy
