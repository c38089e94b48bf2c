#include "proxy/config/config_json.hpp"

#include "proxy/config/config_disk.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/config_values.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace proxy {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kShareKeptForOthers = 8;  // one part in so many

ordered_json admin_json(const AdminConfig& admin) {
    ordered_json out{{"listen", admin.listen.text()}};
    if (!admin.token.empty()) out["token"] = "(secret)";
    out["token_for"] = to_string(admin.token_for);
    out["names"] = admin.names;
    return out;
}

ordered_json clients_json(const ClientsConfig& clients) {
    return {{"allow", clients.allow.texts()},
            {"deny", clients.deny.texts()},
            {"trusted_proxies", clients.trusted_proxies.texts()},
            {"proxy_protocol", clients.proxy_protocol}};
}

ordered_json forward_json(const ForwardConfig& forward) {
    ordered_json out{{"enabled", forward.enabled},
                     {"clients", forward.clients.texts()},
                     {"connect_ports", forward.connect_ports}};
    if (forward.private_destinations == Destinations::listed)
        out["private_destinations"] = forward.private_prefixes.texts();
    else
        out["private_destinations"] =
            forward.private_destinations == Destinations::deny ? "deny" : "allow";
    return out;
}

ordered_json origins_json(const std::vector<OriginConfig>& origins) {
    auto list = ordered_json::array();
    for (const auto& origin : origins) {
        ordered_json entry{{"host", origin.host},
                           {"url", (origin.tls ? "https://" : "http://") + origin.server.text()}};
        if (origin.tls) {
            entry["tls"] = {{"verify", origin.tls->verify}};
            if (!origin.tls->ca.empty()) entry["tls"]["ca"] = origin.tls->ca;
            if (!origin.tls->name.empty()) entry["tls"]["name"] = origin.tls->name;
        }
        list.push_back(std::move(entry));
    }
    return list;
}

ordered_json cache_json(const CacheConfig& cache) {
    auto disk = ordered_json::array();
    for (const auto& directory : cache.disk)
        disk.push_back({{"path", directory.path}, {"size", format_size(directory.size)}});
    return {{"memory", format_size(cache.memory)},
            {"disk", std::move(disk)},
            {"disk_admission", to_string(cache.disk_admission)},
            {"object_max", format_size(cache.object_max)},
            {"slice_from", format_size(slice_from(cache))},
            {"block", format_size(cache.block)},
            {"variants", cache.variants},
            {"store_set_cookie", cache.rules.store_set_cookie},
            {"client_directives",
             cache.client_directives == ClientDirectives::obey ? "obey" : "shield"},
            {"cdn_cache_control", cache.rules.cdn_cache_control},
            {"stale_when_unreachable", format_duration(cache.rules.stale_when_unreachable)},
            {"heuristic",
             {{"fraction", cache.rules.heuristic_fraction},
              {"maximum", format_duration(cache.rules.heuristic_maximum)}}}};
}

ordered_json cluster_json(const ClusterConfig& cluster) {
    return {{"keys", std::vector<std::string>(cluster.keys.size(), "(secret)")},
            {"listen", cluster.listen.text()},
            {"copy", to_string(cluster.copy)},
            {"peer_budget", format_duration(cluster.peer_budget)},
            {"peer_budget_min", format_duration(cluster.peer_budget_min)},
            {"peer_budget_max", format_duration(cluster.peer_budget_max)},
            {"peer_detour", format_duration(cluster.peer_detour)},
            {"peer_stall", format_duration(cluster.peer_stall)},
            {"heartbeat", format_duration(cluster.heartbeat)},
            {"gone_after", format_duration(cluster.gone_after)},
            {"max_peers", cluster.max_peers},
            {"misses_per_sample", cluster.misses_per_sample},
            {"peers", peers_json(cluster)}};
}

ordered_json summary_json(const SummaryConfig& summary) {
    return {{"kind", name(summary.kind)},
            {"false_hit_budget", summary.false_hit_budget},
            {"peer_max", format_size(summary.peer_max)},
            {"announce",
             {{"changed", summary.announce.changed},
              {"delay", format_duration(summary.announce.delay)}}}};
}

ordered_json limits_json(const LimitsConfig& limits) {
    return {{"request_line", format_size(limits.request_line)},
            {"head", format_size(limits.head)},
            {"head_lines", limits.head_lines},
            {"connections", limits.connections},
            {"connections_per_address", connections_of_one(limits, limits.connections)},
            {"upstream_connections", limits.upstream_connections},
            {"upstream_idle", limits.upstream_idle},
            {"upstream_idle_per_origin", limits.upstream_idle_per_origin},
            {"body_window", format_size(limits.body_window)},
            {"body_windows", format_size(limits.body_windows)},
            {"client_rate_min", format_size(limits.client_rate_min)}};
}

ordered_json timeouts_json(const TimeoutsConfig& timeouts) {
    return {{"client_head", format_duration(timeouts.client_head)},
            {"keep_alive", format_duration(timeouts.keep_alive)},
            {"origin_connect", format_duration(timeouts.origin_connect)},
            {"origin_head", format_duration(timeouts.origin_head)},
            {"origin_idle", format_duration(timeouts.origin_idle)},
            {"body_idle", format_duration(timeouts.body_idle)},
            {"tunnel_idle", format_duration(timeouts.tunnel_idle)},
            {"drain", format_duration(timeouts.drain)},
            {"drain_grace", format_duration(timeouts.drain_grace)}};
}

}  // namespace

std::string_view to_string(DiskAdmission admission) {
    return admission == DiskAdmission::always ? "always" : "second_request";
}

std::string_view to_string(CopyPolicy policy) {
    switch (policy) {
        case CopyPolicy::always:
            return "always";
        case CopyPolicy::while_room:
            return "while_room";
        case CopyPolicy::second_use:
            return "second_use";
        case CopyPolicy::never:
            return "never";
    }
    return "?";
}

std::string_view to_string(ForwardedMode mode) {
    switch (mode) {
        case ForwardedMode::off:
            return "off";
        case ForwardedMode::append:
            return "append";
        case ForwardedMode::replace:
            return "replace";
    }
    return "?";
}

std::string_view to_string(TokenFor what) {
    return what == TokenFor::all ? "all" : "changes";
}

std::string_view to_string(LogLevel level) {
    switch (level) {
        case LogLevel::trace:
            return "trace";
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warn:
            return "warn";
        case LogLevel::error:
            return "error";
        case LogLevel::off:
            return "off";
    }
    return "?";
}

std::string_view to_string(AccessFormat format) {
    switch (format) {
        case AccessFormat::json:
            return "json";
        case AccessFormat::squid:
            return "squid";
        case AccessFormat::combined:
            return "combined";
    }
    return "?";
}

std::uint64_t connections_of_one(const LimitsConfig& limits, std::uint64_t connections) {
    const auto most = limits.connections_per_address > 0
                          ? std::uint64_t{limits.connections_per_address}
                          : connections - connections / kShareKeptForOthers;
    return std::min(most, connections);
}

ordered_json config_json(const Config& config) {
    ordered_json out{{"node", config.node},
                     {"listen", config.listen.text()},
                     {"workers", config.workers},
                     {"admin", nullptr},
                     {"clients", clients_json(config.clients)},
                     {"forward", forward_json(config.forward)},
                     {"forwarded",
                      {{"origins", to_string(config.forwarded.origins)},
                       {"forward", to_string(config.forwarded.forward)},
                       {"drop", config.forwarded.drop}}},
                     {"upgrade", config.upgrade},
                     {"origins", origins_json(config.origins)},
                     {"cache", cache_json(config.cache)}};
    if (config.tls) {
        out["tls"] = {{"listen", config.tls->listen.text()},
                      {"certificate", config.tls->certificate},
                      {"key", config.tls->key}};
    }
    if (config.admin) out["admin"] = admin_json(*config.admin);
    if (config.cluster) out["cluster"] = cluster_json(*config.cluster);
    out["summary"] = summary_json(config.summary);
    out["log"] = {{"level", to_string(config.log.level)},
                  {"access", config.log.access},
                  {"format", to_string(config.log.format)},
                  {"peers", config.log.peers}};
    out["purge"] = {{"allow", config.purge.allow.texts()}};
    out["limits"] = limits_json(config.limits);
    out["timeouts"] = timeouts_json(config.timeouts);
    return out;
}

namespace {

void add_paths(const ordered_json& section, const std::string& path,
               std::vector<std::string>& out) {
    for (const auto& [key, value] : section.items()) {
        const auto& at = out.emplace_back(path + "." + key);
        if (value.is_object()) add_paths(value, std::string(at), out);
    }
}

}  // namespace

std::string effective_config(const Config& config) {
    // A path may hold any byte, and no answer is worth an exception.
    return config_json(config).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> setting_paths() {
    Config config;
    config.cluster.emplace();
    std::vector<std::string> out;
    add_paths(config_json(config), "$", out);
    return out;
}

}  // namespace proxy
