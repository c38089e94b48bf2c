#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/sizing/key_hash.hpp"

namespace summary {

inline constexpr std::uint64_t kMaxBits = std::uint64_t{1}
                                          << 32;  // 512 MiB of bits, some 178M objects
inline constexpr unsigned kMaxHashes = 16;

/// Size of a filter: the number of its bits, and the number of bits that stand for one key.
struct Shape {
    std::uint64_t bits = 0;
    unsigned hashes = 0;

    bool operator==(const Shape&) const = default;
};

/// Returns false for shapes that the filters refuse. Call it for every received shape.
constexpr bool is_valid(Shape shape) {
    return shape.bits >= 1 && shape.bits <= kMaxBits && shape.hashes >= 1 &&
           shape.hashes <= kMaxHashes;
}

/// The bit positions of one key, which may coincide.
class Positions {
public:
    const std::uint64_t* begin() const { return values_.data(); }
    const std::uint64_t* end() const { return values_.data() + size_; }
    std::size_t size() const { return size_; }
    std::uint64_t operator[](std::size_t i) const { return values_[i]; }
    operator std::span<const std::uint64_t>() const { return {begin(), size_}; }

private:
    friend Positions positions(KeyHash key, Shape shape);

    std::array<std::uint64_t, kMaxHashes> values_;  // the first size_ count
    std::size_t size_ = 0;
};

/// floor(word * range / 2^64): maps a uniform word to [0, range), for ranges of any size (Lemire
/// 2019).
inline std::uint64_t reduce(std::uint64_t word, std::uint64_t range) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(word) * range) >> 64);
}

/// Positions of a key in a filter of this shape: reduce(mix(high) + i * high, bits) for i < hashes,
/// sums modulo 2^64. One hash serves every shape. Source: Kirsch and Mitzenmacher 2006 (double
/// hashing).
inline Positions positions(KeyHash key, Shape shape) {
    assert(is_valid(shape));
    Positions result;
    auto word = mix(key.high);
    for (unsigned i = 0; i < shape.hashes; ++i, word += key.high) {
        result.values_[i] = reduce(word, shape.bits);
    }
    result.size_ = shape.hashes;
    return result;
}

}  // namespace summary
