#include "measure/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace measure {

namespace {

constexpr int kMostDigits = 9;  // decimals: down to one billionth
constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};

std::size_t unit_of(double bytes) {
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < kUnits.size(); bytes /= 1024) ++unit;
    return unit;
}

std::string number_in(std::size_t unit, double bytes) {
    const auto value = bytes / std::pow(1024, static_cast<double>(unit));
    const bool whole = unit == 0 || value == std::floor(value);
    const int digits = whole || value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return fmt::format("{:.{}f}", value, digits);
}

}  // namespace

std::string grouped(std::uint64_t number) {
    std::string out = std::to_string(number);
    for (std::size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
    return out;
}

std::string amount(std::uint64_t number, std::string_view noun) {
    return grouped(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return ratio(part, whole) * 100;
}

std::string size_text(double bytes) {
    const auto unit = unit_of(bytes);
    return number_in(unit, bytes) + " " + kUnits.at(unit);
}

std::string use_text(double bytes, double whole) {
    const auto unit = unit_of(whole);
    const auto part = number_in(unit, bytes);
    const auto is_tiny = bytes > 0 && part.find_first_not_of("0.") == std::string::npos;
    return (is_tiny ? size_text(bytes) : part) + " of " + size_text(whole);
}

std::string fixed_text(double value, int digits) {
    const double scale = std::pow(10, digits);
    const double rounded = std::round(value * scale) / scale;
    return fmt::format("{:.{}f}", rounded == 0 ? 0 : rounded, digits);
}

std::string figure_text(double value) {
    if (value == 0) return "0";
    if (value < 0) return "-" + figure_text(-value);
    if (value < 0.001) {
        const auto digits = 1 + static_cast<int>(std::ceil(-std::log10(value)));
        return fmt::format("{:.{}f}", value, std::min(digits, kMostDigits));
    }
    if (value < 10) return fmt::format("{:.4f}", value);
    return value < 1000 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace measure
