#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "summary/bits/bit_array.hpp"
#include "summary/filters/delta.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

inline constexpr unsigned kCounterMax = 15;

/// The keys that a node stores, as counters, so that keys can be removed, and the bits that peers
/// see. A counter at kCounterMax stays there. Erasing may then leave a bit set (one more false
/// hit), but every bit that a remaining key needs stays set. One thread only. Memory: shape.bits *
/// 3 / 8 bytes, and about 25 bytes for each counter above 3, which is one counter in 1,500 when
/// three positions in ten are set. Source: Fan et al. 2000 §V-C, with 4-bit counters.
class CountingBloomFilter {
public:
    /// Precondition: is_valid(shape).
    explicit CountingBloomFilter(Shape shape);

    /// Adds one key and appends the bits that went from 0 to 1 to `flips`.
    void insert(KeyHash key, std::vector<Flip>& flips) { insert(positions(key, shape_), flips); }
    void insert(std::span<const std::uint64_t> positions, std::vector<Flip>& flips);

    /// Removes one inserted key and appends the bits that went from 1 to 0 to `flips`.
    /// Precondition: the key was inserted; OwnBloomSummary keeps track. Removing another key
    /// clears bits that present keys need.
    void erase(KeyHash key, std::vector<Flip>& flips) { erase(positions(key, shape_), flips); }
    void erase(std::span<const std::uint64_t> positions, std::vector<Flip>& flips);

    unsigned counter(std::uint64_t position) const;
    std::uint64_t ones() const { return ones_; }
    std::uint64_t memory_bytes() const;

    Shape shape() const { return shape_; }
    const BitArray& bits() const { return bits_; }

    /// Touches `words` more words of memory, beginning with word `done`. Returns true when all
    /// memory is there. Otherwise the first keys would take it, thousands of pages at once.
    bool touch(std::size_t& done, std::size_t words);
    /// Gives memory back in pieces when the filter is discarded. Returns true when all is given
    /// back.
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
