#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "summary/coding/fingerprint_coding.hpp"
#include "summary/coding/fingerprint_shape.hpp"
#include "summary/own/key_table.hpp"
#include "summary/own/own_epoch.hpp"

namespace summary {

/// The owner's side of a summary of fingerprints: the keys that this node stores, and the changes
/// that it has yet to announce. It keeps its keys in order, and needs neither filter nor counters:
/// the changes, and the ranks of the removed keys, follow from the keys.
///
/// Epochs and generations are those of OwnSummary. A snapshot contains exactly the state announced
/// at its begin, whatever changes while it is written.
///
/// One thread only. Memory besides the keys (KeyTable): 8 bytes for each pending change, at most
/// one change for kObjectsPerPending objects (more while a snapshot is written).
class OwnFingerprints {
public:
    /// With more pending changes than objects / kObjectsPerPending, only a snapshot announces them.
    static constexpr std::uint64_t kObjectsPerPending = 16;

    /// Preconditions: is_valid(shape); a quotient filter's universe is a multiple of kUniverseUnit;
    /// a cuckoo filter has at least 2^kKeyShardsLog2 buckets. `first_epoch` must differ from the
    /// epochs of earlier instances that peers may remember.
    OwnFingerprints(const FingerprintShape& shape, std::uint64_t first_epoch);
    /// Begins another epoch with the same keys, all of them announced.
    void restart(std::uint64_t epoch);

    /// Returns false and changes nothing when the key is present.
    bool stored(KeyHash key);
    /// Returns false and changes nothing when the key is absent.
    bool removed(KeyHash key);

    std::uint64_t objects() const { return objects_; }
    /// Objects changed since take_delta() or the start of the epoch. One object stored and one
    /// removed count once.
    std::uint64_t changed_since_announced() const { return epoch_.changed(); }

    /// The changes, and the ranks that the removed fingerprints had among the `objects` announced
    /// ones.
    struct Change {
        FingerprintDelta delta;
        std::vector<std::uint64_t> ranks;  // of delta.removed
        std::uint64_t objects = 0;
    };
    /// Takes about `changes` changes as the next generation, which bounds the time; all_announced()
    /// returns whether more are left. Returns nullopt when only a snapshot can announce the
    /// changes; the generation advances all the same.
    std::optional<Change> take_delta(std::uint64_t changes);
    bool all_announced() const { return pending_ == 0 && !pending_lost_; }

    /// The sum of check_term() over the announced fingerprints, which peers have.
    std::uint64_t check_hash() const { return announced_check_; }

    /// Begins to write a snapshot of the announced state to `out`, which must stay in place until
    /// the snapshot is complete, another is begun, or a new epoch begins. After a take_delta() that
    /// returned nullopt, this snapshot announces the changes.
    void begin_snapshot(Bytes& out);
    /// Writes the fingerprints of about `keys` keys. Returns true after the last. Precondition: an
    /// unfinished snapshot was begun in this epoch.
    bool write_some(std::uint64_t keys);

    std::uint64_t epoch() const { return epoch_.number; }
    std::uint64_t generation() const { return epoch_.generation; }
    const FingerprintShape& shape() const { return shape_; }
    double expected_false_hit() const {
        return false_positive_rate(shape_, static_cast<double>(objects_));
    }

    /// Begins to change to another shape, in slices, which leads to a new epoch. The old shape
    /// stays in use until the last slice.
    void begin_regrow(const FingerprintShape& shape);
    bool growing() const { return growth_.has_value(); }
    /// Does the work of about `keys` keys. Returns true when a new epoch has begun.
    bool grow_some(std::uint64_t keys);

    /// See OwnSummary. Changes stay unannounced until a new epoch or end_import().
    void begin_import() { importing_ = true; }
    /// Precondition: objects() == 0.
    void end_import() { importing_ = false; }
    bool importing() const { return importing_; }

    std::uint64_t memory_bytes() const;

private:
    static constexpr std::uint64_t kMinPending = 4096;

    struct Shard {
        KeyTable keys;
        std::vector<std::uint64_t> pending;    // fingerprint * 2, plus 1 if it came, in any order
        std::vector<std::uint64_t> announced;  // the same: changes announced while a snapshot is
                                               // under way that has yet to reach this shard
        std::int64_t pending_balance = 0;      // stored less removed
    };
    /// One fingerprint's part in a list of changes: its copies gained, or lost if negative.
    struct Net {
        std::uint64_t fingerprint = 0;
        std::int64_t more = 0;
    };
    struct Snapshot {
        FingerprintSnapshotEncoder encoder;
        std::size_t next = 0;  // shard
    };
    /// A new numbering needs a new check-hash and otherwise the same keys.
    struct Growth {
        FingerprintShape shape;
        std::uint64_t check = 0;
        std::size_t fed = 0;  // shards
    };

    static std::vector<Net> net_of(std::vector<std::uint64_t> changes);
    void note(KeyHash key, std::size_t shard, bool came);
    void announce_shard(std::size_t index, std::uint64_t first_rank, Change& change);
    void write(const Shard& shard, FingerprintSnapshotEncoder& encoder) const;
    void begin_epoch(std::uint64_t epoch);
    void announce_all();

    FingerprintShape shape_;
    std::vector<Shard> shards_{std::size_t{1} << kKeyShardsLog2};
    std::unique_ptr<Snapshot> snapshot_;
    std::optional<Growth> growth_;
    bool importing_ = false;
    std::uint64_t objects_ = 0;
    std::uint64_t check_ = 0;  // of the present state
    std::uint64_t announced_ = 0;
    std::uint64_t announced_check_ = 0;
    std::uint64_t pending_ = 0;
    bool pending_lost_ = false;
    std::size_t next_to_announce_ = 0;  // shard
    OwnEpoch epoch_;
};

}  // namespace summary
