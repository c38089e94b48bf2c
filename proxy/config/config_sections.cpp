#include "proxy/config/config_sections.hpp"

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/config_cluster.hpp"
#include "proxy/config/config_disk.hpp"
#include "proxy/config/config_origins.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr std::uint64_t kKiB = 1ull << 10, kMiB = 1ull << 20, kGiB = 1ull << 30, kTiB = 1ull << 40;
constexpr auto kLongest = 24h * 3650;  // ten years

void read_required(ConfigSection& in, std::string_view key, HostPort& out) {
    in.require(key);
    in.read(key, out);
}

/// The prefix that a text stands for, `10.0.0.0/8` for `10.0.0.7/8`; itself when it has no bits
/// beyond those.
std::string without_host_bits(const std::string& text) {
    namespace ip = boost::asio::ip;
    boost::system::error_code none;
    if (const auto v4 = ip::make_network_v4(text, none); !none)
        return v4.address() == v4.network() ? text : v4.canonical().to_string();
    if (const auto v6 = ip::make_network_v6(text, none); !none)
        return v6.address() == v6.network() ? text : v6.canonical().to_string();
    return text;
}

void read_prefixes(ConfigContext& context, ConfigSection& in, std::string_view key,
                   PrefixList& out) {
    if (!in.has(key)) return void(in.take(key));
    const auto elements = in.elements(key);
    out.clear();
    for (const auto& [value, path] : elements) {
        const auto prefix = text_of(context, *value, path);
        if (!prefix) continue;
        if (!out.add(*prefix))
            context.fail(path, "must be an address or a prefix, such as 10.0.0.7 or fd00::/8");
        else if (const auto whole = without_host_bits(*prefix); whole != *prefix)
            context.doubt(path, "stands for all of " + whole);
    }
    if (elements.size() > kMaxPrefixes)
        in.fail(key, "must be at most " + std::to_string(kMaxPrefixes));
}

/// What fits into `Authorization: Bearer` (RFC 6750 §2.1). Messages never show it.
bool is_bearer_token(std::string_view text) {
    const auto body = text.substr(0, text.find_last_not_of('=') + 1);
    return text.size() >= kMinTokenBytes && text.size() <= kMaxTokenBytes &&
           std::all_of(body.begin(), body.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("-._~+/").find(c) != std::string_view::npos;
           });
}

void read_admin_names(ConfigContext& context, ConfigSection& in, std::vector<std::string>& out) {
    const auto elements = in.elements("names");
    for (const auto& [value, path] : elements) {
        const auto name = text_of(context, *value, path);
        if (!name) continue;
        Authority authority;
        if (parse_authority(*name, authority) != TargetError::none || authority.host != *name)
            context.fail(path, "must be a host name without a port");
        append_lower(out.emplace_back(), *name);
    }
    if (elements.size() > kMaxAdminNames)
        in.fail("names", "must be at most " + std::to_string(kMaxAdminNames));
}

void read_admin(ConfigContext& context, ConfigSection& root, std::optional<AdminConfig>& out) {
    const auto* value = root.take("admin");
    if (!value) return;
    if (value->is_null()) return out.reset();
    auto in = *root.section("admin");
    in.read("listen", out->listen);
    const auto* given = in.take("token");
    if (const auto token = given ? secret_of(context, *given, in.path("token")) : std::nullopt) {
        if (token->find_last_not_of(" \t\r\n") + 1 != token->size())
            in.fail("token", "ends in white space, or a line's end");
        else if (!is_bearer_token(*token))
            in.fail("token", "must be " + std::to_string(kMinTokenBytes) + " to " +
                                 std::to_string(kMaxTokenBytes) +
                                 " letters, digits, or of -._~+/, with = at its end");
        out->token = *token;
    }
    in.read("token_for", out->token_for, {{"changes", TokenFor::changes}, {"all", TokenFor::all}});
    if (out->token_for == TokenFor::all && !in.has("token"))
        in.fail("token_for", "\"all\" needs a token");
    read_admin_names(context, in, out->names);
    in.done();
}

void read_clients(ConfigContext& context, ConfigSection& root, ClientsConfig& out) {
    auto in = root.section("clients");
    if (!in) return;
    read_prefixes(context, *in, "allow", out.allow);
    read_prefixes(context, *in, "deny", out.deny);
    read_prefixes(context, *in, "trusted_proxies", out.trusted_proxies);
    in->read("proxy_protocol", out.proxy_protocol);
    if (out.proxy_protocol && !in->has("trusted_proxies"))
        in->fail("proxy_protocol", "needs trusted_proxies: who sends PROXY headers");
    in->done();
}

void read_dropped(ConfigContext& context, ConfigSection& in, std::vector<std::string>& out) {
    if (in.has("drop")) out.clear();
    const auto elements = in.elements("drop");
    for (const auto& [value, path] : elements) {
        const auto name = text_of(context, *value, path);
        if (!name) continue;
        if (!is_token(*name)) context.fail(path, "must be a field's name, such as X-Original-URL");
        out.push_back(*name);
    }
    if (elements.size() > kMaxDropped)
        in.fail("drop", "must be at most " + std::to_string(kMaxDropped));
}

void read_forwarded(ConfigContext& context, ConfigSection& root, ForwardedConfig& out) {
    auto in = root.section("forwarded");
    if (!in) return;
    for (const auto& [key, mode] :
         {std::pair{"origins", &out.origins}, std::pair{"forward", &out.forward}})
        in->read(key, *mode,
                 {{"off", ForwardedMode::off},
                  {"append", ForwardedMode::append},
                  {"replace", ForwardedMode::replace}});
    read_dropped(context, *in, out.drop);
    in->done();
}

void read_upgrade(ConfigContext& context, ConfigSection& root, std::vector<std::string>& out) {
    if (root.has("upgrade")) out.clear();
    const auto elements = root.elements("upgrade");
    for (const auto& [value, path] : elements) {
        const auto name = text_of(context, *value, path);
        if (!name) continue;
        if (!is_token(*name)) context.fail(path, "must be a protocol's name, such as websocket");
        append_lower(out.emplace_back(), *name);
    }
    if (elements.size() > kMaxUpgrades)
        root.fail("upgrade", "must be at most " + std::to_string(kMaxUpgrades));
}

void read_file(ConfigSection& in, std::string_view key, std::string& out) {
    in.require(key);
    const auto file = in.text(key);
    if (!file) return;
    if (file->empty()) in.fail(key, "must be the path of a PEM file");
    out = *file;
}

void read_tls(ConfigSection& root, std::optional<TlsConfig>& out) {
    auto in = root.section("tls");
    if (!in) return;
    auto& tls = out.emplace();
    read_required(*in, "listen", tls.listen);
    read_file(*in, "certificate", tls.certificate);
    read_file(*in, "key", tls.key);
    in->done();
}

void read_forward(ConfigContext& context, ConfigSection& root, ForwardConfig& out) {
    auto in = root.section("forward");
    if (!in) return;
    in->read("enabled", out.enabled);
    if (in->has("connect_ports")) out.connect_ports.clear();
    for (const auto& [value, path] : in->elements("connect_ports")) {
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() == 0 ||
            value->get<std::uint64_t>() > 65535) {
            context.fail(path, "must be a port from 1 to 65535");
        } else {
            out.connect_ports.push_back(value->get<std::uint16_t>());
        }
    }
    read_prefixes(context, *in, "clients", out.clients);
    constexpr auto kPrivate = "private_destinations";
    if (const auto* value = in->take(kPrivate); value && value->is_array()) {
        out.private_destinations = Destinations::listed;
        read_prefixes(context, *in, kPrivate, out.private_prefixes);
    } else if (const auto word = value ? in->text(kPrivate) : std::nullopt) {
        // Nothing is proposed in place of a misspelt word, as one of them opens everything.
        if (*word == "deny")
            out.private_destinations = Destinations::deny;
        else if (*word == "allow")
            out.private_destinations = Destinations::allow;
        else
            in->fail(
                kPrivate,
                "must be \"deny\", \"allow\" or a list of prefixes, such as [\"10.1.0.0/16\"]");
    }
    in->done();
}

void read_cache(ConfigContext& context, ConfigSection& root, CacheConfig& out) {
    auto in = root.section("cache");
    if (!in) return;
    in->read_size("memory", out.memory, kMiB, 64 * kTiB);
    read_disk(context, *in, out);
    // Where there is a disk, it is there for what is large.
    std::uint64_t on_disk = 0;
    for (const auto& directory : out.disk) on_disk += directory.size;
    out.object_max = std::max(out.object_max, on_disk / 4);
    in->read_size("object_max", out.object_max, 1, 64 * kTiB);
    in->read_size("slice_from", out.slice_from, 0, 64 * kTiB);
    in->read_size("block", out.block, 4 * kKiB, kGiB);
    in->read("variants", out.variants, std::size_t{1}, kMaxVariants);
    const auto most = out.memory / 2;
    if (in->has("slice_from") && out.slice_from > most)
        in->doubt("slice_from", "is never reached: what is larger than half of the memory, " +
                                    format_size(most) + ", is stored in blocks anyway");
    for (const auto& [key, bytes] : {std::pair{"object_max", out.object_max}, {"block", out.block}})
        if (in->has(key) && out.block > most && bytes > most)
            in->doubt(key, "is never reached: no block takes more than half of the memory, " +
                               format_size(most));
    in->read("store_set_cookie", out.rules.store_set_cookie);
    in->read("client_directives", out.client_directives,
             {{"obey", ClientDirectives::obey}, {"shield", ClientDirectives::shield}});
    in->read("cdn_cache_control", out.rules.cdn_cache_control);
    in->read("stale_when_unreachable", out.rules.stale_when_unreachable, 0s, kLongest);
    if (auto heuristic = in->section("heuristic")) {
        heuristic->read("fraction", out.rules.heuristic_fraction, 0.0, 1.0);
        heuristic->read("maximum", out.rules.heuristic_maximum, 0s, kLongest);
        heuristic->done();
    }
    in->done();
}

void read_log(ConfigSection& root, LogConfig& out) {
    auto in = root.section("log");
    if (!in) return;
    in->read("level", out.level,
             {{"trace", LogLevel::trace},
              {"debug", LogLevel::debug},
              {"info", LogLevel::info},
              {"warn", LogLevel::warn},
              {"error", LogLevel::error},
              {"off", LogLevel::off}});
    in->read("access", out.access);
    if (out.access.empty()) in->fail("access", "must be \"off\", \"stdout\" or the path of a file");
    in->read("format", out.format,
             {{"json", AccessFormat::json},
              {"squid", AccessFormat::squid},
              {"combined", AccessFormat::combined}});
    out.peers = out.format == AccessFormat::json;
    in->read("peers", out.peers);
    in->done();
}

void read_purge(ConfigContext& context, ConfigSection& root, PurgeConfig& out) {
    auto in = root.section("purge");
    if (!in) return;
    read_prefixes(context, *in, "allow", out.allow);
    in->done();
}

void read_limits(ConfigSection& root, LimitsConfig& out) {
    auto in = root.section("limits");
    if (!in) return;
    in->read_size("request_line", out.request_line, 256, kMiB);
    in->read_size("head", out.head, kKiB, 16 * kMiB);
    in->read<std::size_t>("head_lines", out.head_lines, 16, 10'000);
    in->read<std::size_t>("connections", out.connections, 1, 10'000'000);
    in->read<std::size_t>("connections_per_address", out.connections_per_address, 1, 10'000'000);
    if (out.connections_per_address > out.connections)
        in->doubt("connections_per_address", "is never reached: there are " +
                                                 std::to_string(out.connections) + " connections");
    in->read<std::size_t>("upstream_connections", out.upstream_connections, 1, 1'000'000);
    in->read<std::size_t>("upstream_idle", out.upstream_idle, 0, 1'000'000);
    in->read<std::size_t>("upstream_idle_per_origin", out.upstream_idle_per_origin, 0, 1'000'000);
    in->read_size("body_window", out.body_window, 4 * kKiB, kGiB);
    in->read_size("body_windows", out.body_windows, kMiB, kTiB);
    in->read_size("client_rate_min", out.client_rate_min, 0, kGiB);
    in->done();
    if (out.request_line > out.head && !in->failed("request_line") && !in->failed("head"))
        in->fail("request_line", "must not be above head");
}

void read_timeouts(ConfigSection& root, TimeoutsConfig& out) {
    auto in = root.section("timeouts");
    if (!in) return;
    in->read("client_head", out.client_head, 10ms, 1h);
    in->read("keep_alive", out.keep_alive, 10ms, 24h);
    in->read("origin_connect", out.origin_connect, 10ms, 1h);
    in->read("origin_head", out.origin_head, 10ms, 24h);
    in->read("origin_idle", out.origin_idle, 10ms, 24h);
    in->read("body_idle", out.body_idle, 10ms, 24h);
    in->read("tunnel_idle", out.tunnel_idle, 10ms, 24h);
    in->read("drain", out.drain, 0ns, 24h);
    in->read("drain_grace", out.drain_grace, 0ns, 24h);
    in->done();
}

/// By default the host's name: what tells containers of one service apart.
void read_name(ConfigSection& root, std::string& out) {
    if (root.has("node")) return read_node(root, "node", out);
    root.take("node");
    out = boost::asio::ip::host_name();
    if (!is_token(out) || out.size() > kMaxNodeBytes)
        root.fail("node", "is missing, and the host's name (" + out + ") is not fit to be one");
}

}  // namespace

Config read_sections(ConfigContext& context, const json& value) {
    Config out;
    ConfigSection root(context, value, "$");
    root.take("$schema");
    read_name(root, out.node);
    read_required(root, "listen", out.listen);
    read_tls(root, out.tls);
    root.read("workers", out.workers, 1u, kMaxWorkers);
    read_admin(context, root, out.admin);
    read_clients(context, root, out.clients);
    read_forward(context, root, out.forward);
    read_forwarded(context, root, out.forwarded);
    read_upgrade(context, root, out.upgrade);
    read_origins(context, root, out.origins);
    read_cache(context, root, out.cache);
    read_cluster(context, root, out.cluster);
    read_summary(root, out.summary);
    read_log(root, out.log);
    read_purge(context, root, out.purge);
    read_limits(root, out.limits);
    read_timeouts(root, out.timeouts);
    root.done();
    const bool is_known = !root.failed("origins") && !root.failed("forward");
    if (out.origins.empty() && !out.forward.enabled && value.is_object() && is_known) {
        context.fail("$",
                     "there is nothing to serve; list origins, or set forward.enabled to true");
    }
    return out;
}

}  // namespace proxy
