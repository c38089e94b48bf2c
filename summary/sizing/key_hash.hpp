#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace summary {

/// The hash of a cache key: 128 uniform bits. Two keys with equal hashes count as one key.
/// Summaries use `high` alone, so a set of keys for a summary needs 8 bytes for each key. Among ten
/// million keys two share `high` once in 370,000 times; a summary may then miss one of them.
struct KeyHash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const KeyHash&) const = default;
};

/// Sets of keys are kept in 2^kKeyShardsLog2 tables, by the upper bits of `high`, so that each
/// table is small when it grows.
inline constexpr unsigned kKeyShardsLog2 = 10;
inline std::size_t key_shard_of(KeyHash key) {
    return static_cast<std::size_t>(key.high >> (64 - kKeyShardsLog2));
}

/// For hash tables: the key hash is uniform already, so any of its words will do.
struct HashOfKeyHash {
    using is_avalanching = void;
    std::size_t operator()(KeyHash key) const noexcept { return static_cast<std::size_t>(key.low); }
};

/// The output of SplitMix64 for this word (Steele, Lea, Flood 2014). Every bit of the result
/// depends on all bits of the word, and different words have different results.
constexpr std::uint64_t mix(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

/// Hashes a cache key in the same way on all nodes that share the secret: XXH3-128 with a custom
/// secret. XXH3 is weaker than a MAC. The secret prevents simple attacks only: reading stored keys
/// out of a leaked filter, and saturating a filter with a crafted list of keys. Any thread; never
/// allocates.
class KeyHasher {
public:
    static constexpr std::size_t kSecretBytes = 192;

    explicit KeyHasher(std::span<const std::byte, kSecretBytes> secret);

    KeyHash operator()(std::string_view key) const;

private:
    std::array<std::byte, kSecretBytes> secret_;
};

}  // namespace summary
