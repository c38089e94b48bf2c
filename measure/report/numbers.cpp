#include "measure/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace measure {

namespace {

constexpr int kMostDigits = 9;  // behind the point: one of a billion

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
    constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (bytes >= 10'000 && unit + 1 < std::size(kUnits)) {
        bytes /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string figure_text(double value) {
    if (value == 0) return "0";
    if (value > 0 && value < 0.001) {
        const auto digits = 1 + static_cast<int>(std::ceil(-std::log10(value)));
        return fmt::format("{:.{}f}", value, std::min(digits, kMostDigits));
    }
    if (value < 10) return fmt::format("{:.4f}", value);
    return value < 1000 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace measure
