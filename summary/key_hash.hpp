#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace summary {

/// What every structure here knows of a cache key: 128 uniform bits. Two keys with equal hashes are
/// one key.
struct KeyHash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const KeyHash&) const = default;
};

/// For hash tables: the key hash is uniform already, so any of its words will do.
struct HashOfKeyHash {
    using is_avalanching = void;
    std::size_t operator()(KeyHash key) const noexcept { return static_cast<std::size_t>(key.low); }
};

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
