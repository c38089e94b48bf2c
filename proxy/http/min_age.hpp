#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {

/// The field of a followed response with the strictest `min_age`, in seconds, of the rules for the
/// URLs that redirects led to. It stays with the response, in the store and at peers, because only
/// its fetch knew these URLs.
inline constexpr std::string_view kMinAgeField = "Hearsay-Min-Age";

/// Whether `rule`, or a response that it lets the node follow redirects for, may have a `min_age`.
inline bool may_judge_age(const Rule* rule) {
    return rule && (rule->min_age || rule->storing.follow_redirects);
}

/// Whether a response with this status to a request of this method may bring content that a GET
/// would bring. The answers to PUT and DELETE, and 201 and 202, speak of the request itself. Any
/// other method may, `get` among them, because some origins ignore the case of methods.
bool may_bring_content(std::string_view method, unsigned status);

/// The value of kFirstSeenField, in seconds since 1970; nullopt if it is absent or no such number.
std::optional<WallTime> stated_first_seen(Fields response);

/// The ETag that stands for the content of a response whose age counts from its first sight,
/// because its origin states no readable Last-Modified. Empty: the age does not count from there,
/// or nothing tells this content from another one at the URL.
std::string_view tag_of_first_sight(const Rule& rule, unsigned status, Fields response,
                                    WallTime now);

/// The reason, as a sentence for the client, why `rule` refuses a response as too young; nullopt if
/// it gives the response. The stricter of `rule` and kMinAgeField counts. The age counts from
/// Last-Modified, else from `first_seen`. Content without both is refused, so that content of
/// unknown age does not pass. Statuses without content pass.
std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now, std::optional<WallTime> first_seen);

}  // namespace proxy
