#include "measure/study/cache_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

std::optional<double> parse_number(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    const bool plain = copy.find_first_not_of("0123456789.") == std::string::npos;
    if (copy.empty() || !plain || *end != '\0' || !std::isfinite(number)) return std::nullopt;
    return number;
}

}  // namespace

std::uint64_t CacheSize::of_each(std::uint64_t distinct_bytes, std::size_t proxies) const {
    if (part <= 0) return std::max<std::uint64_t>(bytes, 1);
    const double all = part * static_cast<double>(distinct_bytes);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(all / static_cast<double>(proxies)),
                                   1);
}

std::string CacheSize::text() const {
    return part > 0 ? part_text(part) : proxy::format_size(bytes);
}

std::optional<CacheSize> parse_cache_size(std::string_view text) {
    CacheSize out;
    if (text.ends_with('%')) {
        const auto percent = parse_number(text.substr(0, text.size() - 1));
        if (!percent || *percent <= 0) return std::nullopt;
        out.part = *percent / 100;
        return out;
    }
    const auto bytes = proxy::parse_size(text);
    if (!bytes || *bytes == 0) return std::nullopt;
    out.bytes = *bytes;
    return out;
}

std::optional<double> parse_part(std::string_view text) {
    const bool percent = text.ends_with('%');
    if (percent) text.remove_suffix(1);
    auto number = parse_number(text);
    if (number && percent) *number /= 100;
    if (!number || *number > 1) return std::nullopt;
    return number;
}

std::string part_text(double part) {
    return fmt::format("{:.6g}%", part * 100);
}

}  // namespace measure
