#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proxy/config/config_section.hpp"

namespace proxy {

/// Objects and arrays in each other, more than any configuration or order needs. Deeper text would
/// cost memory and time out of proportion to its size.
inline constexpr std::size_t kMaxJsonDepth = 32;

/// Parses the JSON of a configuration or an order. A key that stands twice in one object is an
/// error with its path; the parser alone would keep the last. Throws nlohmann::json::exception if
/// `text` is no JSON, or deeper than kMaxJsonDepth (json::out_of_range).
nlohmann::json parse_json(std::string_view text, ConfigContext& context);

/// The reason why `text` is no JSON, from `line N, column M` on. Common causes have their own words
/// (a comment, a wrong number of commas, an early end); others have the parser's.
std::string syntax_message(const nlohmann::json::exception& error, std::string_view text);

}  // namespace proxy
