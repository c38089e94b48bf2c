#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/explanation.hpp"

namespace proxy {

/// The URL that `?url=` of an admin request's target names, percent-encoded there; else a sentence
/// that says what is wrong.
std::variant<CacheKey, std::string> explained_url(std::string_view target);

std::string explanation_json(const Explanation& explanation);

}  // namespace proxy
