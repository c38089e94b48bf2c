#include "proxy/upstream/redirected_request.hpp"

#include <utility>

#include "proxy/access/judge_destination.hpp"
#include "proxy/blocklists/blocklists.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"

namespace proxy {
namespace {

/// The site of a target on another host than the first. Its upstream is unset where the node does
/// not follow.
KeptSite site_of_redirect(const RequestSnapshot& asks, const CacheKey& target) {
    const auto& config = asks.config();
    auto site = choose_site(config, target, true);
    KeptSite kept{asks.kept.config, site, std::nullopt};
    const auto serves_all = site.of_entry() && site.entry->host == "*";
    if (site.of_entry() && !serves_all) {
        kept.origin = target_of(config, site, target);
        return kept;
    }
    if (!config.rules.names_host(target.host())) return kept;
    site = Site{};
    site.policy.cache = &config.cache;
    site.tls = target.scheme() == Scheme::https;
    const auto& forward = config.forward;
    if (forward.parents && !forward.no_proxy.contains(target.address()))
        site.upstream.group = &forward.parents;
    kept.site = site;
    // The host that redirects may name many others; it has one share of the look-ups.
    kept.origin = target_of(config, site, target, std::string(asks.key.host()));
    return kept;
}

/// The rule of the target keeps its content out of the store, or for each client apart, so it is
/// not stored for all under the first URL either.
bool keeps_out_of_store(const RequestSnapshot& asks, const CacheKey& target) {
    const auto* const rule = asks.config().rules.find("GET", target.host(), target.path());
    return rule && (rule->bypass || (rule->storing.authorize && !asks.policy().authorizes_each()));
}

}  // namespace

std::shared_ptr<const RequestSnapshot> redirected_request(const RequestSnapshot& asks,
                                                          const CacheKey& target,
                                                          const Blocklists* lists) {
    const auto chosen = choose_site(asks.config(), target, true);
    const auto is_of_host = is_same_origin(asks.url_at_origin(), target);
    const auto is_same =
        is_of_host && (chosen.entry == asks.kept.site.entry || asks.policy().mirror);
    auto of_first = asks.kept;
    of_first.site.policy.mirror = nullptr;  // `target` is a URL at the origin
    auto site = is_same      ? of_first
                : is_of_host ? keep_site(asks.kept.config, chosen, target)
                             : site_of_redirect(asks, target);
    if (!site.origin) return nullptr;
    const auto& config = asks.config();
    const auto is_refused =
        (lists && lists->find(target.host(), target.path()).refused) ||
        !why_not_destination(config.forward.destinations, target.host(), target.port()).empty();
    if (is_refused && !site.site.of_entry()) return nullptr;
    if (keeps_out_of_store(asks, target)) return nullptr;
    Head head;
    head.method = "GET";
    head.version = asks.version;
    const auto& edits = asks.policy().rule->request_fields;
    const auto is_new = [&](const Field& line) {
        auto found = false;
        edits.each_new([&](const std::string& name, const std::string&) {
            found = found || iequals(name, line.name);
        });
        return found;
    };
    for (const auto& line : asks.fields)
        if (is_same || (may_go_to_another_host(line) && !is_new(line))) head.fields.push_back(line);
    auto next = std::make_shared<RequestSnapshot>(head, target, true, std::move(site));
    next->trace = asks.trace;
    next->of_redirect = true;
    if (is_same) next->trace_lines = asks.trace_lines;
    return next;
}

std::string key_by_rules(const RequestSnapshot& asks, const CacheKey& url) {
    auto key = url;
    apply_key_rule(asks.config().rules, key);
    return std::string(key.uri());
}

}  // namespace proxy
