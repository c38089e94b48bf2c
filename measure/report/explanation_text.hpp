#pragma once

#include <string>
#include <string_view>

namespace measure {

/// Formats the answer of GET /api/v1/explain for people. For any other JSON it returns an empty
/// string and puts the reason into `why`.
std::string explanation_text(std::string_view json, std::string& why);

/// Encodes a parameter of a query: all characters but letters, digits and `-._~` become %XX.
std::string percent_encoded(std::string_view text);

}  // namespace measure
