#include "proxy/upstream/site.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "proxy/http/same_host.hpp"
#include "proxy/net/tls_contexts.hpp"
#include "proxy/rewrite/url_prefix.hpp"

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

const OriginConfig* match_origin(const std::vector<OriginConfig>& origins, const CacheKey& key) {
    std::string scratch;
    std::optional<std::string_view> path;
    for (const auto& origin : origins) {
        if (!is_host_of(origin.host, key.host())) continue;
        if (origin.path.empty()) return &origin;
        if (!path) path = path_for_rules(key.path(), scratch);
        if (covers_path(origin.path, *path)) return &origin;
    }
    return nullptr;
}

/// Why a target that no entry of `origins` matches has no site, if so.
std::optional<NoSite> why_none(const Config& config, bool absolute_form) {
    if (!absolute_form)
        return config.origins.empty() && config.forward.enabled ? NoSite::only_forward
                                                                : NoSite::no_origin;
    if (!config.forward.enabled) return NoSite::forward_disabled;
    return std::nullopt;
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

AskedServer Site::asked_server() const {
    if (!upstream.group) return AskedServer::origin;
    if (!(*upstream.group)->parents) return AskedServer::member;
    return trust ? AskedServer::tunnel : AskedServer::parent;
}

Site choose_site(const Config& config, const CacheKey& key, bool absolute_form) {
    Site site;
    site.policy.cache = &config.cache;
    if (config.mirrors) site.policy.mirror = config.mirrors->find(key);
    site.entry = site.policy.mirror ? &config.origins[site.policy.mirror->entry]
                                    : match_origin(config.origins, key);
    if (site.entry) {
        site.policy.acts_for_origin = true;
        if (site.entry->group)
            site.upstream.group = &site.entry->group;
        else
            site.upstream.server = &site.entry->server;
        if (site.entry->tls) site.trust = &site.entry->trust;
        return site;
    }
    site.none = why_none(config, absolute_form);
    const auto& forward = config.forward;
    if (!site.none && forward.parents && !forward.no_proxy.contains(key.address()))
        site.upstream.group = &forward.parents;
    if (!site.none && key.scheme() == Scheme::https) site.trust = &config.tls_contexts->forward;
    return site;
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

std::optional<UpstreamTarget> target_of(const Site& site, const CacheKey& key,
                                        const std::string& client) {
    if (site.none) return std::nullopt;
    UpstreamTarget target;
    if (site.entry) target.site = site.entry->host + site.entry->path;
    if (site.upstream.server) {
        static_cast<HostPort&>(target) = *site.upstream.server;
    } else {
        target.host = key.address();
        target.port = key.port();
        target.on_clients_word = true;
        target.client = client;
    }
    if (site.trust) target.tls = *site.trust;
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
    assert(!site.trust || target.tls);
    return target;
}

KeptSite keep_site(std::shared_ptr<const Config> config, const Site& site, const CacheKey& key,
                   const std::string& client) {
    return {std::move(config), site, target_of(site, key, client)};
}

}  // namespace proxy
