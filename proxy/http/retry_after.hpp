#pragma once

#include <chrono>
#include <optional>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {

/// How long not to ask again after this answer (RFC 9110 §10.2.3), counted from `now`, when it
/// came. A date is taken by the difference to the answer's own Date, so clocks need not agree. None
/// for an answer that is no 429 or 503, and where the field is absent, malformed or contradicts
/// itself.
std::optional<std::chrono::seconds> retry_after(unsigned status, Fields response, WallTime now);

}  // namespace proxy
