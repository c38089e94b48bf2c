#include "proxy/admin/status_json.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "proxy/admin/answers_json.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kAnswersShown = 64;  // sites (/api/v1/sites has all), and redirects

ordered_json requests_json(const WorkerCounters& work) {
    ordered_json out{{"total", work.total()}};
    for (const auto outcome : kEachOf<Outcome>)
        out[std::string(to_string(outcome))] = work.requests[outcome];
    return out;
}

/// Leaves out zero counts, because most reasons are rare.
template <class Enum>
ordered_json reasons_json(const EnumCounts<Enum>& counts) {
    auto out = ordered_json::object();
    for (const auto reason : kEachOf<Enum>) {
        if (counts[reason] != 0) out[std::string(to_string(reason))] = counts[reason];
    }
    return out;
}

/// Numbers of a table as members of `out`, which is the object that their paths name.
template <class Of, std::size_t N>
void show(ordered_json& out, const Of& counts, const base::CounterTable<Of, N>& table) {
    for (const auto& each : table)
        out[std::string(base::parts_of(each.path).name)] = counts.*each.member;
}

/// Numbers of a table at their paths in the whole `page`.
template <class Of, std::size_t N>
void show_in_sections(ordered_json& page, const Of& counts,
                      const base::CounterTable<Of, N>& table) {
    for (const auto& each : table) {
        const auto [section, name] = base::parts_of(each.path);
        auto& out = section.empty() ? page : page[std::string(section)];
        out[std::string(name)] = counts.*each.member;
    }
}

/// Built in place, because there may be a thousand peers, and an initializer list would first build
/// an array per field.
ordered_json peer_json(const PeerStatus& peer) {
    auto out = ordered_json::object();
    out["node"] = peer.node;
    out["epoch"] = peer.epoch;
    out["state"] = protocol::name(peer.state);
    out["state_seconds"] = peer.state_seconds;
    out["cause"] = peer.cause;
    show<PeerCounters>(out, peer, kPeerCounters);
    out["lag_seconds"] = peer.lag_seconds;
    out["renews"] = peer.renews;
    out["left_alone_seconds"] = peer.breaker_open_seconds;
    out["round_trip_seconds"] = peer.round_trip_seconds;
    out["round_trip_deviation_seconds"] = peer.round_trip_deviation_seconds;
    out["clock_ahead_seconds"] =
        peer.clock_ahead_seconds ? ordered_json(*peer.clock_ahead_seconds) : ordered_json();
    out["objects"] = peer.objects;
    out["bits"] = peer.bits;
    out["announcement_bytes_received"] = peer.announcement_bytes_received;
    show<protocol::SyncCounters>(out, peer, protocol::kSyncCounters);
    out["last_error"] = peer.last_error;
    out["last_error_seconds"] = peer.last_error_seconds;
    out["last_http_error"] = peer.last_http_error;
    out["last_http_error_seconds"] = peer.last_http_error_seconds;
    out["invalidations_sent"] = peer.invalidations.sent;
    out["invalidations_confirmed"] = peer.invalidations.confirmed;
    out["invalidations_pending"] = peer.invalidations.pending;
    return out;
}

ordered_json disk_json(const DiskStatus& disk) {
    ordered_json out{{"path", disk.path},
                     {"state", name(disk.state)},
                     {"last_error", disk.last_error},
                     {"last_error_seconds", disk.last_error_seconds},
                     {"last_error_is_full", disk.last_error_is_full},
                     {"loading_seconds", disk.loading_seconds}};
    show<DiskCounters>(out, disk, kDiskNumbers);
    return out;
}

ordered_json origin_json(const OriginStatus& origin) {
    return {{"origin", origin.place},
            {"answer_seconds", origin.answer_seconds},
            {"answer_deviation_seconds", origin.answer_deviation_seconds},
            {"peer_budget_seconds", origin.peer_budget_seconds},
            {"peer_limit_seconds", origin.peer_limit_seconds}};
}

ordered_json cluster_part(const ClusterCounters& cluster) {
    ordered_json::array_t peers;
    peers.reserve(cluster.peers.size());
    for (const auto& peer : cluster.peers) peers.push_back(peer_json(peer));
    ordered_json gone{{"peers", cluster.peers_gone}};
    show<PeerCounters>(gone, cluster.gone, kPeerCounters);
    show<protocol::SyncCounters>(gone, cluster.gone, protocol::kSyncCounters);
    auto names = ordered_json::array();
    for (const auto& name : cluster.names)
        names.push_back({{"dns", name.name},
                         {"places", name.places},
                         {"trouble", name.trouble},
                         {"age_seconds", name.age_seconds}});
    auto origins = ordered_json::array();
    for (const auto& origin : cluster.origins) origins.push_back(origin_json(origin));
    auto out = ordered_json::object();
    show<protocol::LinkCounters>(out, cluster, protocol::kLinkCounters);
    out["link_refusals"] = cluster.link_refusals;
    out["peers"] = std::move(peers);
    out["gone"] = std::move(gone);
    out["names"] = std::move(names);
    out["unanswered"] = cluster.unanswered;
    out["unplaced"] = cluster.unplaced;
    out["origins"] = std::move(origins);
    return out;
}

/// `unix_time`: seconds.
std::string date_text(double unix_time) {
    return rfc3339(WallTime(std::chrono::seconds(static_cast<std::int64_t>(unix_time))));
}

ordered_json config_json(const ConfigStatus& config) {
    return {{"generation", config.generation},  {"loaded_at", date_text(config.loaded_at)},
            {"reloads", config.reloads},        {"failures", config.failures},
            {"last_error", config.last_error},  {"warnings", config.warnings},
            {"admin_token", config.admin_token}};
}

ordered_json certificates_json(const std::vector<CertificateStatus>& certificates) {
    auto list = ordered_json::array();
    for (const auto& each : certificates)
        list.push_back({{"file", each.file},
                        {"names", each.names},
                        {"key_type", each.key_type},
                        {"not_after", date_text(each.not_after)},
                        {"expiry_seconds", each.expiry_seconds}});
    return list;
}

ordered_json blocklists_json(const std::vector<BlocklistStatus>& lists) {
    auto out = ordered_json::array();
    for (const auto& each : lists)
        out.push_back({{"path", each.path},
                       {"format", each.format},
                       {"action", each.action},
                       {"entries", each.entries},
                       {"malformed_lines", each.malformed_lines},
                       {"fault", each.fault}});
    return out;
}

ordered_json upstreams_json(const std::vector<UpstreamStatus>& servers) {
    auto out = ordered_json::array();
    for (const auto& each : servers)
        out.push_back({{"group", each.group},
                       {"server", each.server},
                       {"state", each.state},
                       {"weight", each.weight},
                       {"backup", each.backup},
                       {"requests", each.requests},
                       {"failures", each.failures},
                       {"in_flight", each.in_flight}});
    return out;
}

ordered_json fault_json(const SiteAnswersStatus& site) {
    if (site.fault.empty()) return nullptr;
    const auto& outage = site.outage;
    const auto is_silent = outage.end == OriginEnd::unanswered;
    return {{"state", is_silent ? "unanswered" : "server_error"},
            {"text", site.fault},
            {"reason", is_silent ? std::string(outage.reason) : std::to_string(outage.status)},
            {"seconds", site.fault_seconds},
            {"last_request_seconds", site.last_request_seconds},
            {"requests", outage.requests},
            {"stale_served", outage.stale_served},
            {"errors_served", outage.errors_served}};
}

/// The sites whose origin is at fault, those with most trouble of late, then those with most
/// answers of late.
ordered_json sites_answers_json(const std::vector<SiteAnswersStatus>& sites) {
    std::vector<const SiteAnswersStatus*> order;
    for (const auto& site : sites) order.push_back(&site);
    const auto rank = [](const SiteAnswersStatus* site) {
        const auto& recent = site->recent;
        return std::tuple(!site->fault.empty(), recent.server_errors + recent.too_many,
                          recent.answers);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto* a, const auto* b) { return rank(a) > rank(b); });
    if (order.size() > kAnswersShown) order.resize(kAnswersShown);
    auto out = ordered_json::array();
    for (const auto* site : order) {
        auto entry = answers_json(site->total);
        entry["site"] = site->site;
        entry["origin"] = site->place;
        entry["last_5m"] = answers_json(site->recent);
        entry["fault"] = fault_json(*site);
        out.push_back(std::move(entry));
    }
    return out;
}

ordered_json leaving_json(const std::vector<LeavingRedirect>& redirects) {
    auto out = ordered_json::array();
    for (const auto& each : redirects) {
        if (out.size() == kAnswersShown) break;
        out.push_back({{"site", each.site}, {"host", each.host}, {"last_hour", each.last_hour}});
    }
    return out;
}

ordered_json process_json(const ProcessStatus& process) {
    return {{"cpu_seconds", process.cpu_seconds},
            {"resident_bytes", process.resident_bytes},
            {"virtual_bytes", process.virtual_bytes},
            {"open_fds", process.open_fds},
            {"max_fds", process.max_fds},
            {"start_time", date_text(process.start_time)}};
}

ordered_json summary_part(const NodeStatus& status) {
    const auto& summary = status.summary;
    return {{"kind", summary.kind},
            {"objects", summary.objects},
            {"bits", summary.bits},
            {"hashes", summary.hashes},
            {"fill", summary.fill_ratio},
            {"expected_false_hit", summary.expected_false_hit},
            {"false_hit_budget", status.false_hit_budget}};
}

std::string text_of(const ordered_json& page) {
    return page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string cluster_json(const NodeStatus& status) {
    return text_of(cluster_part(status.cluster));
}

std::string summary_json(const NodeStatus& status) {
    return text_of(summary_part(status));
}

std::string status_json(const NodeStatus& status) {
    const auto& work = status.work;
    ordered_json page{{"node", status.node},
                      {"instance", status.instance},
                      {"version", status.version},
                      {"uptime_seconds", status.uptime_seconds},
                      {"ready", status.ready},
                      {"draining", status.draining},
                      {"requests", requests_json(work)}};
    show_in_sections<TrafficCounters>(page, work, kTrafficCounters);
    show_in_sections(page, status.cache, kCacheCounters);
    show_in_sections(page, status.store_disk, kStoreDiskNumbers);
    auto disk = ordered_json::array();
    for (const auto& directory : status.disk) disk.push_back(disk_json(directory));
    page["cache"]["disk"] = std::move(disk);
    page["cache"]["evictions"] = status.cache.evictions + status.cache.disk_evictions;
    show_in_sections<NodeCounters>(page, status, kNodeCounters);
    show_in_sections(page, status.blocklists.numbers, kBlocklistNumbers);
    show_in_sections(page, status.tls.leaves, kLeafStatus);
    show_in_sections(page, status.spans, kSpanCounters);
    page["interception"]["failures"] = reasons_json(work.intercept_failures);
    page["blocklists"]["lists"] = blocklists_json(status.blocklists.lists);
    page["upstream"]["answers"] = sites_answers_json(status.answers);
    page["upstream"]["leaving_redirects"] = leaving_json(status.leaving.last_hour);
    page["upstreams"] = upstreams_json(status.upstreams);
    page["storage"] = reasons_json(work.verdicts);
    page["refusals"] = reasons_json(work.refusals);
    page["config"] = config_json(status.config);
    page["tls"]["certificates"] = certificates_json(status.tls.certificates);
    page["process"] = process_json(status.process);
    page["summary"] = summary_part(status);
    page["cluster"] = cluster_part(status.cluster);
    return text_of(page);
}

}  // namespace proxy
