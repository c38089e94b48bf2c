#pragma once

#include <string>
#include <string_view>

namespace measure {

/// What GET /api/v1/explain says, for people; empty when it is not that, and `why` says so.
std::string explanation_text(std::string_view json, std::string& why);

/// As a parameter of a request's query: all but letters, digits and `-._~` as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace measure
