#pragma once

#include <optional>
#include <string>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {

/// The reason, as a sentence for the client, why `rule` refuses a response as too young; nullopt if
/// it gives the response. The age counts from Last-Modified. A response without a readable one is
/// refused, so that content of unknown age does not pass. Statuses without content pass.
std::optional<std::string> why_too_young(const Rule& rule, unsigned status, Fields response,
                                         WallTime now);

}  // namespace proxy
