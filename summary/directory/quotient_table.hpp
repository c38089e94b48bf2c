#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/coding/filter.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"
#include "summary/directory/lane_counts.hpp"
#include "summary/directory/lane_source.hpp"
#include "summary/directory/lanes.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/sizing/key.hpp"

namespace summary {

/// Quotient filters of one shape, one in each lane, stored as one quotient filter. A quotient of
/// the whole filter is a lane's quotient together with the lane, so the remainders of all lanes
/// under one quotient stand together. With 64 lanes they are one block, and one look answers for
/// all lanes.
///
/// A loaded lane replaces its filter: it follows deltas, finds ranks by counting, and knows its
/// check-hash. The replica can then drop the filter.
///
/// Any thread may call find() at any time; one writer thread calls the functions that change the
/// table. Memory: a QuotientFilter with the capacity of all lanes, and LaneCounts. There are lanes
/// for an eighth more than wanted, within the next power of two or multiple of 64.
class QuotientTable {
public:
    /// While a lane is loaded over another filter, it matches every key that both filters have.
    static constexpr bool kMixes = true;

    /// Precondition: is_valid(shape), lanes > 0.
    QuotientTable(const QuotientShape& shape, std::size_t lanes);

    Descriptor descriptor() const { return descriptor_of(FingerprintShape(shape_)); }
    std::size_t lanes() const { return state_.size(); }

    // The writer works in blocks of 64 quotients. One fingerprint costs as much as several words.
    std::uint64_t blocks() const;
    std::uint64_t lane_block_words() const { return kWordsEach * kQuotientsInBlock; }
    std::uint64_t block_words() const { return lanes() * kQuotientsInBlock; }

    // Filters and changes must have this shape. A change in a block that is still to be loaded
    // since the last start() is left out, as the filter brings it.

    /// Another filter begins in the lane.
    void start(std::size_t lane) { state_[lane].loaded = state_[lane].refused = 0; }
    /// Loads blocks [from, to) of all lanes, each from its source if it has one. Readers start
    /// later.
    void load_all(std::span<const LaneSource> sources, std::uint64_t from, std::uint64_t to);
    /// Loads blocks [from, to) of one lane. `blank` states that the lane was empty before.
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
              bool blank);
    void apply(std::size_t lane, const Change& change);

    /// The lane contains exactly what was loaded and applied.
    bool keeps_filter(std::size_t lane) const {
        return state_[lane].loaded == blocks() && state_[lane].refused == 0;
    }
    /// See apply_delta() of a filter. The lane stops keeping the filter when it finds too little
    /// room. Precondition: keeps_filter(lane).
    std::optional<Change> apply_delta(std::size_t lane, std::span<const std::byte> payload);
    /// The check-hash of the lane's filter. Precondition: keeps_filter(lane).
    std::uint64_t check_hash(std::size_t lane) const { return state_[lane].check; }
    std::uint64_t size(std::size_t lane) const { return counts_.size(lane); }
    /// See QuotientFilter::at(). Precondition: rank < size(lane).
    std::uint64_t at(std::size_t lane, std::uint64_t rank) const;

    /// Adds the peers among `lanes` whose filters match the key.
    void find(const Key& key, const Lanes& lanes, PeerSet& found) const;

    std::uint64_t memory_bytes() const { return all_.memory_bytes() + counts_.memory_bytes(); }
    /// See Words::release().
    bool release(std::uint64_t words) { return counts_.release(words) && all_.release(words); }

private:
    static constexpr unsigned kQuotientsInBlock = 64;
    static constexpr std::uint64_t kWordsEach =
        8;  // of one lane, as each fingerprint is on a line of its own

    static std::size_t stride_for(std::size_t lanes);
    /// The state of a lane.
    struct State {
        std::uint64_t loaded = 0;  // blocks
        std::uint64_t refused =
            0;                    // fingerprints that found too little room since the last start()
        std::uint64_t check = 0;  // of all fingerprints in the lane
    };

    std::uint64_t block_of(std::uint64_t fingerprint) const {
        return fingerprint / kQuotientsInBlock >> shape_.remainder_bits;
    }
    std::uint64_t in_all(std::size_t lane, std::uint64_t fingerprint) const;
    template <class Visit>
    void for_each_in(std::size_t lane, std::uint64_t block, Visit visit) const;
    bool add(std::size_t lane, std::uint64_t fingerprint);
    bool remove(std::size_t lane, std::uint64_t fingerprint);
    void insert(std::size_t lane, std::uint64_t fingerprint);
    void erase(std::size_t lane, std::uint64_t fingerprint);
    void change(std::size_t lane, std::span<const std::uint64_t> before,
                std::span<const std::uint64_t> now);

    QuotientShape shape_;
    std::size_t stride_;  // lanes of a quotient, some of which may stay unused
    QuotientFilter all_;
    LaneCounts counts_;
    std::vector<State> state_;  // of the lanes
};

}  // namespace summary
