#include "proxy/config/config_origins.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/config/config_values.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/path_readings.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/http/same_host.hpp"
#include "proxy/rewrite/mirror.hpp"
#include "proxy/rewrite/url_prefix.hpp"

namespace proxy {
namespace {

constexpr std::string_view kOriginUrl = "must be http[s]://host or http[s]://host:port";
constexpr std::string_view kRewrites = "must be \"location\", \"links\" or \"xet\"";
constexpr auto kOneDay = std::chrono::hours(24);

std::string_view why_no_prefix(PrefixFault fault) {
    switch (fault) {
        case PrefixFault::no_url:
            break;
        case PrefixFault::query:
            return "must have no query";
        case PrefixFault::path:
            return "must have a path of letters, digits and / - . _ ~, without dot segments and "
                   "empty ones";
    }
    return "must be http[s]://host[:port], with or without a path";
}

/// The members of a mirror. They come first, as they decide about the form of `url`.
void read_public(ConfigSection& in, OriginConfig& out) {
    if (const auto url = in.text("public")) {
        auto fault = PrefixFault::no_url;
        auto prefix = parse_url_prefix(*url, fault);
        if (!prefix) in.fail("public", std::string(why_no_prefix(fault)));
        out.mirror.emplace();
        if (prefix) out.mirror->url = std::move(*prefix);
    }
    PublicConfig read;
    if (in.has("rewrite")) read.location = false;
    for (const auto& [value, path] : in.elements("rewrite")) {
        const auto word = value->is_string() ? value->get<std::string>() : std::string();
        if (word == "location")
            read.location = true;
        else if (word == "links")
            read.links = true;
        else if (word == "xet")
            read.xet = true;
        else
            in.context().fail(path, std::string(kRewrites));
    }
    in.read_size("rewrite_up_to", read.rewrite_up_to, 1, kMaxRewrite);
    if (const auto ns = in.text("ns")) {
        Authority authority;
        append_lower(read.ns, *ns);
        if (parse_authority(*ns, authority) != TargetError::none || read.ns != *ns)
            in.fail("ns", "must be a registry as images are named by it, such as docker.io");
    }
    if (!out.mirror) {
        for (const auto* key : {"rewrite", "rewrite_up_to", "ns"})
            if (in.has(key) && !in.has("public"))
                in.fail(key, "is for an entry with public: give the URL that clients use");
        return;
    }
    if (in.has("rewrite_up_to") && !read.links)
        in.doubt("rewrite_up_to", "decides nothing without \"links\" in rewrite");
    if (read.xet && !read.links) in.fail("rewrite", "with xet needs links, too");
    out.mirror->location = read.location;
    out.mirror->links = read.links;
    out.mirror->xet = read.xet;
    out.mirror->rewrite_up_to = read.rewrite_up_to;
    out.mirror->ns = std::move(read.ns);
}

/// http[s]://host[:port][/], and with `public` a path.
std::optional<UpstreamServer> server_of(ConfigContext& context, const std::string& url,
                                        const std::string& path, OriginConfig& out) {
    CacheKey target;
    const auto error = target.assign_url(url);
    auto why = error == TargetError::none ? std::string(", without a path unless public is given")
                                          : ": " + std::string(to_string(error));
    if (error != TargetError::none || (target.path() != "/" && !out.mirror)) {
        context.fail(path, std::string(kOriginUrl) + why);
        return std::nullopt;
    }
    if (out.mirror) {
        auto fault = PrefixFault::no_url;
        auto prefix = parse_url_prefix(url, fault);
        if (!prefix) {
            context.fail(path, std::string(why_no_prefix(fault)));
            return std::nullopt;
        }
        out.mirror->path = std::move(prefix->path);
    }
    UpstreamServer server;
    server.place = {std::string(target.address()), target.port()};
    server.tls = target.scheme() == Scheme::https;
    server.mark = mark_of_server(server.place.text());
    return server;
}

void read_origin_url(ConfigSection& in, OriginConfig& out) {
    const auto url = in.text("url");
    if (!url) return;
    const auto server = server_of(in.context(), *url, in.path("url"), out);
    if (!server) return;
    out.server = server->place;
    if (server->tls) out.tls.emplace();
}

void read_servers(ConfigSection& in, OriginConfig& site, UpstreamGroupConfig& out) {
    const auto elements = in.elements("upstreams");
    for (const auto& [value, path] : elements) {
        ConfigSection one(in.context(), *value, path);
        one.require("url");
        const auto url = one.text("url");
        const auto former = site.mirror ? site.mirror->path : std::string();
        auto server = url ? server_of(in.context(), *url, one.path("url"), site) : std::nullopt;
        unsigned weight = 1;
        one.read("weight", weight, 1u, kMaxUpstreamWeight);
        auto backup = false;
        one.read("backup", backup);
        one.done();
        if (!server) continue;
        server->weight = weight;
        server->backup = backup;
        const auto is_known = [&](const UpstreamServer& other) {
            return other.mark == server->mark;
        };
        if (std::ranges::any_of(out.servers, is_known))
            in.context().fail(one.path("url"), "is the same server again");
        if (!out.servers.empty() && out.servers.front().tls != server->tls)
            in.context().fail(one.path("url"),
                              "must have the scheme of the first one: all http or all https");
        if (!out.servers.empty() && site.mirror && site.mirror->path != former)
            in.context().fail(one.path("url"), "must have the path of the first one");
        out.servers.push_back(std::move(*server));
    }
    if (elements.empty() || elements.size() > kMaxUpstreams)
        in.fail("upstreams", "must be 1 to " + std::to_string(kMaxUpstreams) + " servers");
    const auto is_backup = [](const UpstreamServer& server) { return server.backup; };
    if (!out.servers.empty() && std::ranges::all_of(out.servers, is_backup))
        in.fail("upstreams", "must have a server that is no backup");
}

/// `200`, or `2xx`, or `200-399`.
std::optional<std::pair<unsigned, unsigned>> statuses_of(const nlohmann::json& value) {
    const auto is_status = [](unsigned status) { return status >= 100 && status <= 599; };
    if (value.is_number_unsigned()) {
        const auto status = value.get<std::uint64_t>();
        if (status < 100 || status > 599) return std::nullopt;
        return std::pair{static_cast<unsigned>(status), static_cast<unsigned>(status)};
    }
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() == 3 && text.ends_with("xx") && text[0] >= '1' && text[0] <= '5') {
        const auto hundreds = static_cast<unsigned>(text[0] - '0') * 100;
        return std::pair{hundreds, hundreds + 99};
    }
    unsigned low = 0, high = 0;
    const auto* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, low);
    const auto is_single = first.ptr == end;
    if (is_single) high = low;
    if (first.ec != std::errc() || (!is_single && *first.ptr != '-')) return std::nullopt;
    if (!is_single && std::from_chars(first.ptr + 1, end, high).ptr != end) return std::nullopt;
    if (!is_status(low) || !is_status(high) || low > high) return std::nullopt;
    return std::pair{low, high};
}

void read_health(ConfigSection& entry, HealthCheck& out) {
    auto in = entry.section("health");
    if (!in) return;
    in->require("path");
    if (const auto path = in->text("path")) {
        const auto is_clean =
            std::ranges::all_of(*path, [](unsigned char c) { return c > 0x20 && c != 0x7f; });
        if (!path->starts_with('/') || !is_clean)
            in->fail("path", "must begin with / and have no spaces");
        out.path = *path;
    }
    in->read("every", out.every, std::chrono::milliseconds(100), kOneDay);
    out.timeout = std::min(out.timeout, out.every);
    in->read("timeout", out.timeout, std::chrono::milliseconds(10), kOneDay);
    if (out.timeout > out.every) in->fail("timeout", "must be at most every");
    if (in->has("expect")) out.expect.clear();
    for (const auto& [value, path] : in->elements("expect")) {
        if (const auto range = statuses_of(*value))
            out.expect.push_back(*range);
        else
            entry.context().fail(path,
                                 "must be a status such as 200, or a range such as \"2xx\" or "
                                 "\"200-399\"");
    }
    if (in->has("expect") && out.expect.empty() && !in->failed("expect"))
        in->fail("expect", "must have a status");
    in->done();
}

/// The members that only a group has.
void read_group(ConfigSection& in, OriginConfig& out) {
    UpstreamGroupConfig group;
    group.name = out.name();
    if (in.has("upstreams"))
        read_servers(in, out, group);
    else
        in.take("upstreams");
    if (const auto word = in.choice("balance", kBalanceNames))
        group.balance = static_cast<Balance>(*word);
    read_health(in, group.health);
    in.read("slow_start", group.slow_start, std::chrono::nanoseconds(0), kOneDay);
    if (in.has("url") == in.has("upstreams"))
        return in.fail("url", in.has("url") ? "give either url or upstreams, not both"
                                            : "missing: give url or upstreams");
    if (!in.has("upstreams")) {
        for (const auto* key : {"balance", "health", "slow_start"})
            if (in.has(key)) in.fail(key, "is for a group: give upstreams in place of url");
        return;
    }
    if (group.servers.empty()) return;
    if (group.servers.size() == 1) {
        if (in.has("balance")) in.doubt("balance", "decides nothing with one server");
        if (group.servers.front().weight != 1)
            in.doubt("upstreams[0].weight", "decides nothing with one server");
    }
    if (group.servers.front().tls) out.tls.emplace();
    out.group = std::make_shared<const UpstreamGroupConfig>(std::move(group));
}

bool is_origin_host(std::string_view host) {
    if (host == "*") return true;
    if (host.starts_with("*.")) host.remove_prefix(2);
    Authority authority;
    return host.find('*') == std::string_view::npos &&
           parse_authority(host, authority) == TargetError::none && authority.host == host;
}

void read_origin_path(ConfigSection& in, OriginConfig& out) {
    const auto path = in.text("path");
    if (!path) return;
    std::string scratch;
    const auto normal = path_for_rules(*path, scratch);
    if (!path->starts_with('/') || path->find_first_of("?*# ") != std::string::npos)
        return in.fail("path", "must be the start of a path, such as /api/, without * and query");
    if (normal != *path)
        return in.fail(
            "path", "never matches, as paths compare in normal form; write " + std::string(normal));
    if (*path != "/") out.path = *path;
}

void read_origin_tls(ConfigSection& in, std::optional<OriginTlsConfig>& out) {
    auto tls = in.section("tls");
    if (!tls) return;
    if (!out && !in.failed("url") && !in.failed("upstreams"))
        in.fail("tls", "is only for a url that begins with https://");
    OriginTlsConfig read;
    tls->read("verify", read.verify);
    if (const auto ca = tls->text("ca")) {
        if (ca->empty()) tls->fail("ca", "must be a file or a directory");
        read.ca = *ca;
    }
    if (const auto name = tls->text("name")) {
        Authority authority;
        if (parse_authority(*name, authority) != TargetError::none || authority.host != *name)
            tls->fail("name", "must be a host name without a port");
        read.name = *name;
    }
    tls->done();
    if (out) out = std::move(read);
}

}  // namespace

void read_origins(ConfigSection& root, std::string_view key, std::vector<OriginConfig>& out) {
    for (const auto& [value, path] : root.elements(key)) {
        ConfigSection in(root.context(), *value, path);
        OriginConfig origin;
        in.require("host");
        if (const auto host = in.text("host")) {
            if (!is_origin_host(*host))
                in.fail("host",
                        "must be a host name without a port, \"*.\" and such a name, or \"*\"");
            append_lower(origin.host, *host);
        }
        const auto is_known = [&](const OriginConfig& other) {
            return other.mirror && origin.mirror && other.mirror->url == origin.mirror->url;
        };
        read_origin_path(in, origin);
        read_public(in, origin);
        read_origin_url(in, origin);
        read_group(in, origin);
        read_origin_tls(in, origin.tls);
        if (!in.failed("public") && std::ranges::any_of(out, is_known))
            in.fail("public", "is the public URL of another entry, too; give each its own path");
        const auto has_its_ns = [&](const OriginConfig& other) {
            return other.mirror && origin.mirror && other.mirror->ns == origin.mirror->ns;
        };
        if (origin.mirror && !origin.mirror->ns.empty() && std::ranges::any_of(out, has_its_ns))
            in.fail("ns", "is that of another entry, too; a registry has one entry");
        if (origin.mirror && origin.group && origin.host.starts_with('*'))
            in.fail("host", "must be the origin's name, as upstreams have no name of their own");
        in.done();
        out.push_back(std::move(origin));
    }
}

std::shared_ptr<const MirrorTable> mirrors_of(const std::vector<OriginConfig>& origins) {
    std::vector<Mirror> mirrors;
    for (std::size_t i = 0; i < origins.size(); ++i) {
        const auto& origin = origins[i];
        if (!origin.mirror) continue;
        Mirror mirror;
        mirror.here = origin.mirror->url;
        mirror.origin.scheme = origin.tls ? Scheme::https : Scheme::http;
        mirror.origin.path = origin.mirror->path;
        const auto& server = origin.group ? origin.group->servers.front().place : origin.server;
        auto place = server.text();
        if (server.port == default_port(mirror.origin.scheme)) place.resize(place.rfind(':'));
        const auto has_name = !origin.host.starts_with('*') &&
                              !same_host(Authority{origin.host}.address(), server.host);
        mirror.origin.authority = has_name ? origin.host : place;
        if (has_name) mirror.other_names.push_back(std::move(place));
        mirror.location = origin.mirror->location;
        mirror.links = origin.mirror->links;
        mirror.xet = origin.mirror->xet;
        mirror.up_to = origin.mirror->rewrite_up_to;
        mirror.ns = origin.mirror->ns;
        mirror.entry = i;
        mirrors.push_back(std::move(mirror));
    }
    return mirrors.empty() ? nullptr : std::make_shared<const MirrorTable>(std::move(mirrors));
}

nlohmann::ordered_json origins_json(const std::vector<OriginConfig>& origins) {
    using nlohmann::ordered_json;
    auto list = ordered_json::array();
    for (const auto& origin : origins) {
        const auto url_of = [&](const HostPort& place) {
            return (origin.tls ? "https://" : "http://") + place.text() +
                   (origin.mirror ? origin.mirror->path : "");
        };
        ordered_json entry{{"host", origin.host}};
        if (!origin.path.empty()) entry["path"] = origin.path;
        if (!origin.group) entry["url"] = url_of(origin.server);
        if (origin.group) {
            const auto& group = *origin.group;
            auto servers = ordered_json::array();
            for (const auto& server : group.servers)
                servers.push_back({{"url", url_of(server.place)},
                                   {"weight", server.weight},
                                   {"backup", server.backup}});
            entry["upstreams"] = std::move(servers);
            entry["balance"] = kBalanceNames.at(static_cast<std::size_t>(group.balance));
            entry["slow_start"] = format_duration(group.slow_start);
            if (!group.health.path.empty()) {
                auto expect = ordered_json::array();
                for (const auto& [low, high] : group.health.expect)
                    expect.push_back(std::to_string(low) + "-" + std::to_string(high));
                entry["health"] = {{"path", group.health.path},
                                   {"every", format_duration(group.health.every)},
                                   {"timeout", format_duration(group.health.timeout)},
                                   {"expect", std::move(expect)}};
            }
        }
        if (origin.mirror) {
            entry["public"] = origin.mirror->url.text();
            entry["rewrite"] = ordered_json::array();
            if (origin.mirror->location) entry["rewrite"].push_back("location");
            if (origin.mirror->links) entry["rewrite"].push_back("links");
            if (origin.mirror->xet) entry["rewrite"].push_back("xet");
            entry["rewrite_up_to"] = format_size(origin.mirror->rewrite_up_to);
            if (!origin.mirror->ns.empty()) entry["ns"] = origin.mirror->ns;
        }
        if (origin.tls) {
            entry["tls"] = {{"verify", origin.tls->verify}};
            if (!origin.tls->ca.empty()) entry["tls"]["ca"] = origin.tls->ca;
            if (!origin.tls->name.empty()) entry["tls"]["name"] = origin.tls->name;
        }
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace proxy
