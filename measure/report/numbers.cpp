#include "measure/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace measure {

namespace {

constexpr int kMostDigits = 9;  // decimals: down to one billionth

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
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
        bytes /= 1024;
        ++unit;
    }
    const bool whole = unit == 0 || bytes == std::floor(bytes);
    const int digits = whole || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
    return fmt::format("{:.{}f} {}", bytes, digits, kUnits[unit]);
}

std::string use_text(double bytes, double whole) {
    double unit = 1;
    while (whole / unit >= 1024) unit *= 1024;
    return fmt::format("{:.{}f} of {}", bytes / unit, unit > 1 ? 2 : 0, size_text(whole));
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
