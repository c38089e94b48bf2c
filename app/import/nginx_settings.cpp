#include "app/import/nginx_settings.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "proxy/config/config.hpp"
#include "proxy/disk/disk_index.hpp"
#include "proxy/http/field_list.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

/// Directives that nginx_sites.cpp and nginx_rules.cpp look at.
constexpr std::string_view kOfSites[] = {"http",
                                         "server",
                                         "location",
                                         "upstream",
                                         "listen",
                                         "server_name",
                                         "proxy_pass",
                                         "proxy_cache",
                                         "proxy_cache_valid",
                                         "proxy_cache_key",
                                         "proxy_cache_use_stale",
                                         "proxy_cache_background_update",
                                         "proxy_cache_bypass",
                                         "proxy_no_cache",
                                         "proxy_ignore_headers",
                                         "proxy_hide_header",
                                         "proxy_set_header",
                                         "add_header",
                                         "allow",
                                         "deny",
                                         "ssl_certificate",
                                         "ssl_certificate_key",
                                         "return",
                                         "set",
                                         "auth_basic",
                                         "auth_request",
                                         "auth_jwt",
                                         "ssl_verify_client",
                                         "valid_referers",
                                         "secure_link",
                                         "limit_except",
                                         "internal",
                                         "satisfy",
                                         "modsecurity",
                                         "root",
                                         "alias",
                                         "fastcgi_pass",
                                         "uwsgi_pass",
                                         "scgi_pass",
                                         "grpc_pass",
                                         "try_files",
                                         "stub_status",
                                         "proxy_ssl_verify",
                                         "proxy_ssl_trusted_certificate",
                                         "proxy_ssl_name",
                                         "access_by_lua_block",
                                         "access_by_lua_file",
                                         "access_by_lua",
                                         "js_access",
                                         "real_ip_header",
                                         "set_real_ip_from",
                                         "proxy_cache_path",
                                         "access_log",
                                         "keepalive",
                                         "keepalive_requests",
                                         "keepalive_timeout",
                                         "zone",
                                         "ip_hash",
                                         "least_conn",
                                         "hash",
                                         "random",
                                         "auth_basic_user_file",
                                         "proxy_protocol"};

/// Directives without a counterpart that change nothing for clients, or that hearsay does anyhow.
constexpr std::string_view kNginxIdle[] = {"events",
                                           "worker_connections",
                                           "multi_accept",
                                           "use",
                                           "user",
                                           "pid",
                                           "error_log",
                                           "daemon",
                                           "master_process",
                                           "load_module",
                                           "worker_rlimit_nofile",
                                           "worker_cpu_affinity",
                                           "worker_priority",
                                           "pcre_jit",
                                           "types",
                                           "default_type",
                                           "sendfile",
                                           "sendfile_max_chunk",
                                           "aio",
                                           "directio",
                                           "tcp_nopush",
                                           "tcp_nodelay",
                                           "server_tokens",
                                           "types_hash_max_size",
                                           "types_hash_bucket_size",
                                           "server_names_hash_bucket_size",
                                           "server_names_hash_max_size",
                                           "map_hash_bucket_size",
                                           "variables_hash_max_size",
                                           "reset_timedout_connection",
                                           "output_buffers",
                                           "postpone_output",
                                           "open_file_cache",
                                           "open_file_cache_valid",
                                           "open_file_cache_min_uses",
                                           "open_file_cache_errors",
                                           "log_format",
                                           "log_not_found",
                                           "log_subrequest",
                                           "charset",
                                           "index",
                                           "autoindex",
                                           "etag",
                                           "proxy_http_version",
                                           "proxy_buffering",
                                           "proxy_buffers",
                                           "proxy_buffer_size",
                                           "proxy_busy_buffers_size",
                                           "proxy_temp_path",
                                           "proxy_temp_file_write_size",
                                           "proxy_max_temp_file_size",
                                           "proxy_request_buffering",
                                           "proxy_cache_lock",
                                           "proxy_cache_lock_timeout",
                                           "proxy_cache_lock_age",
                                           "proxy_cache_revalidate",
                                           "proxy_cache_min_uses",
                                           "proxy_cache_convert_head",
                                           "proxy_cache_max_range_offset",
                                           "proxy_ssl_server_name",
                                           "proxy_ssl_session_reuse",
                                           "proxy_ssl_protocols",
                                           "proxy_ssl_ciphers",
                                           "proxy_headers_hash_max_size",
                                           "proxy_headers_hash_bucket_size",
                                           "proxy_socket_keepalive",
                                           "proxy_force_ranges",
                                           "proxy_pass_header",
                                           "proxy_pass_request_headers",
                                           "proxy_pass_request_body",
                                           "client_header_buffer_size",
                                           "client_body_buffer_size",
                                           "client_body_temp_path",
                                           "large_client_header_buffers",
                                           "ssl_protocols",
                                           "ssl_ciphers",
                                           "ssl_prefer_server_ciphers",
                                           "ssl_session_cache",
                                           "ssl_session_timeout",
                                           "ssl_session_tickets",
                                           "ssl_dhparam",
                                           "ssl_ecdh_curve",
                                           "ssl_buffer_size",
                                           "ssl",
                                           "http2",
                                           "http2_push_preload",
                                           "underscores_in_headers",
                                           "real_ip_recursive",
                                           "slice",
                                           "merge_slashes",
                                           "proxy_intercept_errors",
                                           "chunked_transfer_encoding",
                                           "keepalive_disable",
                                           "proxy_ignore_client_abort",
                                           "server_name_in_redirect",
                                           "port_in_redirect",
                                           "absolute_redirect",
                                           "max_ranges",
                                           "gzip_static",
                                           "if_modified_since",
                                           "fastcgi_param",
                                           "fastcgi_index",
                                           "fastcgi_split_path_info",
                                           "uwsgi_param",
                                           "lua_package_path",
                                           "proxy_next_upstream_tries",
                                           "fastcgi_buffers",
                                           "fastcgi_buffer_size",
                                           "fastcgi_read_timeout"};

struct NginxAdvice {
    std::string_view name, why;
};
constexpr NginxAdvice kNginxAdvice[] = {
    {"resolver", "the node uses the name servers of the machine (/etc/resolv.conf)"},
    {"resolver_timeout", "timeouts.origin_connect covers the look-up of names"},
    {"client_max_body_size", "let the origin refuse large bodies"},
    {"gzip", "the node passes on what the origin compresses"},
    {"brotli", "the node passes on what the origin compresses"},
    {"limit_rate", "clients.limits.per_address.bandwidth is for all responses to a client"},
    {"limit_rate_after", "clients.limits.per_address.bandwidth counts from the first byte"},
    {"expires", "write Cache-Control with response_fields of a rule"},
    {"error_page", "the node writes its own pages"},
    {"rewrite", "the node rewrites no path; let the origin do it"},
    {"proxy_redirect", "Location passes as the origin writes it"},
    {"proxy_cookie_domain", "cookies pass as the origin writes them"},
    {"proxy_cookie_path", "cookies pass as the origin writes them"},
    {"proxy_cookie_flags", "cookies pass as the origin writes them"},
    {"sub_filter", "bodies pass as the origin writes them"},
    {"sub_filter_once", "bodies pass as the origin writes them"},
    {"sub_filter_types", "bodies pass as the origin writes them"},
    {"map", "hearsay has no variables"},
    {"geo", "hearsay has no variables"},
    {"split_clients", "hearsay has no variables"},
    {"proxy_cache_methods", "GET and HEAD use the cache"},
    {"proxy_cache_purge", "see purge.allow"},
    {"proxy_next_upstream", "the next upstream follows where a request may be repeated"},
    {"proxy_next_upstream_timeout", "timeouts.origin_connect bounds each connection"},
    {"proxy_method", "the origin gets the method of the client"},
    {"proxy_set_body", "the origin gets the body of the client"},
    {"proxy_bind", "the system chooses the address; use policy routing"},
    {"proxy_limit_rate", "the node reads from origins as fast as clients take it"},
    {"ssl_stapling", "the node sends no OCSP response"},
    {"ssl_stapling_verify", "the node sends no OCSP response"},
    {"ssl_trusted_certificate", "the node sends no OCSP response"},
    {"ssl_client_certificate", "the node asks clients for no certificate"},
    {"if", "hearsay has no conditions"},
    {"proxy_ssl_certificate", "hearsay shows origins no certificate"},
    {"proxy_ssl_certificate_key", "hearsay shows origins no certificate"},
    {"proxy_store", "the node stores no plain files"},
    {"stream", "hearsay relays no plain TCP"},
    {"mirror", "hearsay mirrors no requests"}};

template <std::size_t N>
bool is_listed(const std::string_view (&names)[N], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class NginxSettings {
public:
    explicit NginxSettings(ImportDraft& draft) : draft_(draft) {}

    NginxZones run(const std::vector<Directive>& directives) {
        walk(directives);
        for (const auto* line : limits_) limit(*line);
        for (const auto& [path, ms] : spans_) draft_.set(path, import_span_text(ms));
        const auto believed =
            proxy::iequals(real_ip_, "X-Forwarded-For") || real_ip_ == "proxy_protocol";
        if (!trusted_.empty() && !believed) {
            draft_.warn(
                "set_real_ip_from: hearsay reads the client's address from X-Forwarded-For, not "
                "from " +
                real_ip_ + ". Closed: no proxy is trusted");
        } else if (!trusted_.empty()) {
            auto list = Json::array();
            for (const auto& network : trusted_) list.push_back(text_of(network));
            draft_.set("clients.trusted_proxies", list);
        }
        return std::move(zones_);
    }

private:
    void walk(const std::vector<Directive>& directives) {
        for (const auto& each : directives) {
            draft_.count(1);
            take(each);
            const auto& name = each.name;
            if (each.has_block && holds_directives(name)) walk(each.block);
        }
    }

    void take(const Directive& line) {
        const auto& name = line.name;
        const auto advice =
            std::find_if(std::begin(kNginxAdvice), std::end(kNginxAdvice),
                         [&](const NginxAdvice& each) { return each.name == name; });
        if (take_span(line)) return;
        if (name == "worker_processes")
            workers(line);
        else if (name == "access_log")
            access_log(line);
        else if (name == "proxy_cache_path")
            cache_path(line);
        else if (name == "set_real_ip_from")
            trust(line);
        else if (name == "limit_req_zone" || name == "limit_conn_zone")
            limit_zone(line);
        else if (name == "limit_req" || name == "limit_conn")
            limits_.push_back(&line);
        else if (name == "real_ip_header")
            real_ip_ = line.word(0);
        else if (name == "proxy_set_header" && proxy::iequals(line.word(0), "X-Forwarded-For"))
            forwarded(line);
        else if (is_listed(kOfSites, name))
            return;
        else if (is_listed(kNginxIdle, name) || name.starts_with("gzip_") ||
                 name.starts_with("brotli_"))
            draft_.needs_nothing(line);
        else if (advice != std::end(kNginxAdvice)) {
            if (line.word(0) == "off" || line.word(0) == "default")
                draft_.needs_nothing(line);
            else
                draft_.leave_out(line, advice->why);
        } else {
            draft_.leave_out(line, "hearsay has no setting for it");
        }
    }

    /// A time of the node: the longest of all blocks.
    bool take_span(const Directive& line) {
        constexpr struct {
            std::string_view name;
            const char* path;
            std::uint64_t most_ms;
        } kTimes[] = {{"proxy_connect_timeout", "timeouts.origin_connect", 3'600'000},
                      {"proxy_read_timeout", "timeouts.origin_head", 86'400'000},
                      {"proxy_send_timeout", "timeouts.body_idle", 86'400'000},
                      {"send_timeout", "timeouts.body_idle", 86'400'000},
                      {"client_body_timeout", "timeouts.body_idle", 86'400'000},
                      {"client_header_timeout", "timeouts.client_head", 3'600'000},
                      {"keepalive_timeout", "timeouts.keep_alive", 86'400'000}};
        for (const auto& each : kTimes) {
            if (each.name != line.name) continue;
            const auto span = import_span(line.word(0));
            if (!span) {
                draft_.leave_out(line, "is no span of time");
                return true;
            }
            auto& longest = spans_[each.path];
            longest = std::max(longest, std::clamp<std::uint64_t>(*span, 10, each.most_ms));
            return true;
        }
        return false;
    }

    void workers(const Directive& line) {
        const auto count = import_size(line.word(0), "");
        if (count)
            draft_.set("workers", std::clamp<std::uint64_t>(*count, 1, proxy::kMaxWorkers));
        else
            draft_.leave_out(line, "set `workers` to the number of CPUs");
    }

    void access_log(const Directive& line) {
        const auto where = line.word(0);
        if (draft_.has("log.access"))
            return where == "off"
                       ? draft_.needs_nothing(line)
                       : draft_.leave_out(line, "there is one access log; the first counts");
        if (where == "off") return draft_.needs_nothing(line);
        if (!where.starts_with('/') || where.find('$') != std::string_view::npos)
            return draft_.leave_out(line, "log.access is a file or stdout");
        draft_.set("log.access", where == "/dev/stdout" ? "stdout" : std::string(where));
        draft_.set("log.format", "combined");
    }

    void cache_path(const Directive& line) {
        std::uint64_t bytes = 0, inactive = 600'000;
        std::string zone;
        for (const auto& word : line.words) {
            const std::string_view text = word.text;
            if (text.starts_with("max_size="))
                bytes = import_size(text.substr(9), "").value_or(0);
            else if (text.starts_with("inactive="))
                inactive = import_span(text.substr(9)).value_or(inactive);
            else if (text.starts_with("keys_zone="))
                zone = text.substr(10, text.find(':') == std::string_view::npos
                                           ? std::string_view::npos
                                           : text.find(':') - 10);
        }
        zones_[zone] = inactive;
        std::string path(line.word(0));
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        auto& all = draft_.settings()["cache"]["disk"];
        if (!path.starts_with('/') || path.find('$') != std::string::npos ||
            all.size() >= proxy::kMaxDiskDirectories)
            return draft_.leave_out(line, "cache.disk has absolute paths, one for each disk");
        if (bytes == 0) {
            bytes = std::uint64_t{10} << 30;
            draft_.leave_out(line, "has no max_size; cache.disk has 10GiB now");
        } else if (bytes < proxy::kMinDiskBytes) {
            bytes = proxy::kMinDiskBytes;
            draft_.leave_out(line, "the smallest directory has " + import_size_text(bytes) +
                                       ", which cache.disk has now");
        }
        bytes = std::min(bytes, proxy::kMaxDiskBytes);
        // The directory of nginx has files of nginx, beside which no node starts.
        path += "/hearsay";
        for (const auto& other : all) {
            const auto known = other["path"].get<std::string>();
            if (known == path || known.starts_with(path + "/") || path.starts_with(known + "/"))
                return draft_.leave_out(line, "is the directory of an earlier line again");
        }
        all.push_back({{"path", path}, {"size", import_size_text(bytes)}});
    }

    void trust(const Directive& line) {
        const auto networks = parse_networks(line.word(0));
        if (!networks || trusted_.size() + networks->size() > proxy::kMaxPrefixes)
            return draft_.leave_out(line, "clients.trusted_proxies has up to 256 addresses");
        trusted_.insert(trusted_.end(), networks->begin(), networks->end());
    }

    void limit_zone(const Directive& line) {
        std::string zone;
        std::uint64_t rate = 0;
        for (const auto& word : line.words) {
            const std::string_view text = word.text;
            if (text.starts_with("zone=")) zone = text.substr(5, text.substr(5).find(':'));
            if (text.starts_with("rate=") && text.ends_with("r/s"))
                rate = import_size(text.substr(5, text.size() - 8), "").value_or(0);
        }
        const auto key = line.word(0);
        const bool by_client = key == "$binary_remote_addr" || key == "$remote_addr";
        if (by_client) rates_[zone] = std::min<std::uint64_t>(rate, 1'000'000);
    }

    /// The strictest limit of all places holds for all requests of an address.
    void limit(const Directive& line) {
        const bool of_requests = line.name == "limit_req";
        std::string zone(line.word(0));
        std::uint64_t burst = 0,
                      count = of_requests ? 0 : import_size(line.word(1), "").value_or(0);
        for (const auto& word : line.words) {
            const std::string_view text = word.text;
            if (text.starts_with("zone=")) zone = text.substr(5);
            if (text.starts_with("burst=")) burst = import_size(text.substr(6), "").value_or(0);
        }
        const auto known = rates_.find(zone);
        if (of_requests && known != rates_.end()) count = known->second;
        if (known == rates_.end() || count == 0 || count > 1'000'000)
            return draft_.warn(line,
                               "clients.limits counts whole requests per second, and "
                               "connections, of an address. OPEN: this limit is left out");
        const std::string path =
            std::string("clients.limits.per_address.") + (of_requests ? "requests" : "connections");
        const auto former = draft_.has(path)
                                ? draft_
                                      .settings()["clients"]["limits"]["per_address"]
                                                 [of_requests ? "requests" : "connections"]
                                      .get<std::uint64_t>()
                                : count;
        if (count > former) return;
        draft_.set(path, count);
        if (of_requests)
            draft_.set("clients.limits.per_address.burst",
                       std::min<std::uint64_t>(burst + 1, 10'000'000));
    }

    void forwarded(const Directive& line) {
        if (line.word(1) == "$remote_addr") draft_.set("forwarded.origins", "replace");
    }

    ImportDraft& draft_;
    NginxZones zones_;
    std::map<std::string, std::uint64_t> spans_;
    Networks trusted_;
    std::map<std::string, std::uint64_t> rates_;  // of the zones by client; 0: of connections
    std::vector<const Directive*> limits_;
    std::string real_ip_ = "X-Real-IP";  // the default of nginx
};

}  // namespace

NginxZones import_nginx_settings(const std::vector<Directive>& directives, ImportDraft& draft) {
    return NginxSettings(draft).run(directives);
}

}  // namespace app
