#pragma once

#include <cstdint>
#include <span>

#include "summary/bit_array.hpp"
#include "summary/shape.hpp"

namespace summary {

/// A set of keys that may claim absent ones (false hits) but never denies an inserted one.
/// One thread only. Memory: shape.bits / 8 bytes. Source: Bloom 1970.
class BloomFilter {
public:
    /// Precondition: is_valid(shape).
    explicit BloomFilter(Shape shape) : shape_(shape), bits_(shape.bits) {}

    void insert(KeyHash key) { insert(positions(key, shape_)); }
    void insert(std::span<const std::uint64_t> positions);

    bool contains(KeyHash key) const { return contains(positions(key, shape_)); }
    bool contains(std::span<const std::uint64_t> positions) const;

    Shape shape() const { return shape_; }
    const BitArray& bits() const { return bits_; }

private:
    Shape shape_;
    BitArray bits_;
};

}  // namespace summary
