#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/coding.hpp"
#include "summary/filters/counting_bloom_filter.hpp"
#include "summary/filters/delta.hpp"
#include "summary/own/key_table.hpp"
#include "summary/own/own_epoch.hpp"
#include "summary/own/own_summary_config.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// The flips of bits that an own summary has yet to announce. Copies of the bits that are made
/// meanwhile may contain some of them.
class PendingFlips {
public:
    /// New flips are appended here. bound() comes next.
    std::vector<Flip>& list() { return flips_; }
    /// Above `most` flips it forgets them: the next announcement must be a snapshot.
    void bound(std::uint64_t most) {
        lost_ = lost_ || flips_.size() > most;
        if (lost_) flips_.clear();
    }
    bool empty() const { return flips_.empty() && !lost_; }

    void copy_begun() { ++copies_; }
    void copy_ended() {
        --copies_;
        copied_ = copied_ || !flips_.empty();
    }

    /// Takes the first `count` flips. The delta suits receivers with and without a copy made
    /// meanwhile. Returns nullopt if the flips were forgotten.
    std::optional<Delta> take(std::size_t count) {
        const bool known_in_part = copied_ || copies_ > 0;
        std::vector<Flip> taken;
        if (count < flips_.size()) {
            const auto end = flips_.begin() + static_cast<std::ptrdiff_t>(count);
            taken.assign(flips_.begin(), end);
            flips_.erase(flips_.begin(), end);
        } else {
            taken = std::exchange(flips_, {});
            copied_ = false;
        }
        if (std::exchange(lost_, false)) return std::nullopt;
        return known_in_part ? last_values(std::move(taken)) : net_effect(std::move(taken));
    }

private:
    std::vector<Flip> flips_;
    bool lost_ = false;
    bool copied_ = false;  // some receiver knows a part of the flips
    unsigned copies_ = 0;  // begun and unfinished in this epoch
};

/// The owner's side of a summary of the kind counting_bloom; own_summary.hpp describes its use.
///
/// A new shape is a new epoch. A snapshot may contain changes that are still to be announced. The
/// next delta names these changes again, and suits receivers with and without that snapshot.
///
/// Memory: the keys (KeyTable), shape.bits * 3 / 8 for the filter, as much again while it grows,
/// and at most shape.bits / kBitsPerPendingFlip flips of 16 bytes.
///
/// Growing and copying the bits (CopiedBits) are done in slices.
class OwnBloomSummary {
public:
    using Config = OwnSummaryConfig;
    static constexpr Kind kKind = Kind::counting_bloom;

    /// With this many pending flips, a snapshot costs less than keeping and sending them.
    static constexpr std::uint64_t kBitsPerPendingFlip = 32;

    explicit OwnBloomSummary(Config config);
    OwnBloomSummary(Config config, OwnBloomSummary&& earlier);

    bool stored(KeyHash key);
    bool removed(KeyHash key);

    std::uint64_t objects() const { return objects_; }

    std::uint64_t changed_since_announced() const { return epoch_.changed(); }

    /// Takes the first `flips` pending changes of bits as the next generation; all_announced()
    /// returns whether more are left. The delta is empty when all changes cancelled each other.
    /// Returns nullopt when only a snapshot can announce the changes; the generation advances all
    /// the same.
    std::optional<Delta> take_delta(std::size_t flips);
    bool all_announced() const { return pending_.empty(); }
    /// The same as a payload, see OwnSummary::take_delta.
    std::optional<Bytes> take_payload(std::size_t max_bytes);

    /// A copy of the bits, made in slices while they change. For a receiver of all later deltas it
    /// equals a snapshot taken at its start: deltas name values, and they also name bits that
    /// changed to and fro in the meantime.
    class CopiedBits {
    public:
        explicit CopiedBits(OwnBloomSummary& own);
        /// Copies `words` more words. Returns true after the last. Precondition: `own` is still in
        /// the epoch in which the copy was begun.
        bool step(OwnBloomSummary& own, std::size_t words);
        const BitArray& bits() const { return bits_; }
        std::uint64_t ones() const { return ones_; }

    private:
        BitArray bits_;
        std::uint64_t ones_ = 0;
        std::size_t next_ = 0;
    };

    /// See OwnSummary::SnapshotWriter. It copies the bits first, and then encodes the copy.
    class SnapshotWriter {
    public:
        SnapshotWriter(OwnBloomSummary& own, Bytes& out) : copy_(own), out_(out) {}
        SnapshotWriter(const SnapshotWriter&) = delete;
        SnapshotWriter& operator=(const SnapshotWriter&) = delete;
        bool step(OwnBloomSummary& own);

    private:
        CopiedBits copy_;
        Bytes& out_;
        std::optional<SnapshotEncoder> encoder_;
    };
    std::uint64_t check_hash() const { return filter_.bits().check_hash(); }

    std::uint64_t epoch() const { return epoch_.number; }
    std::uint64_t generation() const { return epoch_.generation; }
    Shape shape() const { return filter_.shape(); }
    Descriptor descriptor() const { return descriptor_of(shape()); }
    std::uint64_t ones() const { return filter_.ones(); }

    /// Share of the bits that are set, and the resulting chance of a false hit.
    double fill_ratio() const;
    double expected_false_hit() const;

    /// too_small: more objects than the shape has room for within the error. too_large: less than a
    /// quarter of that.
    Fit fit() const;
    /// Sets the wanted error.
    void set_error(double error) { config_.error = error; }
    /// Returns whether the shape fits and has the number of functions that this error calls for.
    bool suits() const;

    /// Begins to build another filter from the keys, with half an octave of room, so that a growing
    /// cache regrows rarely. It costs O(objects), about 0.1 s for a million, and is done in slices.
    /// Until the last slice the old filter and its epoch stay in use; the new filter is fed beside
    /// it, and follows changes of keys that it already has.
    void begin_regrow();
    bool growing() const { return growth_.has_value(); }
    /// Does the work of about `keys` keys. Returns true when a new epoch has begun.
    bool grow_some(std::uint64_t keys);
    bool grow_some() { return grow_some(config_.keys_at_once); }

    /// See OwnSummary. The filter stays empty during the import.
    void begin_import() { importing_ = true; }
    void end_import();
    bool importing() const { return importing_; }

    /// Gives back memory that growing has left over, in slices. Returns false when all is given
    /// back.
    bool tidy();

    /// Memory of the keys and the filter, apart from temporary buffers.
    std::uint64_t memory_bytes() const;

private:
    /// The next filter. First its memory is touched, then the keys are fed shard by shard.
    struct Growth {
        CountingBloomFilter filter;
        std::size_t touched = 0;  // words
        bool memory_is_there = false;
        std::size_t fed = 0;  // shards
    };

    void bound_pending() { pending_.bound(filter_.shape().bits / kBitsPerPendingFlip); }
    void begin_epoch();

    Config config_;
    std::vector<KeyTable> keys_{std::size_t{1} << kKeyShardsLog2};
    std::uint64_t objects_ = 0;
    CountingBloomFilter filter_;
    std::optional<Growth> growth_;
    bool importing_ = false;
    std::optional<CountingBloomFilter> left_over_;
    std::vector<Flip> ignored_;  // flips of the growing filter
    PendingFlips pending_;
    OwnEpoch epoch_;
};

}  // namespace summary
