#pragma once

#include <cstdint>

#include "summary/sizing/fingerprint.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// The size of a quotient filter. The upper part of a fingerprint is its quotient, which determines
/// its place; the filter stores the low `remainder_bits`.
struct QuotientShape {
    std::uint64_t universe = 0;  // fingerprints are below it
    unsigned remainder_bits = 0;
    std::uint64_t capacity = 0;  // number of fingerprints that the filter is made for

    bool operator==(const QuotientShape&) const = default;
};

inline constexpr unsigned kMaxRemainderBits = 32;
inline constexpr std::uint64_t kMaxQuotients = kMaxBits;
inline constexpr std::uint64_t kMaxFingerprints = std::uint64_t{1} << 30;

/// The number of quotients.
constexpr std::uint64_t quotients(const QuotientShape& shape) {
    return ((shape.universe - 1) >> shape.remainder_bits) + 1;
}

/// The number of fingerprints that fit, a sixteenth more than the capacity.
constexpr std::uint64_t most_fingerprints(const QuotientShape& shape) {
    return shape.capacity + shape.capacity / 16 + 16;
}

/// Returns false for shapes that the filter refuses. Call it for every received shape.
bool is_valid(const QuotientShape& shape);

/// The shape that takes the least memory for `capacity` fingerprints.
QuotientShape quotient_shape(std::uint64_t universe, std::uint64_t capacity);

}  // namespace summary
