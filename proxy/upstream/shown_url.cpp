#include "proxy/upstream/shown_url.hpp"

#include "proxy/http/request_line.hpp"
#include "proxy/rewrite/mirror.hpp"

namespace proxy {
namespace {

std::string_view without_query(std::string_view url) {
    return url.substr(0, url.find('?'));
}

}  // namespace

std::string_view shown_url(const CacheKey& key, const SitePolicy& policy, std::string& scratch) {
    const auto is_unclear = policy.rule && policy.rule->name == RuleTable::kTwoReadings;
    if (is_unclear) return scratch = without_query(key.uri());
    return key.uri();
}

std::string shown_url_at_origin(const CacheKey& key, const SitePolicy& policy, bool by_location) {
    std::string scratch;
    const auto here = shown_url(key, policy, scratch);
    const auto query = by_location ? std::string_view() : here.substr(without_query(here).size());
    const auto url = policy.mirror ? policy.mirror->url_at_origin(key.path()) : std::string(here);
    return std::string(without_query(url)).append(query);
}

std::string shown_text(const RuleTable& rules, std::string_view url) {
    std::string scratch;
    const auto text = without_userinfo(url, scratch);
    if (rules.key_hash() == 0 || text.find('?') == std::string_view::npos) return std::string(text);
    CacheKey key;
    if (key.assign_url(text) != TargetError::none) return std::string(without_query(text));
    SitePolicy policy;
    policy.rule = rules.find("GET", key.host(), key.path());
    apply_key_rule(rules, key);
    return std::string(shown_url(key, policy, scratch));
}

}  // namespace proxy
