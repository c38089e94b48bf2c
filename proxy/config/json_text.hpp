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

/// The parser's message from `line N, column M` on.
std::string syntax_message(const nlohmann::json::exception& error);

}  // namespace proxy
