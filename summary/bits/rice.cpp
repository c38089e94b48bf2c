#include "summary/bits/rice.hpp"

#include <algorithm>
#include <cmath>

namespace summary {

unsigned rice_parameter(std::uint64_t count, std::uint64_t universe) {
    if (count == 0 || count >= universe) return 0;
    const auto density = static_cast<double>(count) / static_cast<double>(universe);
    const auto golden = std::log((std::sqrt(5.0) - 1) / 2);
    const auto ideal = 1 + std::floor(std::log2(golden / std::log1p(-density)));
    return static_cast<unsigned>(std::clamp(ideal, 0.0, double{kMaxRiceParameter}));
}

void append_varint(std::uint64_t value, std::vector<std::byte>& out) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
    out.push_back(static_cast<std::byte>(value));
}

std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes) {
    constexpr std::size_t kMaxBytes = 5;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < std::min(bytes.size(), kMaxBytes); ++i) {
        const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
        value |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            if (byte == 0 && i != 0) return std::nullopt;  // a shorter form exists
            bytes = bytes.subspan(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

}  // namespace summary
