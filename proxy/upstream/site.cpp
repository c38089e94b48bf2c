#include "proxy/upstream/site.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "proxy/http/escape.hpp"
#include "proxy/http/path_readings.hpp"
#include "proxy/http/same_host.hpp"
#include "proxy/rewrite/url_prefix.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {
namespace {

/// `pattern`: `*`, `*.example.org` or a host.
bool is_host_of(std::string_view pattern, std::string_view host) {
    if (!pattern.starts_with('*')) return same_host(pattern, host);
    if (pattern.size() == 1) return true;
    std::string scratch;
    const auto name = canonical_host(host, scratch);
    const auto end = pattern.substr(1);  // with its dot
    return name.size() > end.size() && name.ends_with(end);
}

/// The first entry for the host, and for the path in this form.
const OriginConfig* match_origin(const std::vector<OriginConfig>& origins, std::string_view host,
                                 std::string_view path) {
    const auto found = std::ranges::find_if(origins, [&](const OriginConfig& origin) {
        return is_host_of(origin.host, host) && covers_path(origin.path, path);
    });
    return found == origins.end() ? nullptr : &*found;
}

/// Chooses the entry for every reading of the path, or says that there is no such one.
void choose_entry(const std::vector<OriginConfig>& origins, const CacheKey& key, Site& site) {
    const auto first = std::ranges::find_if(
        origins, [&](const OriginConfig& origin) { return is_host_of(origin.host, key.host()); });
    if (first == origins.end()) return;
    site.entry = &*first;
    if (first->path.empty()) return;
    const auto path = key.path().substr(0, key.path().find('?'));
    site.entry = match_origin(origins, key.host(), path);
    if (has_one_reading(path)) return;
    const PathReadings readings(path);
    site.entry = match_origin(origins, key.host(), readings.forms.front());
    const auto is_one =
        readings.complete && std::ranges::all_of(readings.forms, [&](const std::string& form) {
            return match_origin(origins, key.host(), form) == site.entry;
        });
    if (is_one) return;
    site.entry = nullptr;
    site.none = SiteRefusal::two_readings;
}

/// Why a target that no entry of `origins` matches has no site, if so.
std::optional<SiteRefusal> why_none(const Config& config, bool absolute_form) {
    if (!absolute_form)
        return config.origins.empty() && config.forward.enabled ? SiteRefusal::only_forward
                                                                : SiteRefusal::no_origin;
    if (!config.forward.enabled) return SiteRefusal::forward_disabled;
    return std::nullopt;
}

/// The registry that the query of `/v2/...` names, and the target without that parameter.
struct NamedRegistry {
    std::string registry, target;
};

/// Nothing: the query names none.
std::optional<NamedRegistry> registry_in(std::string_view target) {
    constexpr std::string_view kNs = "ns=";
    if (!target.starts_with("/v2/")) return std::nullopt;
    const auto begin = std::min(target.find('?'), target.size());
    std::optional<std::string_view> value;  // the first one counts
    NamedRegistry named{{}, std::string(target.substr(0, begin))};
    for (auto rest = target.substr(begin); !rest.empty();) {
        rest.remove_prefix(1);
        const auto one = rest.substr(0, rest.find('&'));
        if (!one.starts_with(kNs))
            named.target.append(named.target.size() == begin ? "?" : "&").append(one);
        else if (!value)
            value = one.substr(kNs.size());
        rest.remove_prefix(one.size());
    }
    auto registry = value ? percent_decoded(*value) : std::nullopt;
    if (!registry) return std::nullopt;
    named.registry = std::move(*registry);
    return named;
}

void apply(const Rule* for_get, CacheKey& key) {
    if (for_get && for_get->query.changes_key())
        key.replace_query(query_for_key(for_get->query, key.path()));
}

}  // namespace

CacheRules SitePolicy::rules() const {
    auto rules = cache->rules;
    rules.cdn_cache_control = rules.cdn_cache_control && acts_for_origin;
    if (rule) rules.rule = &rule->storing;
    return rules;
}

bool SitePolicy::takes_for_failure(unsigned status) const {
    return rule && std::ranges::binary_search(rule->storing.stale_on, status);
}

UpstreamRole Site::asked_server() const {
    if (!upstream.group) return UpstreamRole::origin;
    if (!(*upstream.group)->parents) return UpstreamRole::member;
    return tls ? UpstreamRole::tunnel : UpstreamRole::parent;
}

Site choose_site(const LoadedConfig& config, const CacheKey& key, bool absolute_form) {
    Site site;
    site.policy.cache = &config.cache;
    if (config.mirrors) site.policy.mirror = config.mirrors->find(key);
    if (site.policy.mirror)
        site.entry = &config.origins[site.policy.mirror->entry];
    else
        choose_entry(config.origins, key, site);
    if (site.entry) {
        site.policy.acts_for_origin = true;
        if (site.entry->group)
            site.upstream.group = &site.entry->group;
        else
            site.upstream.server = &site.entry->server;
        site.tls = site.entry->tls.has_value();
        return site;
    }
    if (!site.none) site.none = why_none(config, absolute_form);
    const auto& forward = config.forward;
    if (!site.none && forward.parents && !forward.no_proxy.contains(key.address()))
        site.upstream.group = &forward.parents;
    site.tls = !site.none && key.scheme() == Scheme::https;
    return site;
}

void follow_ns(const LoadedConfig& config, boost::beast::http::verb method, CacheKey& key,
               Site& site) {
    if (!config.mirrors || !config.mirrors->has_ns()) return;
    const auto* const here = site.policy.mirror;
    auto target = key.path();
    if (here) target.remove_prefix(std::min(here->here.path.size(), target.size()));
    const auto named = registry_in(target);
    if (!named) return;
    const auto* const mirror = config.mirrors->find_ns(named->registry);
    if (!mirror && site.entry && !(here && !here->ns.empty())) return;
    const auto* const cache = site.policy.cache;
    site = {};
    site.policy.cache = cache;
    site.none = SiteRefusal::unknown_registry;
    if (!mirror) return;
    const auto moved = mirror->here.path + named->target;
    if (key.assign(mirror->here.scheme, method, moved, mirror->here.authority) == TargetError::none)
        site = choose_site(config, key, true);
}

void choose_rule(const Config& config, std::string_view method, CacheKey& key, SitePolicy& policy,
                 RuleTable::HostMemo* memo) {
    if (config.rules.empty()) return;
    policy.rule = config.rules.find(method, key.host(), key.path(), memo);
    if (method == "GET" || method == "HEAD")
        apply(policy.rule, key);
    else
        apply_key_rule(config.rules, key);
}

void apply_key_rule(const RuleTable& rules, CacheKey& key) {
    if (rules.key_hash() != 0) apply(rules.find("GET", key.host(), key.path()), key);
}

std::optional<UpstreamTarget> target_of(const LoadedConfig& config, const Site& site,
                                        const CacheKey& key, const std::string& client) {
    if (site.none) return std::nullopt;
    UpstreamTarget target;
    if (site.entry) target.site = site.entry->name();
    if (site.upstream.server) {
        static_cast<HostPort&>(target) = *site.upstream.server;
    } else {
        target.host = key.address();
        target.port = key.port();
        target.on_clients_word = true;
        target.client = client;
    }
    if (site.tls) target.tls = config.trust->of(config, site.entry);
    if (site.upstream.group) {
        target.group = *site.upstream.group;
        if (!target.group->parents) {
            target.host = target.group->name;
            target.port = 0;
            target.on_clients_word = false;
            target.client.clear();
        }
        target.spread = std::hash<std::string_view>()(key.uri());
    }
    assert(!site.tls || target.tls);
    target.key = connection_key(target);
    return target;
}

KeptSite keep_site(std::shared_ptr<const LoadedConfig> config, const Site& site,
                   const CacheKey& key, const std::string& client) {
    auto target = target_of(*config, site, key, client);
    return {std::move(config), site, std::move(target)};
}

}  // namespace proxy
