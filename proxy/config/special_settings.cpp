#include "proxy/config/special_settings.hpp"

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/config_blocklists.hpp"
#include "proxy/config/config_certificates.hpp"
#include "proxy/config/config_destinations.hpp"
#include "proxy/config/config_disk.hpp"
#include "proxy/config/config_origins.hpp"
#include "proxy/config/config_parents.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/config_rules.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy::settings {
namespace {

using nlohmann::json;

/// The characters that `Authorization: Bearer` can carry (RFC 6750 §2.1). Messages never show a
/// token.
bool is_bearer_token(std::string_view text) {
    const auto body = text.substr(0, text.find_last_not_of('=') + 1);
    return text.size() >= kMinTokenBytes && text.size() <= kMaxTokenBytes &&
           std::all_of(body.begin(), body.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("-._~+/").find(c) != std::string_view::npos;
           });
}

/// Reads a list of HTTP tokens, with `what` a token has to be; `add` takes each. A token with `*`
/// would be taken for a pattern.
template <class Add>
void read_tokens(ConfigContext& context, ConfigSection& in, std::string_view key, std::size_t most,
                 std::string_view what, const Add& add) {
    const auto elements = in.elements(key);
    for (const auto& [value, path] : elements) {
        const auto name = text_of(context, *value, path);
        if (!name) continue;
        if (!is_token(*name) || name->find('*') != name->npos)
            context.fail(path, std::string("must be ").append(what));
        add(*name);
    }
    if (elements.size() > most) in.fail(key, "must be at most " + std::to_string(most));
}

}  // namespace

/// The default is the host name, which distinguishes the containers of one service.
void read_name(ConfigContext&, ConfigSection& in, Config& out) {
    if (in.has("node")) return read_node(in, "node", out.node);
    in.take("node");
    out.node = boost::asio::ip::host_name();
    if (!is_token(out.node) || out.node.size() > kMaxNodeBytes)
        in.fail("node", "is missing, and the host's name (" + out.node + ") is not fit to be one");
}

void read_token(ConfigContext& context, ConfigSection& in, Config& out) {
    const auto* given = in.take("token");
    const auto token = given ? secret_of(context, *given, in.path("token")) : std::nullopt;
    if (!token) return;
    if (token->find_last_not_of(" \t\r\n") + 1 != token->size())
        in.fail("token", "ends in white space, or a line's end");
    else if (!is_bearer_token(*token))
        in.fail("token", "must be " + std::to_string(kMinTokenBytes) + " to " +
                             std::to_string(kMaxTokenBytes) +
                             " letters, digits, or of -._~+/, with = at its end");
    out.admin->token = *token;
}

void read_certificates(ConfigContext& context, ConfigSection& in, Config& out) {
    read_pairs(context, in, *out.tls);
}

void read_admin_names(ConfigContext& context, ConfigSection& in, Config& out) {
    const auto elements = in.elements("names");
    for (const auto& [value, path] : elements) {
        const auto name = text_of(context, *value, path);
        if (!name) continue;
        Authority authority;
        if (parse_authority(*name, authority) != TargetError::none || authority.host != *name)
            context.fail(path, "must be a host name without a port");
        append_lower(out.admin->names.emplace_back(), *name);
    }
    if (elements.size() > kMaxAdminNames)
        in.fail("names", "must be at most " + std::to_string(kMaxAdminNames));
}

void read_connect_ports(ConfigContext& context, ConfigSection& in, Config& out) {
    auto& ports = out.forward.connect_ports;
    if (in.has("connect_ports")) ports.clear();
    for (const auto& [value, path] : in.elements("connect_ports")) {
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() == 0 ||
            value->get<std::uint64_t>() > 65535) {
            context.fail(path, "must be a port from 1 to 65535");
        } else {
            ports.push_back(value->get<std::uint16_t>());
        }
    }
}

void read_destinations(ConfigContext& context, ConfigSection& in, Config& out) {
    constexpr auto kKey = "private_destinations";
    auto& forward = out.forward;
    if (const auto* value = in.take(kKey); value && value->is_array()) {
        forward.private_destinations = Destinations::listed;
        read_prefixes(context, in, kKey, forward.private_prefixes);
    } else if (const auto word = value ? in.text(kKey) : std::nullopt) {
        // A misspelt word gets no proposal, because one of the words opens everything.
        if (*word == "deny")
            forward.private_destinations = Destinations::deny;
        else if (*word == "allow")
            forward.private_destinations = Destinations::allow;
        else
            in.fail(kKey,
                    "must be \"deny\", \"allow\" or a list of prefixes, such as "
                    "[\"10.1.0.0/16\"]");
    }
}

void read_blocklist_list(ConfigContext& context, ConfigSection& in, Config& out) {
    read_blocklist_settings(context, in, out.forward.blocklists);
}

void read_allowed_destinations(ConfigContext& context, ConfigSection& in, Config& out) {
    read_patterns(context, in, "allow", out.forward.destinations.allow);
}

void read_denied_destinations(ConfigContext& context, ConfigSection& in, Config& out) {
    read_patterns(context, in, "deny", out.forward.destinations.deny);
}

void read_parent_list(ConfigContext& context, ConfigSection& in, Config& out) {
    read_parents(context, in, out.forward);
}

void read_no_proxy_list(ConfigContext& context, ConfigSection& in, Config& out) {
    read_no_proxy(context, in, out.forward);
}

void read_dropped(ConfigContext& context, ConfigSection& in, Config& out) {
    auto& names = out.forwarded.drop;
    if (in.has("drop")) names.clear();
    read_tokens(context, in, "drop", kMaxDropped, "a field's name, such as X-Original-URL",
                [&](const std::string& name) { names.push_back(name); });
}

void read_upgrade(ConfigContext& context, ConfigSection& in, Config& out) {
    auto& names = out.protocols.upgrade;
    if (in.has("upgrade")) names.clear();
    read_tokens(context, in, "upgrade", kMaxUpgrades, "a protocol's name, such as websocket",
                [&](const std::string& name) { append_lower(names.emplace_back(), name); });
}

void read_sites(ConfigContext& context, ConfigSection& in, Config& out) {
    read_origins(context, in, out.origins);
}

void read_rule_list(ConfigContext& context, ConfigSection& in, Config& out) {
    read_rules(context, in, out.rules);
}

void read_directories(ConfigContext& context, ConfigSection& in, Config& out) {
    read_disk(context, in, out.cache);
}

void read_keys(ConfigContext& context, ConfigSection& in, Config& out) {
    std::vector<std::pair<const json*, std::string>> found;
    if (const auto* key = in.take("key")) found.emplace_back(key, in.path("key"));
    if (in.has("keys")) {
        if (!found.empty()) in.fail("keys", "give either key or keys, not both");
        found = in.elements("keys");
        if (found.empty() || found.size() > 2) in.fail("keys", "must be one or two keys");
    } else {
        in.take("keys");
        in.require("key");
    }
    auto& keys = out.cluster->keys;
    for (const auto& [value, path] : found) {
        auto key = secret_of(context, *value, path);
        if (!key) continue;
        if (key->size() < kMinKeyBytes) {
            context.fail(path, "must have at least " + std::to_string(kMinKeyBytes) +
                                   " bytes, has " + std::to_string(key->size()));
        } else if (std::find(keys.begin(), keys.end(), *key) != keys.end()) {
            context.fail(path, "is the same key again");
        }
        keys.push_back(std::move(*key));
    }
}

void read_peer_list(ConfigContext& context, ConfigSection& in, Config& out) {
    read_peers(context, in, "peers", *out.cluster);
}

ordered_json show_nothing(const Config&) {
    return ordered_json::value_t::discarded;
}

ordered_json show_name(const Config& config) {
    return config.node;
}

ordered_json show_token(const Config& config) {
    return config.admin->token.empty() ? show_nothing(config) : ordered_json("(secret)");
}

ordered_json show_certificates(const Config& config) {
    auto list = ordered_json::array();
    for (const auto& pair : config.tls->certificates)
        list.push_back({{"certificate", pair.certificate}, {"key", pair.key}});
    return list;
}

ordered_json show_admin_names(const Config& config) {
    return config.admin->names;
}

ordered_json show_connect_ports(const Config& config) {
    return config.forward.connect_ports;
}

ordered_json show_destinations(const Config& config) {
    const auto& forward = config.forward;
    if (forward.private_destinations == Destinations::listed)
        return forward.private_prefixes.texts();
    return forward.private_destinations == Destinations::deny ? "deny" : "allow";
}

ordered_json show_blocklists(const Config& config) {
    auto list = ordered_json::array();
    for (const auto& each : config.forward.blocklists)
        list.push_back({{"path", each.path},
                        {"format", to_string(each.format)},
                        {"action", to_string(each.action)}});
    return list;
}

ordered_json show_allowed_destinations(const Config& config) {
    return texts_of_patterns(config.forward.destinations.allow);
}

ordered_json show_denied_destinations(const Config& config) {
    return texts_of_patterns(config.forward.destinations.deny);
}

/// Without credentials.
ordered_json show_parents(const Config& config) {
    auto list = ordered_json::array();
    if (!config.forward.parents) return list;
    for (const auto& parent : config.forward.parents->servers)
        list.push_back(std::string(parent.tls ? "https://" : "http://") +
                       (parent.credentials.empty() ? "" : "(secret)@") + parent.place.text());
    return list;
}

ordered_json show_no_proxy(const Config& config) {
    return config.forward.no_proxy.texts;
}

ordered_json show_dropped(const Config& config) {
    return config.forwarded.drop;
}

ordered_json show_upgrade(const Config& config) {
    return config.protocols.upgrade;
}

ordered_json show_sites(const Config& config) {
    return origins_json(config.origins);
}

ordered_json show_rules(const Config& config) {
    return rules_json(config.rules);
}

ordered_json show_directories(const Config& config) {
    auto list = ordered_json::array();
    for (const auto& directory : config.cache.disk)
        list.push_back({{"path", directory.path}, {"size", format_size(directory.size)}});
    return list;
}

ordered_json show_keys(const Config& config) {
    return std::vector<std::string>(config.cluster->keys.size(), "(secret)");
}

ordered_json show_peers(const Config& config) {
    return peers_json(*config.cluster);
}

void check_certificates(ConfigContext&, ConfigSection& in, Config& out) {
    const auto has_pair = in.has("certificate") || in.has("key");
    if (!has_pair && (!out.tls->certificates.empty() || in.failed("certificates"))) return;
    in.require("certificate");
    in.require("key");
}

void check_token_for(ConfigContext&, ConfigSection& in, Config& out) {
    if (out.admin->token_for == TokenFor::all && !in.has("token"))
        in.fail("token_for", "\"all\" needs a token");
}

void check_proxy_protocol(ConfigContext&, ConfigSection& in, Config& out) {
    if (out.clients.proxy_protocol && !in.has("trusted_proxies"))
        in.fail("proxy_protocol", "needs trusted_proxies: who sends PROXY headers");
}

void check_blocklists(ConfigContext&, ConfigSection& in, Config& out) {
    const auto& forward = out.forward;
    if (!forward.blocklist_folder.empty() && !forward.blocklist_folder.starts_with('/') &&
        !in.failed("blocklist_folder"))
        in.fail("blocklist_folder", "must be an absolute path");
    if (!forward.blocklists.empty() && !forward.enabled)
        in.doubt("blocklists", "is not read, because forward.enabled is false");
}

void check_users(ConfigContext&, ConfigSection& in, Config& out) {
    if (in.has("users") && !in.failed("users") &&
        !out.forward.authentication->users.starts_with('/'))
        in.fail("users", "must be an absolute path");
}

void check_realm(ConfigContext&, ConfigSection& in, Config& out) {
    const auto& realm = out.forward.authentication->realm;
    if (realm.size() > kMaxRealmBytes ||
        !std::ranges::all_of(realm, [](char c) { return c >= 0x20 && c < 0x7f; }))
        in.fail("realm", "must be at most " + std::to_string(kMaxRealmBytes) +
                             " printable characters of ASCII");
}

void check_bandwidth(ConfigContext&, ConfigSection& in, Config& out) {
    const auto& limits = out.clients.limits;
    const auto is_low = [](const ClientAllowance& each) {
        return each.bandwidth > 0 && each.bandwidth < kMinBandwidth;
    };
    const auto& own = in.path("bandwidth") == "$.clients.limits.per_user.bandwidth"
                          ? limits.per_user
                          : limits.per_address;
    if (is_low(own))
        in.fail("bandwidth", "must be 0, which is no limit, or at least " +
                                 format_size(kMinBandwidth) + " per second");
}

void check_parents(ConfigContext&, ConfigSection& in, Config& out) {
    const auto& forward = out.forward;
    if (forward.parents && !forward.enabled)
        in.doubt("parent", "is not used, because forward.enabled is false");
    if (!forward.parents && !forward.no_proxy.texts.empty())
        in.doubt("no_proxy", "decides nothing without forward.parent");
}

/// A disk is there for large objects.
void raise_object_max(ConfigContext&, ConfigSection&, Config& out) {
    std::uint64_t on_disk = 0;
    for (const auto& directory : out.cache.disk) on_disk += directory.size;
    out.cache.object_max = std::max(out.cache.object_max, on_disk / 4);
}

void check_slice_from(ConfigContext&, ConfigSection& in, Config& out) {
    const auto most = out.cache.memory / 2;
    if (in.has("slice_from") && out.cache.slice_from > most)
        in.doubt("slice_from", "is never reached: what is larger than half of the memory, " +
                                   format_size(most) + ", is stored in blocks anyway");
}

void check_block(ConfigContext&, ConfigSection& in, Config& out) {
    const auto most = out.cache.memory / 2;
    for (const auto& [key, bytes] :
         {std::pair{"object_max", out.cache.object_max}, {"block", out.cache.block}})
        if (in.has(key) && out.cache.block > most && bytes > most)
            in.doubt(key, "is never reached: no block takes more than half of the memory, " +
                              format_size(most));
}

void choose_peer_lines(ConfigContext&, ConfigSection&, Config& out) {
    out.log.peers = out.log.format == AccessFormat::json;
}

void check_heads(ConfigContext&, ConfigSection& in, Config& out) {
    if (in.failed("request_line") || in.failed("head")) return;
    if (out.limits.request_line > out.limits.head)
        in.fail("request_line", "must not be above head");
}

void check_per_address(ConfigContext&, ConfigSection& in, Config& out) {
    if (out.limits.connections_per_address > out.limits.connections)
        in.doubt("connections_per_address", "is never reached: there are " +
                                                std::to_string(out.limits.connections) +
                                                " connections");
}

}  // namespace proxy::settings
