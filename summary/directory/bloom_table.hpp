#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/filter.hpp"
#include "summary/directory/lane_bits.hpp"
#include "summary/directory/lane_source.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/sizing/key.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// Bloom filters of one shape side by side, one in each lane: one look-up answers for all of them.
/// Any thread may call find() at any time; one writer thread calls the functions that change the
/// table. Memory: see LaneBits.
class BloomTable {
public:
    /// While a lane is loaded over another filter, it matches every key that both filters have.
    static constexpr bool kMixes = true;

    /// Precondition: is_valid(shape), lanes > 0.
    BloomTable(Shape shape, std::size_t lanes);

    Descriptor descriptor() const { return descriptor_of(shape_); }
    std::size_t lanes() const { return bits_.lanes(); }

    // The writer works in blocks of 64 positions.
    std::uint64_t blocks() const { return bits_.blocks(); }
    /// Words of the table that contain one block of one lane, and of all lanes.
    std::uint64_t lane_block_words() const { return bits_.lane_block_words(); }
    std::uint64_t block_words() const { return bits_.block_words(); }

    // Filters and changes have to be Bloom filters of this shape.

    /// Another filter begins in the lane.
    void start(std::size_t /*lane*/) {}
    /// Loads blocks [from, to) of all lanes, each from its filter, or with zeros. Readers start
    /// later.
    void load_all(std::span<const LaneSource> sources, std::uint64_t from, std::uint64_t to);
    /// Loads blocks [from, to) of one lane. `blank` states that the lane was empty before, so the
    /// table skips the words that are zero in the source.
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
              bool blank);
    void apply(std::size_t lane, const Change& change);

    /// Adds the peers among `lanes` whose filters match the key.
    void find(const Key& key, const Lanes& lanes, PeerSet& found) const {
        bits_.is_wide() ? find_in_wide(key.hash, lanes, found)
                        : find_in_narrow(key.hash, lanes, found);
    }

    std::uint64_t memory_bytes() const { return bits_.memory_bytes(); }
    /// See Words::release().
    bool release(std::uint64_t words) { return bits_.release(words); }

private:
    void find_in_narrow(KeyHash key, const Lanes& lanes, PeerSet& found) const;
    void find_in_wide(KeyHash key, const Lanes& lanes, PeerSet& found) const;

    Shape shape_;
    LaneBits bits_;
};

}  // namespace summary
