#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace measure {

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);
/// 1 -> "1 peer", 2000 -> "2,000 peers".
std::string amount(std::uint64_t number, std::string_view noun);

/// Returns part / whole, or 0 if `whole` is 0.
double ratio(std::uint64_t part, std::uint64_t whole);
/// The same in percent.
double percent(std::uint64_t part, std::uint64_t whole);

/// "950 B", "12.3 KiB", "64 MiB": powers of 1024, as in settings.
std::string size_text(double bytes);
/// "1.20 of 4 GiB": both in the unit of the whole.
std::string use_text(double bytes, double whole);

/// Formats a number with so many decimals. A value that rounds to zero loses its sign.
std::string fixed_text(double value, int digits);

/// Formats a number with as many digits as its size deserves: "0.000012", "0.0123", "12.3", "1234".
std::string figure_text(double value);

}  // namespace measure
