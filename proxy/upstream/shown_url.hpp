#pragma once

#include <string>
#include <string_view>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

// URLs as people and their tools see them: access log, spans, most frequent URLs, `explain`. A URL
// may open its content to everybody who reads it. So user and password never show, and parameters
// that a rule leaves out of keys, such as signatures, do not show either. Any thread.

/// The URL of a request, after choose_rule(). A path that origins read in several ways shows no
/// query, as nobody knows the rule for it. `scratch` may hold the result.
std::string_view shown_url(const CacheKey& key, const SitePolicy& policy, std::string& scratch);

/// The URL that the origin gets for that request. `by_location`: an origin has named it, and its
/// query may be a signature that no rule knows.
std::string shown_url_at_origin(const CacheKey& key, const SitePolicy& policy, bool by_location);

/// A URL or target as a client wrote it, such as that of Referer. Where a rule changes keys, a text
/// that is no URL shows no query.
std::string shown_text(const RuleTable& rules, std::string_view url);

}  // namespace proxy
