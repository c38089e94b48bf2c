#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "summary/counting_bloom_filter.hpp"
#include "summary/delta.hpp"
#include "summary/key_hash.hpp"
#include "summary/shape.hpp"

namespace summary {

/// Does the shape still suit the number of objects?
enum class Fit { fits, too_small, too_large };

/// The owner's side of a summary: what this node stores, and what of it is not announced yet.
///
/// An announcement is named by (epoch, generation): a new shape is a new epoch that starts at
/// generation 0 with a snapshot; take_delta() makes the next generation. A snapshot may be taken at
/// any time and belongs to the current generation. It may hold changes not told yet; the next delta
/// tells them again, and is good for those who got the snapshot as for those who did not.
/// check_hash() speaks of the bits as they are: send it while nothing is pending, right after
/// take_delta().
///
/// One thread only. Memory: about 20 to 40 bytes per object for the exact set of keys, shape.bits *
/// 5 / 8 for the filter, and at most shape.bits / kBitsPerPendingFlip flips of 16 bytes.
class OwnSummary {
public:
    struct Config {
        double error = 0.001;  // wanted chance of a false hit, see error_per_summary
        std::uint64_t first_epoch =
            1;  // must differ from those of earlier runs that peers may remember
        std::uint64_t expected_objects =
            0;  // no shape is made for fewer: the count after a warm start
    };

    /// From this many untold flips on, a snapshot costs less than they do to keep and send.
    static constexpr std::uint64_t kBitsPerPendingFlip = 32;
    /// A shape is left when less than one part in so many of its capacity is used.
    static constexpr std::uint64_t kShrinkBelow = 4;

    /// A new shape holds so many times the objects there are, which makes two rungs of the ladder
    /// (half an octave): more room costs bytes in every announcement, less of it means more
    /// snapshots while a cache fills.
    static constexpr double kRoomAfterRegrow = 1.35;

    explicit OwnSummary(Config config);
    /// The keys of `earlier`, which is of no use any more, under another configuration. A new
    /// epoch, with nothing untold. O(objects), as regrow().
    OwnSummary(Config config, OwnSummary&& earlier);

    /// False, and nothing changes, when the key was there already.
    bool stored(KeyHash key);
    /// False, and nothing changes, when the key was not there.
    bool removed(KeyHash key);

    bool contains(KeyHash key) const { return keys_.contains(key); }
    std::uint64_t objects() const { return keys_.size(); }

    /// Objects that changed since take_delta() or regrow(); one in and one out is one replaced, and
    /// counts once.
    std::uint64_t changed_since_announced() const { return std::max(stored_, removed_); }

    /// What to tell the peers, as the next generation. Nothing: so much has changed that only a
    /// snapshot tells it (the generation advances all the same). An empty delta when all changes
    /// cancelled.
    std::optional<Delta> take_delta();

    /// The bits as they are now. The reference is good until the next change.
    const BitArray& snapshot();
    std::uint64_t check_hash() const { return filter_.bits().check_hash(); }

    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    Shape shape() const { return filter_.shape(); }

    /// Part of the bits that are set, and the chance of a false hit that follows from it.
    double fill() const;
    double expected_false_hit() const;

    /// Too small: more objects than the shape holds within the error. Too large: less than a
    /// quarter of that.
    Fit fit() const;

    /// Builds the filter anew from the exact keys, with half an octave of room so that a filling
    /// cache does not come back at once; a new epoch. O(objects): below 0.1 s for a million.
    void regrow();

private:
    void bound_pending();

    Config config_;
    boost::unordered_flat_set<KeyHash, HashOfKeyHash> keys_;
    CountingBloomFilter filter_;
    std::vector<Flip> pending_;
    bool pending_lost_ = false;  // too many flips: the next announcement must be a snapshot
    bool snapshot_holds_pending_ = false;  // some receiver knows a part of the pending flips
    std::uint64_t stored_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t epoch_;
    std::uint64_t generation_ = 0;
};

}  // namespace summary
