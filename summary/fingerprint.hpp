#pragma once

#include <cstdint>

#include "summary/key_hash.hpp"
#include "summary/shape.hpp"

/// Fingerprints: keys as numbers below a universe. A summary of n objects that is to have the error
/// e needs a universe of n / e: an absent key's number is one of theirs with just that chance.
namespace summary {

/// From here on lists of few changes would cost more than they need (kMaxRiceParameter).
inline constexpr std::uint64_t kMaxUniverse = std::uint64_t{1} << 40;
/// Universes are multiples of this, so that no fingerprint belongs to keys of two shards.
inline constexpr std::uint64_t kUniverseUnit = std::uint64_t{1} << kKeyShardsLog2;

/// Grows with key.high: keys in the order of `high` have fingerprints in ascending order.
inline std::uint64_t fingerprint(KeyHash key, std::uint64_t universe) {
    return reduce(key.high, universe);
}

/// A multiset of fingerprints as one number, whatever their order: the sum of these, modulo 2^64.
/// Two that differ agree by chance only once in 2^64 or so; it is no proof against an adversary.
inline std::uint64_t check_term(std::uint64_t fingerprint) {
    return mix(fingerprint);
}

}  // namespace summary
