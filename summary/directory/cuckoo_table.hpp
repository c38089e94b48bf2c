#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/coding/filter.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"
#include "summary/directory/lane_bits.hpp"
#include "summary/directory/lane_source.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/sizing/key.hpp"

namespace summary {

/// Cuckoo filters of one shape side by side, one in each lane, bit by bit. A key has the same two
/// buckets in all lanes, and one operation compares a bit of a tag for all of them. Any thread may
/// call find() at any time; one writer thread calls the functions that change the table. Memory:
/// see LaneBits.
class CuckooTable {
public:
    /// Two filters may keep a tag in different buckets. While a lane is loaded over another filter,
    /// it may miss a key that both have.
    static constexpr bool kMixes = false;

    /// Precondition: is_valid(shape), lanes > 0.
    CuckooTable(CuckooShape shape, std::size_t lanes);

    Descriptor descriptor() const { return descriptor_of(FingerprintShape(shape_)); }
    std::size_t lanes() const { return bits_.lanes(); }

    // See BloomTable.
    std::uint64_t blocks() const { return bits_.blocks(); }
    std::uint64_t lane_block_words() const { return bits_.lane_block_words(); }
    std::uint64_t block_words() const { return bits_.block_words(); }
    void start(std::size_t /*lane*/) {}
    void load_all(std::span<const LaneSource> sources, std::uint64_t from, std::uint64_t to);
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
              bool blank);
    void apply(std::size_t lane, const Change& change);

    /// Adds the peers among `lanes` whose filters match the key. A reader looks again at a lane
    /// that changes in the meantime. It misses a key only if the tag moves between the two looks of
    /// every attempt.
    void find(const Key& key, const Lanes& lanes, PeerSet& found) const;

    std::uint64_t memory_bytes() const { return bits_.memory_bytes(); }
    /// See Words::release().
    bool release(std::uint64_t words) { return bits_.release(words); }

private:
    static constexpr unsigned kAttempts = 4;  // attempts of a reader

    std::uint64_t position(std::uint64_t bucket) const {
        return bucket * kTagsInBucket * shape_.tag_bits;
    }
    void find_in_narrow(std::uint64_t bucket, std::uint64_t tag, const Lanes& lanes,
                        PeerSet& found) const;
    void find_in_wide(std::uint64_t bucket, std::uint64_t tag, const Lanes& lanes,
                      PeerSet& found) const;

    CuckooShape shape_;
    LaneBits bits_;
    std::uint64_t version_ = 0;  // number of tags written
};

}  // namespace summary
