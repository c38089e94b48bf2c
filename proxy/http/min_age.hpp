#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {

/// The value of kFirstSeenField, in seconds since 1970; nullopt if it is absent or no such number.
std::optional<WallTime> stated_first_seen(Fields response);

/// The ETag that stands for the content of a response whose age counts from its first sight,
/// because its origin states no readable Last-Modified. Empty: the age does not count from there,
/// or nothing tells this content from another one at the URL.
std::string_view tag_of_first_sight(const Rule& rule, unsigned status, Fields response,
                                    WallTime now);

/// The reason, as a sentence for the client, why `rule` refuses a response as too young; nullopt if
/// it gives the response. The age counts from Last-Modified, else from `first_seen`. Content
/// without both is refused, so that content of unknown age does not pass. Statuses without content
/// pass.
std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now, std::optional<WallTime> first_seen);

}  // namespace proxy
