#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "summary/bloom_descriptor.hpp"
#include "summary/coding.hpp"
#include "summary/counting_bloom_filter.hpp"
#include "summary/delta.hpp"
#include "summary/key_table.hpp"
#include "summary/own_config.hpp"
#include "summary/shape.hpp"

namespace summary {

/// The owner's side of a summary of the kind counting_bloom; how it is used is in own.hpp.
///
/// Here a new shape is a new epoch. A snapshot may hold changes not told yet; the next delta tells
/// them again, and is good for those who got the snapshot as for those who did not.
///
/// Memory: the keys (KeyTable), shape.bits * 3 / 8 for the filter, as much again while it grows,
/// and at most shape.bits / kBitsPerPendingFlip flips of 16 bytes.
///
/// Slices are those of growth and of copying the bits (CopiedBits).
class CountingBloomOwn {
public:
    using Config = OwnConfig;
    static constexpr Kind kKind = Kind::counting_bloom;

    /// From this many untold flips on, a snapshot costs less than they do to keep and send.
    static constexpr std::uint64_t kBitsPerPendingFlip = 32;

    explicit CountingBloomOwn(Config config);
    CountingBloomOwn(Config config, CountingBloomOwn&& earlier);

    bool stored(KeyHash key);
    bool removed(KeyHash key);

    std::uint64_t objects() const { return objects_; }

    std::uint64_t changed_since_announced() const { return std::max(stored_, removed_); }

    /// What to tell the peers, as the next generation. Nothing: so much has changed that only a
    /// snapshot tells it (the generation advances all the same). An empty delta when all changes
    /// cancelled.
    std::optional<Delta> take_delta(std::size_t flips);
    bool all_announced() const { return pending_.empty() && !pending_lost_; }
    /// The same as bytes, see Own::take_delta.
    std::optional<Bytes> take_payload(std::size_t max_bytes);

    /// A copy of the bits made in slices, while they change. It is as good as a snapshot taken at
    /// its begin for whoever gets all deltas since then: they name values, and what has changed
    /// to and fro meanwhile is told too.
    class CopiedBits {
    public:
        explicit CopiedBits(CountingBloomOwn& own);
        /// True when all is copied. Precondition: `own` is in the epoch of the begin.
        bool step(CountingBloomOwn& own, std::size_t words);
        const BitArray& bits() const { return bits_; }
        std::uint64_t ones() const { return ones_; }

    private:
        BitArray bits_;
        std::uint64_t ones_ = 0;
        std::size_t next_ = 0;
    };

    /// See Own::SnapshotWriter. First the bits are copied, then the copy is encoded.
    class SnapshotWriter {
    public:
        SnapshotWriter(CountingBloomOwn& own, Bytes& out) : copy_(own), out_(out) {}
        SnapshotWriter(const SnapshotWriter&) = delete;
        SnapshotWriter& operator=(const SnapshotWriter&) = delete;
        bool step(CountingBloomOwn& own);

    private:
        CopiedBits copy_;
        Bytes& out_;
        std::optional<SnapshotEncoder> encoder_;
    };
    std::uint64_t check_hash() const { return filter_.bits().check_hash(); }

    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    Shape shape() const { return filter_.shape(); }
    Descriptor descriptor() const { return descriptor_of(shape()); }
    std::uint64_t ones() const { return filter_.ones(); }

    /// Part of the bits that are set, and the chance of a false hit that follows from it.
    double fill_ratio() const;
    double expected_false_hit() const;

    /// Too small: more objects than the shape holds within the error. Too large: less than a
    /// quarter of that.
    Fit fit() const;
    /// From now on this is the error wanted.
    void set_error(double error) { config_.error = error; }
    /// Fits, and has as many functions as all summaries of this error.
    bool suits() const;

    /// Builds the filter anew from the keys, with half an octave of room so that a filling
    /// cache does not come back at once; a new epoch. O(objects): about 0.1 s for a million.
    /// In slices. Until the last everything goes on with the old filter and its epoch; the
    /// new one is fed beside it, and hears of each change to keys that it has been fed.
    void begin_regrow();
    bool growing() const { return growth_.has_value(); }
    /// One slice of about so many keys (or the work of so many). True when there is a new epoch.
    bool grow_some(std::uint64_t keys);
    bool grow_some() { return grow_some(config_.keys_at_once); }

    /// See Own. The filter stays empty meanwhile, so nothing has to grow with the keys.
    void begin_import() { importing_ = true; }
    void end_import();
    bool importing() const { return importing_; }

    /// Gives memory back that growing has left over, in slices; false when there is none.
    bool tidy();

    /// Of the keys and the filter; what is there for a while only is left out.
    std::uint64_t memory_bytes() const;

private:
    /// The next filter: first its memory is taken, then the keys go in, shard by shard.
    struct Growth {
        CountingBloomFilter filter;
        std::size_t touched = 0;  // words
        bool memory_is_there = false;
        std::size_t fed = 0;  // shards
    };

    void snapshot_taken();
    void bound_pending();
    void begin_epoch();

    Config config_;
    std::vector<KeyTable> keys_{std::size_t{1} << kKeyShardsLog2};
    std::uint64_t objects_ = 0;
    CountingBloomFilter filter_;
    std::optional<Growth> growth_;
    bool importing_ = false;
    std::optional<CountingBloomFilter> left_over_;
    std::vector<Flip> ignored_;  // of the filter that grows
    unsigned copies_ = 0;        // CopiedBits under way in this epoch
    std::vector<Flip> pending_;
    bool pending_lost_ = false;  // too many flips: the next announcement must be a snapshot
    bool snapshot_holds_pending_ = false;  // some receiver knows a part of the pending flips
    std::uint64_t stored_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t epoch_;
    std::uint64_t generation_ = 0;
};

}  // namespace summary
