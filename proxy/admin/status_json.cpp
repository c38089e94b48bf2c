#include "proxy/admin/status_json.hpp"

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace proxy {

namespace {

using nlohmann::ordered_json;

ordered_json requests_json(const WorkerCounters& work) {
    ordered_json out{{"total", work.total()}};
    for (const auto outcome : kOutcomes)
        out[std::string(to_string(outcome))] = work.requests[outcome];
    return out;
}

/// Zero counts are left out: most reasons never occur.
template <class Enum, std::size_t N>
ordered_json reasons_json(const PerEnum<Enum, N>& counts) {
    auto out = ordered_json::object();
    for (std::size_t i = 0; i < N; ++i) {
        const auto reason = static_cast<Enum>(i);
        if (counts[reason] != 0) out[std::string(to_string(reason))] = counts[reason];
    }
    return out;
}

/// There may be a thousand peers: built in place, as an initializer list makes an array of two of
/// each field first.
ordered_json peer_json(const PeerStatus& peer) {
    ordered_json::object_t out;
    out.reserve(22);
    out.emplace_back("node", peer.node);
    out.emplace_back("epoch", peer.epoch);
    out.emplace_back("state", peer.state);
    out.emplace_back("asked", peer.asked);
    out.emplace_back("hits", peer.hits);
    out.emplace_back("false_hits", peer.false_hits);
    out.emplace_back("stale_hits", peer.stale_hits);
    out.emplace_back("refused", peer.refused);
    out.emplace_back("failures", peer.failures);
    out.emplace_back("given", peer.given);
    out.emplace_back("lag_seconds", peer.lag_seconds);
    out.emplace_back("left_alone_seconds", peer.left_alone_seconds);
    out.emplace_back("round_trip_seconds", peer.round_trip_seconds);
    out.emplace_back("round_trip_deviation_seconds", peer.round_trip_deviation_seconds);
    out.emplace_back("objects", peer.objects);
    out.emplace_back("resyncs", peer.resyncs);
    out.emplace_back("check_failures", peer.check_failures);
    out.emplace_back("last_error", peer.last_error);
    out.emplace_back("invalidations_sent", peer.invalidations_sent);
    out.emplace_back("invalidations_received", peer.invalidations_received);
    out.emplace_back("invalidations_confirmed", peer.invalidations_confirmed);
    out.emplace_back("invalidations_pending", peer.invalidations_pending);
    return ordered_json(std::move(out));
}

ordered_json origin_json(const OriginStatus& origin) {
    return {{"origin", origin.place},
            {"answer_seconds", origin.answer_seconds},
            {"answer_deviation_seconds", origin.answer_deviation_seconds},
            {"peer_budget_seconds", origin.peer_budget_seconds},
            {"peer_limit_seconds", origin.peer_limit_seconds}};
}

ordered_json cluster_json(const ClusterCounters& cluster) {
    ordered_json::array_t peers;
    peers.reserve(cluster.peers.size());
    for (const auto& peer : cluster.peers) peers.push_back(peer_json(peer));
    const auto& left = cluster.gone;
    ordered_json gone{{"peers", cluster.peers_gone},
                      {"asked", left.asked},
                      {"hits", left.hits},
                      {"false_hits", left.false_hits},
                      {"stale_hits", left.stale_hits},
                      {"refused", left.refused},
                      {"failures", left.failures},
                      {"given", left.given},
                      {"resyncs", left.resyncs},
                      {"check_failures", left.check_failures},
                      {"invalidations_received", left.invalidations_received}};
    auto names = ordered_json::array();
    for (const auto& name : cluster.names)
        names.push_back({{"dns", name.name},
                         {"places", name.places},
                         {"trouble", name.trouble},
                         {"age_seconds", name.age_seconds}});
    auto origins = ordered_json::array();
    for (const auto& origin : cluster.origins) origins.push_back(origin_json(origin));
    return {{"announcements_sent", cluster.announcements_sent},
            {"announcements_received", cluster.announcements_received},
            {"heartbeats_sent", cluster.heartbeats_sent},
            {"bytes_sent", cluster.bytes_sent},
            {"bytes_received", cluster.bytes_received},
            {"link_refusals", cluster.link_refusals},
            {"peers", std::move(peers)},
            {"gone", std::move(gone)},
            {"names", std::move(names)},
            {"unanswered", cluster.unanswered},
            {"origins", std::move(origins)}};
}

std::string rfc3339(double unix_time) {
    const auto seconds = static_cast<std::time_t>(unix_time);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {text.data(), size};
}

ordered_json config_json(const ConfigStatus& config) {
    return {{"generation", config.generation},
            {"loaded_at", rfc3339(config.loaded_at)},
            {"reloads", config.reloads},
            {"failures", config.failures},
            {"last_error", config.last_error}};
}

}  // namespace

std::string status_json(const NodeStatus& status) {
    const auto& work = status.work;
    const ordered_json out{
        {"node", status.node},
        {"version", status.version},
        {"uptime_seconds", status.uptime_seconds},
        {"ready", status.ready},
        {"draining", status.draining},
        {"requests", requests_json(work)},
        {"upstream",
         {{"origin_requests", work.origin_requests},
          {"origin_failures", work.origin_failures},
          {"peer_requests", work.peer_requests},
          {"origin_down_requests", work.origin_down_requests},
          {"origins_down", work.origins_down},
          {"validations", work.validations},
          {"origin_hedges", work.origin_hedges},
          {"origin_hedges_outrun", work.origin_hedges_outrun},
          {"peer_repeats", work.peer_repeats},
          {"peers_too_far", work.peers_too_far}}},
        {"bytes",
         {{"to_clients", work.bytes_to_clients},
          {"to_peers", work.bytes_to_peers},
          {"from_peers", work.bytes_from_peers},
          {"from_origins", work.bytes_from_origins}}},
        {"cache",
         {{"objects", status.cache.objects},
          {"memory_bytes", status.cache.memory_bytes},
          {"disk_bytes", status.cache.disk_bytes},
          {"evictions", status.cache.evictions + status.cache.disk_evictions}}},
        {"window_bytes", status.window_bytes},
        {"storage", reasons_json(work.verdicts)},
        {"refusals", reasons_json(work.refusals)},
        {"collapsed", work.collapsed},
        {"connections", {{"open", status.connections}, {"accepted", work.connections_accepted}}},
        {"log_dropped", status.log_dropped},
        {"log_failed", status.log_failed},
        {"config", config_json(status.config)},
        {"summary",
         {{"kind", status.summary.kind},
          {"objects", status.summary.objects},
          {"bits", status.summary.bits},
          {"hashes", status.summary.hashes},
          {"fill", status.summary.fill},
          {"expected_false_hit", status.summary.expected_false_hit}}},
        {"cluster", cluster_json(status.cluster)}};
    return out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace proxy
