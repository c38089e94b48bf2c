#include "summary/filters/quotient_shape.hpp"

#include <algorithm>
#include <bit>

namespace summary {

bool is_valid(const QuotientShape& shape) {
    return shape.universe >= 1 && shape.universe <= kMaxUniverse && shape.remainder_bits >= 1 &&
           shape.remainder_bits <= kMaxRemainderBits && quotients(shape) <= kMaxQuotients &&
           quotients(shape) / 64 <= shape.capacity && shape.capacity >= 1 &&
           shape.capacity <= kMaxFingerprints;
}

QuotientShape quotient_shape(std::uint64_t universe, std::uint64_t capacity) {
    const auto each = std::max<std::uint64_t>(universe / std::max<std::uint64_t>(capacity, 1), 1);
    const auto bits = static_cast<unsigned>(std::bit_width(each)) - 1;
    return {universe, std::clamp(bits, 1U, kMaxRemainderBits), capacity};
}

}  // namespace summary
