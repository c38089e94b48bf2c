#include "app/import/squid_settings.hpp"

#include <algorithm>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/config/config_rules.hpp"
#include "proxy/disk/disk_index.hpp"
#include "proxy/http/field_list.hpp"

namespace app {
namespace {

/// Directives that hearsay has no need of: their effect is its way of working, or none on traffic.
constexpr std::string_view kSquidIdle[] = {"coredump_dir",
                                           "cache_log",
                                           "cache_store_log",
                                           "pid_filename",
                                           "cache_effective_user",
                                           "cache_effective_group",
                                           "error_directory",
                                           "err_page_stylesheet",
                                           "deny_info",
                                           "error_default_language",
                                           "debug_options",
                                           "logfile_rotate",
                                           "logformat",
                                           "hosts_file",
                                           "hierarchy_stoplist",
                                           "icp_access",
                                           "htcp_access",
                                           "cache_replacement_policy",
                                           "memory_replacement_policy",
                                           "cache_swap_low",
                                           "cache_swap_high",
                                           "fqdncache_size",
                                           "ipcache_size",
                                           "ipcache_low",
                                           "ipcache_high",
                                           "quick_abort_min",
                                           "quick_abort_max",
                                           "quick_abort_pct",
                                           "collapsed_forwarding",
                                           "half_closed_clients",
                                           "client_db",
                                           "memory_cache_mode",
                                           "maximum_object_size_in_memory",
                                           "minimum_object_size",
                                           "httpd_suppress_version_string",
                                           "unique_hostname",
                                           "cache_mgr",
                                           "mail_program",
                                           "mime_table",
                                           "ftp_user",
                                           "ftp_passive",
                                           "log_mime_hdrs",
                                           "buffered_logs",
                                           "strip_query_terms",
                                           "icon_directory",
                                           "positive_dns_ttl",
                                           "negative_dns_ttl",
                                           "dns_timeout",
                                           "dns_retransmit_interval",
                                           "dns_v4_first",
                                           "dns_packet_max",
                                           "client_persistent_connections",
                                           "server_persistent_connections",
                                           "persistent_connection_after_error",
                                           "relaxed_header_parser",
                                           "memory_pools",
                                           "memory_pools_limit",
                                           "store_avg_object_size",
                                           "store_objects_per_bucket",
                                           "max_filedescriptors",
                                           "max_filedesc",
                                           "hostname_aliases",
                                           "short_icon_urls",
                                           "check_hostnames",
                                           "allow_underscore",
                                           "vary_ignore_expire",
                                           "prefer_direct",
                                           "nonhierarchical_direct",
                                           "dead_peer_timeout",
                                           "peer_connect_timeout",
                                           "icp_query_timeout",
                                           "emulate_httpd_log",
                                           "forward_max_tries",
                                           "connect_retries",
                                           "retry_on_error",
                                           "range_offset_limit",
                                           "read_ahead_gap",
                                           "cpu_affinity_map",
                                           "delay_pools",
                                           "delay_class",
                                           "delay_access",
                                           "shared_memory_locking",
                                           "netdb_filename",
                                           "digest_generation",
                                           "announce_period",
                                           "sslcrtd_program",
                                           "sslcrtd_children",
                                           "sslproxy_cert_error",
                                           "sslproxy_flags",
                                           "tls_outgoing_options",
                                           "pipeline_prefetch",
                                           "background_ping_rate",
                                           "dns_defnames",
                                           "eui_lookup",
                                           "authenticate_ttl",
                                           "authenticate_cache_garbage_interval",
                                           "url_rewrite_children",
                                           "redirect_children",
                                           "url_rewrite_concurrency",
                                           "store_id_children",
                                           "pinger_enable",
                                           "icp_hit_stale",
                                           "minimum_direct_hops",
                                           "ignore_unknown_nameservers",
                                           "append_domain",
                                           "extension_methods",
                                           "tcp_recv_bufsize",
                                           "sleep_after_fork",
                                           "detect_broken_pconn",
                                           "uri_whitespace",
                                           "external_acl_type",
                                           "authenticate_ip_ttl",
                                           "logfile_daemon",
                                           "netdb_low",
                                           "netdb_high",
                                           "test_reachability",
                                           "max_open_disk_fds",
                                           "store_dir_select_algorithm",
                                           "snmp_access",
                                           "snmp_incoming_address",
                                           "log_icp_queries"};

struct Advice {
    std::string_view name, why;
};
constexpr Advice kSquidAdvice[] = {
    {"dns_nameservers", "the node uses the name servers of the machine (/etc/resolv.conf)"},
    {"snmp_port", "read /metrics of the admin port in place of SNMP"},
    {"cachemgr_passwd", "set admin.token, as ${NAME}"},
    {"delay_initial_bucket_level", "clients.limits has rates of addresses and users"},
    {"client_delay_pools", "clients.limits has rates of addresses and users"},
    {"client_delay_parameters", "clients.limits has rates of addresses and users"},
    {"client_delay_access", "clients.limits has rates of addresses and users"},
    {"store_id_program", "`query` of rules joins the URLs of one content"},
    {"store_id_access", "`query` of rules joins the URLs of one content"},
    {"storeurl_rewrite_program", "`query` of rules joins the URLs of one content"},
    {"tcp_outgoing_address", "the system chooses the address; use policy routing"},
    {"udp_incoming_address", "nodes have links in place of ICP"},
    {"qos_flows", "let the firewall mark packets"},
    {"tcp_outgoing_tos", "let the firewall mark packets"},
    {"request_body_max_size", "let the origin refuse large bodies"},
    {"client_lifetime", "timeouts.tunnel_idle and timeouts.body_idle end silent connections"},
    {"negative_ttl", "`fresh_for` of a rule has spans by status, such as 404"},
    {"max_stale", "cache.stale_when_unreachable bounds stale answers"},
    {"offline_mode", "cache.stale_when_unreachable bounds stale answers"},
    {"refresh_all_ims", "a client's condition is answered from a fresh copy"},
    {"reload_into_ims", "cache.client_directives (shield) ignores reloads"},
    {"icp_port", "nodes have links in place of ICP: hearsay init"},
    {"htcp_port", "nodes have links in place of HTCP: hearsay init"},
    {"digest_rebuild_period", "nodes have links in place of digests: hearsay init"},
    {"wccp2_router", "hearsay does not take intercepted connections"},
    {"via", "forwarded.via leaves the node out of requests to origins; nodes find loops by Via"},
    {"acl_uses_indirect_client", "rules use the client that a trusted proxy names"},
    {"balance_on_multiple_ip", "the addresses of a name are tried in their order"}};

struct SpanSetting {
    std::string_view name;
    const char* path;
    std::uint64_t most_ms;
};
constexpr std::uint64_t kHourMs = 3'600'000, kDayMs = 24 * kHourMs;
constexpr SpanSetting kSquidSpans[] = {
    {"connect_timeout", "timeouts.origin_connect", kHourMs},
    {"read_timeout", "timeouts.body_idle", kDayMs},
    {"request_start_timeout", "timeouts.keep_alive", kDayMs},
    {"request_timeout", "timeouts.client_head", kHourMs},
    {"client_idle_pconn_timeout", "timeouts.keep_alive", kDayMs},
    {"persistent_request_timeout", "timeouts.keep_alive", kDayMs},
    {"server_idle_pconn_timeout", "timeouts.origin_idle", kDayMs},
    {"pconn_timeout", "timeouts.origin_idle", kDayMs},
    {"forward_timeout", "timeouts.origin_head", kDayMs},
    {"shutdown_lifetime", "timeouts.drain", kDayMs}};

struct SizeSetting {
    std::string_view name;
    const char* path;
    std::uint64_t least, most;
};
constexpr SizeSetting kSquidSizes[] = {
    {"cache_mem", "cache.memory", 1 << 20, 1ull << 46},
    {"maximum_object_size", "cache.object_max", 1, 1ull << 46},
    {"request_header_max_size", "limits.head", 1 << 10, 16 << 20}};

bool is_turned_off(const Directive& line) {
    return line.word(0) == "off" || line.word(0) == "none" || line.word(0) == "0";
}

void import_access_log(const Directive& line, ImportDraft& draft) {
    std::string where(line.word(0));
    if (where == "none" || where == "off") {
        if (!draft.has("log.access")) draft.set("log.access", "off");
        return;
    }
    if (draft.has("log.access") && draft.settings()["log"]["access"] != "off")
        return draft.leave_out(line, "there is one access log; the first one counts");
    for (const std::string_view module : {"stdio:", "daemon:"})
        if (where.starts_with(module)) where.erase(0, module.size());
    if (where == "/dev/stdout") where = "stdout";
    if (where != "stdout" && !where.starts_with('/'))
        return draft.leave_out(line, "log.access is a file or stdout");
    draft.set("log.access", where);
    std::string format = "squid";
    for (std::size_t i = 1; i < line.words.size(); ++i) {
        auto word = line.word(i);
        if (word.starts_with("logformat=")) word.remove_prefix(10);
        if (word == "combined" || word == "common") format = "combined";
        if (word.starts_with('!')) draft.leave_out(line, "the access log has every request");
    }
    draft.set("log.format", format);
}

void import_cache_dir(const Directive& line, ImportDraft& draft) {
    if (line.word(0) == "null") return draft.needs_nothing(line);
    const auto size = import_size(line.word(2), "MB");
    if (!line.word(1).starts_with('/') || !size)
        return draft.leave_out(line, "is no type, path and size in MB");
    auto bytes = std::min<std::uint64_t>(*size, proxy::kMaxDiskBytes);
    if (bytes < proxy::kMinDiskBytes) {
        bytes = proxy::kMinDiskBytes;
        draft.leave_out(line, "the smallest directory has " + import_size_text(bytes) +
                                  ", which cache.disk has now");
    }
    auto& all = draft.settings()["cache"]["disk"];
    if (all.size() >= proxy::kMaxDiskDirectories)
        return draft.leave_out(line, "cache.disk has fewer directories");
    std::string path(line.word(1));
    while (path.ends_with('/')) path.pop_back();
    for (const auto& other : all)
        if (other["path"] == path + "/hearsay")
            return draft.leave_out(line, "is the directory of an earlier line again");
    // The directory of Squid has files of Squid, beside which no node starts.
    all.push_back({{"path", path + "/hearsay"}, {"size", import_size_text(bytes)}});
}

void import_forwarded_for(const Directive& line, ImportDraft& draft) {
    const auto word = line.word(0);
    if (word == "on") return draft.set("forwarded.forward", "append");
    if (word == "transparent") return draft.set("forwarded.forward", "off");
    if (word == "truncate") return draft.set("forwarded.forward", "replace");
    draft.set("forwarded.forward", "off");
    draft.edit_fields("request_fields", "remove", "X-Forwarded-For", {});
    draft.edit_fields("request_fields", "remove", "Forwarded", {});
}

void import_node_name(const Directive& line, ImportDraft& draft) {
    const std::string name(line.word(0));
    if (name.empty() || name.size() > proxy::kMaxNodeBytes || !proxy::is_token(name))
        return draft.leave_out(line, "is no name of a node: 1 to 64 letters, digits or -._");
    draft.set("node", name);
}

void import_workers(const Directive& line, ImportDraft& draft) {
    const auto count = import_size(line.word(0), "");
    if (!count) return draft.leave_out(line, "is no number");
    draft.set("workers", std::clamp<std::uint64_t>(*count, 1, proxy::kMaxWorkers));
}

/// No rule may change this field.
bool is_untouchable(std::string_view name) {
    return !proxy::is_token(name) || proxy::is_own_field(name);
}

}  // namespace

bool import_squid_fields(const Directive& line, ImportDraft& draft) {
    const auto& name = line.name;
    const bool of_request = name.starts_with("request_header_") || name == "header_access";
    const bool of_reply = name.starts_with("reply_header_");
    if (!of_request && !of_reply) return false;
    const auto* const edits = of_reply ? "response_fields" : "request_fields";
    const std::string field(line.word(0));
    if (name == "request_header_max_size" || name == "reply_header_max_size") return false;
    if (name.ends_with("_access")) {
        if (line.word(1) == "allow") {
            draft.needs_nothing(line);
        } else if (proxy::iequals(field, "Via") || proxy::iequals(field, "Proxy-Connection") ||
                   proxy::iequals(field, "Connection") || proxy::iequals(field, "Keep-Alive")) {
            draft.leave_out(line, "the node writes this field for each connection");
        } else if (proxy::iequals(field, "All") || proxy::iequals(field, "Other") ||
                   is_untouchable(field)) {
            draft.warn(line,
                       "rules remove fields by name, and not this one. OPEN: the field passes");
        } else if (line.words.size() > 3 || (line.word(2) != "all" && !line.word(2).empty())) {
            draft.edit_fields(edits, "remove", field, {});
            draft.leave_out(line, "the field is removed from all messages, without the condition");
        } else {
            draft.edit_fields(edits, "remove", field, {});
        }
        return true;
    }
    auto value = line.rest(1);
    const bool adds = name.ends_with("_add");
    if (adds) value = line.word(1);
    if (is_untouchable(field) || value.find('%') != std::string::npos || value.empty()) {
        draft.leave_out(line, "rules set fields to fixed values, and not every field");
    } else if (adds && line.words.size() > 2 && line.rest(2) != "all") {
        draft.leave_out(line, "a rule adds a field by host and path of the target");
    } else {
        draft.edit_fields(edits, adds ? "add" : "set", field, value);
    }
    return true;
}

bool import_squid_setting(const Directive& line, ImportDraft& draft) {
    const auto& name = line.name;
    for (const auto& each : kSquidSpans) {
        if (each.name != name) continue;
        const auto span = import_span(line.rest(0));
        if (!span)
            draft.leave_out(line, "is no span of time");
        else
            draft.set(each.path,
                      import_span_text(std::clamp<std::uint64_t>(*span, 10, each.most_ms)));
        if (name == "shutdown_lifetime" && span && *span <= 1000)
            draft.set("timeouts.drain_grace", "0s");
        return true;
    }
    for (const auto& each : kSquidSizes) {
        if (each.name != name) continue;
        const auto size = import_size(line.word(0), line.word(1));
        if (!size)
            draft.leave_out(line, "is no size");
        else
            draft.set(each.path, import_size_text(std::clamp(*size, each.least, each.most)));
        return true;
    }
    if (name == "access_log" || name == "cache_access_log")
        import_access_log(line, draft);
    else if (name == "cache_dir")
        import_cache_dir(line, draft);
    else if (name == "forwarded_for")
        import_forwarded_for(line, draft);
    else if (name == "visible_hostname")
        import_node_name(line, draft);
    else if (name == "workers")
        import_workers(line, draft);
    else if (name == "reply_body_max_size" && !is_turned_off(line))
        draft.warn(line, "cache.object_max bounds what is stored. OPEN: larger bodies pass");
    else if (std::find(std::begin(kSquidIdle), std::end(kSquidIdle), name) != std::end(kSquidIdle))
        draft.needs_nothing(line);
    else if (const auto* const advice =
                 std::find_if(std::begin(kSquidAdvice), std::end(kSquidAdvice),
                              [&](const Advice& each) { return each.name == name; });
             advice != std::end(kSquidAdvice))
        (is_turned_off(line) && name != "via") ? draft.needs_nothing(line)
                                               : draft.leave_out(line, advice->why);
    else
        return false;
    return true;
}

}  // namespace app
