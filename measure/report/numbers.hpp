#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace measure {

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);
/// 1 -> "1 peer", 2000 -> "2,000 peers".
std::string amount(std::uint64_t number, std::string_view noun);

/// part / whole; 0 when there is no whole.
double ratio(std::uint64_t part, std::uint64_t whole);
/// The same in %.
double percent(std::uint64_t part, std::uint64_t whole);

/// "950 B", "12.3 kB": powers of 1000.
std::string size_text(double bytes);

/// Small figures need their digits, large ones do not: "0.000012", "0.0123", "12.3", "1234".
std::string figure_text(double value);

}  // namespace measure
