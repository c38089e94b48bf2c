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

/// "950 B", "12.3 KiB", "64 MiB": powers of 1024, as settings have them.
std::string size_text(double bytes);

/// So many digits behind the point; what rounds to nothing has no sign.
std::string fixed_text(double value, int digits);

/// Small figures need their digits, large ones do not: "0.000012", "0.0123", "12.3", "1234".
std::string figure_text(double value);

}  // namespace measure
