#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace summary {

/// What every structure here knows of a cache key: 128 uniform bits. Two keys with equal hashes are
/// one key. Summaries go by `high` alone, so whoever keeps a set of keys for one needs 8 bytes for
/// each: of ten million keys two share it once in 370,000 times, and then one of them may be
/// missed.
struct KeyHash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const KeyHash&) const = default;
};

/// Sets of keys are kept in 2^kKeyShardsLog2 tables, by the upper bits of `high`, so that none is
/// large when it grows.
inline constexpr unsigned kKeyShardsLog2 = 10;
inline std::size_t key_shard_of(KeyHash key) {
    return static_cast<std::size_t>(key.high >> (64 - kKeyShardsLog2));
}

/// For hash tables: the key hash is uniform already, so any of its words will do.
struct HashOfKeyHash {
    using is_avalanching = void;
    std::size_t operator()(KeyHash key) const noexcept { return static_cast<std::size_t>(key.low); }
};

/// SplitMix64's output for this word (Steele, Lea, Flood 2014): every bit of the result depends on
/// all of the word, and no two words have the same.
constexpr std::uint64_t mix(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

/// Cache key -> KeyHash, alike on all nodes that share the secret: XXH3-128 with a custom secret.
/// XXH3 is no MAC: the secret keeps a leaked filter from simply telling what was read and crafted
/// key lists from simply saturating it, no more than that.
/// Any thread; does not allocate.
class KeyHasher {
public:
    static constexpr std::size_t kSecretBytes = 192;

    explicit KeyHasher(std::span<const std::byte, kSecretBytes> secret);

    KeyHash operator()(std::string_view key) const;

private:
    std::array<std::byte, kSecretBytes> secret_;
};

}  // namespace summary
