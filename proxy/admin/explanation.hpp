#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/explanation.hpp"

namespace proxy {

/// Decodes the percent-encoded URL in `?url=` of an admin request's target. Returns a sentence
/// about the error if there is one.
std::variant<CacheKey, std::string> explained_url(std::string_view target);

std::string explanation_json(const Explanation& explanation);

}  // namespace proxy
