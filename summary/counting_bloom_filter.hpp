#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "summary/bit_array.hpp"
#include "summary/delta.hpp"
#include "summary/shape.hpp"

namespace summary {

inline constexpr unsigned kCounterMax = 15;

/// The keys a node stores, as counters that also allow removal, and the bits that peers see.
/// A counter at kCounterMax stays there: erasing may leave a bit set (one more false hit) but never
/// clears a bit that another key needs. One thread only. Memory: shape.bits * 3 / 8 bytes, and some
/// 25 for each counter above 3, of which a filter with three positions in ten set has one in 1,500.
/// Source: Fan et al. 2000 §V-C, whose counters have 4 bits each.
class CountingBloomFilter {
public:
    /// Precondition: is_valid(shape).
    explicit CountingBloomFilter(Shape shape);

    /// Adds one key; appends the bits that went 0 -> 1 to `flips`.
    void insert(KeyHash key, std::vector<Flip>& flips) { insert(positions(key, shape_), flips); }
    void insert(std::span<const std::uint64_t> positions, std::vector<Flip>& flips);

    /// Removes one key that was inserted (removing another takes bits from those that are there:
    /// the caller keeps track, as CountingBloomOwn does); appends the bits that went 1 -> 0 to
    /// `flips`.
    void erase(KeyHash key, std::vector<Flip>& flips) { erase(positions(key, shape_), flips); }
    void erase(std::span<const std::uint64_t> positions, std::vector<Flip>& flips);

    bool contains(KeyHash key) const { return contains(positions(key, shape_)); }
    bool contains(std::span<const std::uint64_t> positions) const;

    unsigned counter(std::uint64_t position) const;
    std::uint64_t ones() const { return ones_; }
    std::uint64_t memory_bytes() const;

    Shape shape() const { return shape_; }
    const BitArray& bits() const { return bits_; }

    /// Takes memory that is still to be taken, `words` at a time from `done` on; true when there
    /// is all of it. Without it the first keys take it, thousands of pages at once.
    bool touch(std::size_t& done, std::size_t words);
    /// Gives the memory back in pieces, when the filter is of no more use; true at the end.
    bool release(std::size_t words);

private:
    void prefetch(std::span<const std::uint64_t> positions) const;
    unsigned in_place(std::uint64_t position) const;

    Shape shape_;
    BitArray bits_;
    Words counters_;                                                 // 32 to a word, each up to 3
    boost::unordered_flat_map<std::uint64_t, std::uint8_t> beyond_;  // counts above 3
    std::uint64_t ones_ = 0;
};

}  // namespace summary
