#pragma once

#include <cstdint>

#include "summary/fingerprint.hpp"
#include "summary/shape.hpp"

namespace summary {

/// A quotient filter's size. A fingerprint's upper part is its quotient, which says where it
/// stands; the low `remainder_bits` are stored.
struct QuotientShape {
    std::uint64_t universe = 0;  // fingerprints are below this
    unsigned remainder_bits = 0;
    std::uint64_t capacity = 0;  // how many fingerprints it is made for

    bool operator==(const QuotientShape&) const = default;
};

inline constexpr unsigned kMaxRemainderBits = 32;
inline constexpr std::uint64_t kMaxQuotients = kMaxBits;
inline constexpr std::uint64_t kMaxFingerprints = std::uint64_t{1} << 30;

/// How many quotients there are.
constexpr std::uint64_t quotients(const QuotientShape& shape) {
    return ((shape.universe - 1) >> shape.remainder_bits) + 1;
}

/// How many fingerprints fit: a sixteenth more than it is made for.
constexpr std::uint64_t most_fingerprints(const QuotientShape& shape) {
    return shape.capacity + shape.capacity / 16 + 16;
}

/// False for shapes that the filter does not take; ask it of every shape that comes from outside.
bool is_valid(const QuotientShape& shape);

/// The shape that takes least memory for so many fingerprints.
QuotientShape quotient_shape(std::uint64_t universe, std::uint64_t capacity);

}  // namespace summary
