#pragma once

#include <cstdint>

#include "summary/sizing/key_hash.hpp"
#include "summary/sizing/shape.hpp"

/// Fingerprints: keys as numbers below a universe. A summary of n objects with the error e needs a
/// universe of n / e; an absent key then shares a number with one of them with the chance e.
namespace summary {

/// Above this limit lists of few changes would cost more than they need (kMaxRiceParameter).
inline constexpr std::uint64_t kMaxUniverse = std::uint64_t{1} << 40;
/// Universes are multiples of this number, so keys of two shards have different fingerprints.
inline constexpr std::uint64_t kUniverseUnit = std::uint64_t{1} << kKeyShardsLog2;

/// Grows with key.high: keys in the order of `high` have fingerprints in ascending order.
inline std::uint64_t fingerprint(KeyHash key, std::uint64_t universe) {
    return reduce(key.high, universe);
}

/// The check-hash of a multiset is the sum of these terms modulo 2^64, in any order. Two different
/// multisets agree by chance once in 2^64 or so. An adversary can construct a collision.
inline std::uint64_t check_term(std::uint64_t fingerprint) {
    return mix(fingerprint);
}

}  // namespace summary
