#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "summary/bits/bit_array.hpp"
#include "summary/filters/delta.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// A set of keys that may match an absent key (a false hit) and always matches an inserted one. One
/// thread only. Memory: shape.bits / 8 bytes. Source: Bloom 1970.
class BloomFilter {
public:
    /// Precondition: is_valid(shape).
    explicit BloomFilter(Shape shape) : BloomFilter(shape, BitArray(shape.bits)) {}
    /// Precondition: bits.size() == shape.bits.
    BloomFilter(Shape shape, BitArray bits) : shape_(shape), bits_(std::move(bits)) {}

    void insert(KeyHash key) { insert(positions(key, shape_)); }
    void insert(std::span<const std::uint64_t> positions);

    bool contains(KeyHash key) const { return contains(positions(key, shape_)); }
    bool contains(std::span<const std::uint64_t> positions) const;

    /// Precondition: is_valid(delta, shape().bits).
    void apply(const Delta& delta) { summary::apply(delta, bits_); }

    Shape shape() const { return shape_; }
    const BitArray& bits() const { return bits_; }

private:
    Shape shape_;
    BitArray bits_;
};

}  // namespace summary
