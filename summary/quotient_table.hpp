#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/filter.hpp"
#include "summary/fingerprint_descriptor.hpp"
#include "summary/key.hpp"
#include "summary/lane_counts.hpp"
#include "summary/lane_source.hpp"
#include "summary/lanes.hpp"
#include "summary/peer_set.hpp"

namespace summary {

/// Quotient filters of one shape, one in each lane, as one quotient filter of them all: what it
/// calls a quotient is a quotient of theirs and a lane, so what all lanes have under a quotient
/// stands together. With 64 lanes that is one block; one look at it answers for all of them.
///
/// A lane that was loaded is as good as its filter: it follows deltas, whose ranks are found by
/// counting, and knows its check-hash. So nobody has to keep the filter beside it.
///
/// find() may be called by any thread at any time; everything else that is not const belongs to one
/// writer thread. Memory: as a QuotientFilter of what all lanes are made for, and LaneCounts. There
/// are lanes for an eighth more than are wanted, as far as the next power of two, or multiple of
/// 64, allows.
class QuotientTable {
public:
    /// What a lane holds may be of two filters at once: what both have it never denies.
    static constexpr bool kMixes = true;

    /// Precondition: is_valid(shape), lanes > 0.
    QuotientTable(const QuotientShape& shape, std::size_t lanes);

    Descriptor descriptor() const { return descriptor_of(FingerprintShape(shape_)); }
    std::size_t lanes() const { return state_.size(); }

    // The writer works in blocks of 64 quotients. A fingerprint is as much work as so many words.
    std::uint64_t blocks() const;
    std::uint64_t lane_block_words() const { return kWordsEach * kQuotientsInBlock; }
    std::uint64_t block_words() const { return lanes() * kQuotientsInBlock; }

    // Filters and changes must be of this shape. A change that concerns a block that was not
    // loaded since the last start() is in what will be loaded.

    /// The lane's filter is another from now on.
    void start(std::size_t lane) { state_[lane].loaded = state_[lane].refused = 0; }
    /// Blocks [from, to) of all lanes, each from its source if it has one; nobody reads them yet.
    void load_all(std::span<const LaneSource> sources, std::uint64_t from, std::uint64_t to);
    /// Blocks [from, to) of one lane. `blank`: nothing was loaded into it before.
    void load(std::size_t lane, const Filter& source, std::uint64_t from, std::uint64_t to,
              bool blank);
    void apply(std::size_t lane, const Change& change);

    /// The lane has all that was loaded and applied, and nothing else.
    bool keeps_filter(std::size_t lane) const {
        return state_[lane].loaded == blocks() && state_[lane].refused == 0;
    }
    /// As apply_delta() of a filter. When there is no room for it, the lane no longer holds it.
    /// Precondition: keeps_filter(lane).
    std::optional<Change> apply_delta(std::size_t lane, std::span<const std::byte> payload);
    /// As of the filter. Precondition: keeps_filter(lane).
    std::uint64_t check_hash(std::size_t lane) const { return state_[lane].check; }
    std::uint64_t size(std::size_t lane) const { return counts_.size(lane); }
    /// As QuotientFilter::at(). Precondition: rank < size(lane).
    std::uint64_t at(std::size_t lane, std::uint64_t rank) const;

    /// Adds those of `lanes` whose filters claim the key.
    void find(const Key& key, const Lanes& lanes, PeerSet& found) const;

    std::uint64_t memory_bytes() const { return all_.memory_bytes() + counts_.memory_bytes(); }
    /// As Words::release().
    bool release(std::uint64_t words) { return counts_.release(words) && all_.release(words); }

private:
    static constexpr unsigned kQuotientsInBlock = 64;
    static constexpr std::uint64_t kWordsEach = 8;  // of one lane: each on a line of its own

    static std::size_t stride_for(std::size_t lanes);
    /// What is known of a lane.
    struct State {
        std::uint64_t loaded = 0;   // blocks
        std::uint64_t refused = 0;  // fingerprints that found no room since the last start()
        std::uint64_t check = 0;    // of all that is there
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
    std::size_t stride_;  // lanes that a quotient has, some of which may never be used
    QuotientFilter all_;
    LaneCounts counts_;
    std::vector<State> state_;  // of the lanes
};

}  // namespace summary
