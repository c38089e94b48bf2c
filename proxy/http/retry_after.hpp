#pragma once

#include <chrono>
#include <optional>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {

/// The delay before the next request after this response (RFC 9110 §10.2.3), from its arrival
/// `now`. A date counts relative to the response's own Date, so clocks may differ. Returns nullopt
/// for other statuses than 429 and 503, and for a field that is absent, malformed or contradictory.
std::optional<std::chrono::seconds> retry_after(unsigned status, Fields response, WallTime now);

}  // namespace proxy
