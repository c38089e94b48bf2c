#include "proxy/config/config_values.hpp"

#include "proxy/http/cache_key.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace proxy {

namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// Largest first: formatting takes the first that divides.
constexpr std::array kDurationUnits{
    Unit{"d", 86'400'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},
    Unit{"us", 1'000},
    Unit{"ns", 1},
};
constexpr std::array kSizeUnits{
    Unit{"TiB", 1ull << 40},
    Unit{"GiB", 1ull << 30},
    Unit{"MiB", 1ull << 20},
    Unit{"KiB", 1ull << 10},
    Unit{"TB", 1'000'000'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"MB", 1'000'000},
    Unit{"KB", 1'000},
    Unit{"B", 1},
};

/// The largest value taken, so that sums of a few never overflow.
constexpr double kMaxValue = 4.0e18;

std::optional<std::uint64_t> whole(double value) {
    if (!(value >= 0) || value > kMaxValue) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(value));
}

/// digits [ "." digits ] unit
std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
    const auto number = text.substr(0, text.find_first_not_of("0123456789."));
    if (number.empty() || number.front() == '.' || number.back() == '.') return std::nullopt;
    double value = 0;
    const auto end = number.data() + number.size();
    const auto [stopped, error] =
        std::from_chars(number.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || stopped != end) return std::nullopt;
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
        return candidate.name == text.substr(number.size());
    });
    if (unit == units.end()) return std::nullopt;
    return whole(value * static_cast<double>(unit->factor));
}

std::string format_quantity(std::uint64_t value, std::span<const Unit> units) {
    for (const auto& unit : units) {
        if (value != 0 && value % unit.factor == 0) {
            return std::to_string(value / unit.factor).append(unit.name);
        }
    }
    return std::to_string(value).append(units.back().name);
}

/// `TiB, GiB, MiB`
std::string names_of(std::span<const Unit> units) {
    std::string out;
    for (const auto& unit : units) out.append(out.empty() ? "" : ", ").append(unit.name);
    return out;
}

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && letter(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    const auto value = parse_quantity(text, kDurationUnits);
    if (!value) return std::nullopt;
    return std::chrono::nanoseconds(*value);
}

std::optional<std::chrono::nanoseconds> duration_of_seconds(double seconds) {
    const auto value = whole(seconds * 1e9);
    if (!value) return std::nullopt;
    return std::chrono::nanoseconds(*value);
}

std::string format_duration(std::chrono::nanoseconds duration) {
    if (duration.count() == 0) return "0s";
    return format_quantity(static_cast<std::uint64_t>(duration.count()), kDurationUnits);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    return parse_quantity(text, kSizeUnits);
}

std::string format_size(std::uint64_t bytes) {
    return format_quantity(bytes, kSizeUnits);
}

std::string size_units() {
    return names_of(kSizeUnits);
}

std::string duration_units() {
    return names_of(kDurationUnits);
}

std::optional<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port) {
    Authority authority;
    if (parse_authority(text, authority) != TargetError::none) return std::nullopt;
    const auto port = authority.port == 0 ? default_port : authority.port;
    if (port == 0) return std::nullopt;
    return HostPort{std::string(authority.address()), port};
}

Expansion expand_environment(std::string_view text, const Environment& environment) {
    Expansion out;
    for (auto rest = text; !rest.empty();) {
        const auto dollar = rest.find("${");
        if (dollar == std::string_view::npos) {
            out.text.append(rest);
            break;
        }
        if (dollar > 0 && rest[dollar - 1] == '$') {
            out.text.append(rest.substr(0, dollar - 1)).append("${");
            rest.remove_prefix(dollar + 2);
            continue;
        }
        out.text.append(rest.substr(0, dollar));
        rest.remove_prefix(dollar + 2);
        const auto close = rest.find('}');
        const std::string name(rest.substr(0, close));
        if (close == std::string_view::npos || !is_variable_name(name)) {
            out.error = "malformed ${NAME}; write $${ for the two characters themselves";
            return out;
        }
        const auto value = environment(name);
        if (!value) {
            out.error = "environment variable " + name +
                        " is not set: export it, or put it into the service's file of environment "
                        "variables";
            return out;
        }
        out.text.append(*value);
        rest.remove_prefix(close + 1);
    }
    return out;
}

bool has_bare_variable(std::string_view text) {
    constexpr std::size_t kShortest = 3;
    for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
        const auto rest = text.substr(at + 1);
        const auto name =
            rest.substr(0, rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"));
        if (name.size() >= kShortest && is_variable_name(name)) return true;
    }
    return false;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
    std::iota(previous.begin(), previous.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1,
                               previous[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, previous);
        std::swap(previous, row);
    }
    return previous[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string> known) {
    constexpr std::size_t kLeastBeginning = 3;
    constexpr std::size_t kLongestName = 64;  // the distance takes time a * b
    if (name.size() > kLongestName) return {};
    std::string_view nearest;
    std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const auto& candidate : known) {
        const auto distance = edit_distance(name, candidate);
        if (distance < best && distance < candidate.size()) {
            best = distance;
            nearest = candidate;
        }
    }
    if (!nearest.empty()) return nearest;
    for (const auto& candidate : known) {
        const auto shorter = std::min(name.size(), candidate.size());
        if (shorter >= kLeastBeginning &&
            name.substr(0, shorter) == std::string_view(candidate).substr(0, shorter))
            return candidate;  // `warning` for `warn`, `mem` for `memory`
    }
    return nearest;
}

}  // namespace proxy
