#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proxy/config/config_section.hpp"

namespace proxy {

/// A configuration's or an order's JSON. A key that stands twice in one object, of which the parser
/// would keep the last, is reported with its path. Throws nlohmann::json::exception where `text` is
/// no JSON.
nlohmann::json parse_json(std::string_view text, ConfigContext& context);

/// Why `text` is no JSON, from `line N, column M` on: the cause where it is one of those that
/// people meet (a comment, a comma too many or too few, a file that ends too early), else what the
/// parser says.
std::string syntax_message(const nlohmann::json::exception& error, std::string_view text);

}  // namespace proxy
