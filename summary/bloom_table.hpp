#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/bloom_descriptor.hpp"
#include "summary/filter.hpp"
#include "summary/key.hpp"
#include "summary/lanes.hpp"
#include "summary/peer_set.hpp"
#include "summary/shape.hpp"
#include "summary/words.hpp"

namespace summary {

/// Bloom filters of one shape side by side, one in each lane: one probe answers for all of them.
/// The number of lanes is rounded up to a power of two, and to a multiple of 64 where a position
/// takes several words. find() may be called by any thread at any time; everything else that is not
/// const belongs to one writer thread. Memory: bits * lanes / 8 bytes.
class BloomTable {
public:
    /// Precondition: is_valid(shape), lanes > 0.
    BloomTable(Shape shape, std::size_t lanes);

    Descriptor descriptor() const { return descriptor_of(shape_); }
    std::size_t lanes() const { return lanes_in_word() * words_each_; }

    // The writer works in blocks of 64 positions.
    std::uint64_t blocks() const { return (shape_.bits + 63) / 64; }
    /// Words of the table that hold a block of one lane; of all lanes.
    std::uint64_t lane_block_words() const { return std::uint64_t{64} >> span_log2_; }
    std::uint64_t block_words() const { return lane_block_words() * words_each_; }

    // Filters and changes must be Bloom filters of this shape.

    /// Blocks [from, to) of all lanes, each from its source (null: zeros); nobody reads them yet.
    void fill(std::span<const Filter* const> sources, std::uint64_t from, std::uint64_t to);
    /// Blocks [from, to) of one lane. `blank`: nothing was loaded into it before, so that what is
    /// zero in the source need not even be read here.
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
              bool blank);
    void apply(std::size_t lane, const Change& change);

    /// Adds those of `lanes` whose filters claim the key.
    void find(const Key& key, const Lanes& lanes, PeerSet& found) const {
        words_each_ == 1 ? find_in_narrow(key.hash, lanes, found)
                         : find_in_wide(key.hash, lanes, found);
    }

    std::uint64_t memory_bytes() const { return words_.size() * sizeof(std::uint64_t); }
    /// As Words::release().
    bool release(std::uint64_t words) { return words_.release(words); }

private:
    std::size_t lanes_in_word() const { return std::size_t{64} >> span_log2_; }
    /// Of the first 64 lanes.
    std::size_t word_of(std::uint64_t position) const {
        return static_cast<std::size_t>(position >> span_log2_) * words_each_;
    }
    void find_in_narrow(KeyHash key, const Lanes& lanes, PeerSet& found) const;
    void find_in_wide(KeyHash key, const Lanes& lanes, PeerSet& found) const;

    Shape shape_;
    unsigned span_log2_ = 0;        // a word holds 2^span_log2_ positions of each lane
    std::size_t words_each_ = 1;    // more: of one position, for 64 lanes each
    std::uint64_t first_bits_ = 0;  // the bits of each lane's first position in a word
    Words words_;                   // shared with readers while they change
};

}  // namespace summary
