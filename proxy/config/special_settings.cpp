#include "proxy/config/special_settings.hpp"

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/config_peers.hpp"
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

/// Reports each element of the list under `key` with the file of an earlier one, because the file
/// identifies it in messages, pages and metrics. `places`: of files that others have.
template <class List, class Element>
void refuse_repeated(ConfigSection& in, std::string_view key, std::string_view member,
                     const List& list, std::string Element::*file,
                     std::map<std::string, std::string> places = {}) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if ((list[i].*file).empty()) continue;
        const auto element = std::string(key) + '[' + std::to_string(i) + ']';
        const auto [other, is_new] = places.emplace(list[i].*file, in.path(element));
        if (!is_new)
            in.fail(element + '.' + std::string(member), "is that of " + other->second + " again");
    }
}

/// Reads a list of HTTP tokens, with `what` a token has to be; `add` takes each. A token with `*`
/// would be taken for a pattern.
template <class Add>
void read_tokens(ConfigSection& in, std::string_view key, std::size_t most, std::string_view what,
                 const Add& add) {
    const auto elements = in.elements(key);
    for (const auto& [value, path] : elements) {
        const auto name = text_of(in.context(), *value, path);
        if (!name) continue;
        if (!is_token(*name) || name->find('*') != name->npos)
            in.context().fail(path, std::string("must be ").append(what));
        add(*name);
    }
    if (elements.size() > most)
        in.fail(key, "must have at most " + std::to_string(most) + " elements");
}

}  // namespace

void read_name(ConfigSection& in, std::string_view key, std::string& out) {
    if (in.has(key)) return read_node(in, key, out);
    in.take(key);
    out = boost::asio::ip::host_name();
    if (!is_token(out) || out.size() > kMaxNodeBytes)
        in.fail(key, "is missing, and the host's name (" + out + ") is not fit to be one");
}

void read_token(ConfigSection& in, std::string_view key, std::string& out) {
    const auto* given = in.take(key);
    const auto token = given ? secret_of(in.context(), *given, in.path(key)) : std::nullopt;
    if (!token) return;
    if (token->find_last_not_of(" \t\r\n") + 1 != token->size())
        in.fail(key, "ends in white space, or a line's end");
    else if (!is_bearer_token(*token))
        in.fail(key, "must be " + std::to_string(kMinTokenBytes) + " to " +
                         std::to_string(kMaxTokenBytes) +
                         " letters, digits, or of -._~+/, with = at its end");
    out = *token;
}

void read_admin_names(ConfigSection& in, std::string_view key, Texts& out) {
    const auto elements = in.elements(key);
    for (const auto& [value, path] : elements) {
        const auto name = text_of(in.context(), *value, path);
        if (!name) continue;
        Authority authority;
        if (parse_authority(*name, authority) != TargetError::none || authority.host != *name)
            in.context().fail(path, "must be a host name without a port");
        append_lower(out.emplace_back(), *name);
    }
    if (elements.size() > kMaxAdminNames)
        in.fail(key, "must have at most " + std::to_string(kMaxAdminNames) + " elements");
}

void read_ports(ConfigSection& in, std::string_view key, std::vector<std::uint16_t>& out) {
    if (in.has(key)) out.clear();
    for (const auto& [value, path] : in.elements(key)) {
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() == 0 ||
            value->get<std::uint64_t>() > 65535) {
            in.context().fail(path, "must be a port from 1 to 65535");
        } else {
            out.push_back(value->get<std::uint16_t>());
        }
    }
}

void read_destinations(ConfigSection& in, std::string_view key, ForwardConfig& forward) {
    if (const auto* value = in.take(key); value && value->is_array()) {
        forward.private_destinations = Destinations::listed;
        read_prefixes(in, key, forward.private_prefixes);
    } else if (const auto word = value ? in.text(key) : std::nullopt) {
        // A misspelt word gets no proposal, because one of the words opens everything.
        if (*word == "deny")
            forward.private_destinations = Destinations::deny;
        else if (*word == "allow")
            forward.private_destinations = Destinations::allow;
        else
            in.fail(key,
                    "must be \"deny\", \"allow\" or a list of prefixes, such as "
                    "[\"10.1.0.0/16\"]");
    }
}

void read_dropped(ConfigSection& in, std::string_view key, Texts& names) {
    if (in.has(key)) names.clear();
    read_tokens(in, key, kMaxDropped, "a field's name, such as X-Original-URL",
                [&](const std::string& name) { names.push_back(name); });
}

void read_upgrade(ConfigSection& in, std::string_view key, Texts& names) {
    if (in.has(key)) names.clear();
    read_tokens(in, key, kMaxUpgrades, "a protocol's name, such as websocket",
                [&](const std::string& name) { append_lower(names.emplace_back(), name); });
}

void read_keys(ConfigSection& in, std::string_view, Texts& keys) {
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
    for (const auto& [value, path] : found) {
        auto key = secret_of(in.context(), *value, path);
        if (!key) continue;
        if (key->size() < kMinKeyBytes) {
            in.context().fail(path, "must have at least " + std::to_string(kMinKeyBytes) +
                                        " bytes, has " + std::to_string(key->size()));
        } else if (std::find(keys.begin(), keys.end(), *key) != keys.end()) {
            in.context().fail(path, "is the same key again");
        }
        keys.push_back(std::move(*key));
    }
}

ordered_json show_nothing(const Texts&) {
    return ordered_json::value_t::discarded;
}

ordered_json show_token(const std::string& token) {
    return token.empty() ? show_nothing({}) : ordered_json("(secret)");
}

ordered_json show_destinations(const ForwardConfig& forward) {
    if (forward.private_destinations == Destinations::listed)
        return forward.private_prefixes.texts();
    return forward.private_destinations == Destinations::deny ? "deny" : "allow";
}

/// Without credentials.
ordered_json show_parents(const std::shared_ptr<const UpstreamGroupConfig>& parents) {
    auto list = ordered_json::array();
    if (!parents) return list;
    for (const auto& parent : parents->servers)
        list.push_back(std::string(parent.tls ? "https://" : "http://") +
                       (parent.credentials.empty() ? "" : "(secret)@") + parent.place.text());
    return list;
}

ordered_json show_no_proxy(const NoProxy& no_proxy) {
    return no_proxy.texts;
}

ordered_json show_disk(const std::vector<DiskConfig>& disk) {
    auto list = ordered_json::array();
    for (const auto& directory : disk)
        list.push_back({{"path", directory.path}, {"size", format_size(directory.size)}});
    return list;
}

ordered_json show_keys(const Texts& keys) {
    return Texts(keys.size(), "(secret)");
}

std::string fault_of_log_destination(const std::string& text) {
    return text.empty() ? "must be `off`, `stdout` or the path of a file" : std::string();
}

std::string fault_of_path(const std::string& path) {
    return path.starts_with('/') ? "" : "must be an absolute path";
}

void check_certificates(ConfigSection& in, Config& out) {
    std::map<std::string, std::string> places;
    if (!out.tls->certificate.empty()) places.emplace(out.tls->certificate, "$.tls");
    refuse_repeated(in, "certificates", "certificate", out.tls->certificates,
                    &CertificateFiles::certificate, places);
    const auto has_pair = in.has("certificate") || in.has("key");
    if (!has_pair && (!out.tls->certificates.empty() || in.failed("certificates"))) return;
    in.require("certificate");
    in.require("key");
}

void check_token_for(ConfigSection& in, Config& out) {
    if (out.admin->token_for == TokenFor::all && !in.has("token"))
        in.fail("token_for", "\"all\" needs a token");
}

void check_proxy_protocol(ConfigSection& in, Config& out) {
    if (out.clients.proxy_protocol && !in.has("trusted_proxies"))
        in.fail("proxy_protocol", "needs trusted_proxies: who sends PROXY headers");
}

void check_blocklists(ConfigSection& in, Config& out) {
    const auto& forward = out.forward;
    if (!forward.blocklist_folder.empty() && !forward.blocklist_folder.starts_with('/') &&
        !in.failed("blocklist_folder"))
        in.fail("blocklist_folder", "must be an absolute path");
    refuse_repeated(in, "blocklists", "path", forward.blocklists, &BlocklistConfig::path);
    if (!forward.blocklists.empty() && !forward.enabled)
        in.doubt("blocklists", "is not read, because forward.enabled is false");
}

void check_users(ConfigSection& in, Config& out) {
    if (in.has("users") && !in.failed("users") &&
        !out.forward.authentication->users.starts_with('/'))
        in.fail("users", "must be an absolute path");
}

void check_realm(ConfigSection& in, Config& out) {
    const auto& realm = out.forward.authentication->realm;
    if (realm.size() > kMaxRealmBytes ||
        !std::ranges::all_of(realm, [](char c) { return c >= 0x20 && c < 0x7f; }))
        in.fail("realm", "must be at most " + std::to_string(kMaxRealmBytes) +
                             " printable characters of ASCII");
}

namespace {

void check_least_bandwidth(ConfigSection& in, std::uint64_t given) {
    if (given > 0 && given < kMinBandwidth)
        in.fail("bandwidth", "must be 0, which is no limit, or at least " +
                                 format_size(kMinBandwidth) + " per second");
}

}  // namespace

void check_bandwidth(ConfigSection& in, Config& out) {
    const auto& limits = out.clients.limits;
    const auto& own = in.path("bandwidth") == "$.clients.limits.per_user.bandwidth"
                          ? limits.per_user
                          : limits.per_address;
    check_least_bandwidth(in, own.bandwidth);
}

void check_peer_bandwidth(ConfigSection& in, Config& out) {
    check_least_bandwidth(in, out.cluster->bandwidth);
}

void check_parents(ConfigSection& in, Config& out) {
    const auto& forward = out.forward;
    if (forward.parents && !forward.enabled)
        in.doubt("parent", "is not used, because forward.enabled is false");
    if (!forward.parents && !forward.no_proxy.texts.empty())
        in.doubt("no_proxy", "decides nothing without forward.parent");
}

/// A disk is there for large objects.
void raise_object_max(ConfigSection&, Config& out) {
    std::uint64_t on_disk = 0;
    for (const auto& directory : out.cache.disk) on_disk += directory.size;
    out.cache.object_max = std::max(out.cache.object_max, on_disk / 4);
}

void check_slice_from(ConfigSection& in, Config& out) {
    const auto most = out.cache.memory / 2;
    if (in.has("slice_from") && out.cache.slice_from > most)
        in.doubt("slice_from", "is never reached: what is larger than half of the memory, " +
                                   format_size(most) + ", is stored in blocks anyway");
}

void check_block(ConfigSection& in, Config& out) {
    const auto most = out.cache.memory / 2;
    for (const auto& [key, bytes] :
         {std::pair{"object_max", out.cache.object_max}, {"block", out.cache.block}})
        if (in.has(key) && out.cache.block > most && bytes > most)
            in.doubt(key, "is never reached: no block takes more than half of the memory, " +
                              format_size(most));
}

void choose_peer_lines(ConfigSection&, Config& out) {
    out.log.peers = out.log.format == AccessFormat::json;
}

void check_heads(ConfigSection& in, Config& out) {
    if (in.failed("request_line") || in.failed("head")) return;
    if (out.limits.request_line > out.limits.head)
        in.fail("request_line", "must not be above head");
}

void check_per_address(ConfigSection& in, Config& out) {
    if (out.limits.connections_per_address > out.limits.connections)
        in.doubt("connections_per_address", "is never reached: there are " +
                                                std::to_string(out.limits.connections) +
                                                " connections");
}

}  // namespace proxy::settings
