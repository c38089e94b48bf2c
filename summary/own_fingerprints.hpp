#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "summary/fingerprint_coding.hpp"
#include "summary/fingerprint_shape.hpp"
#include "summary/key_table.hpp"

namespace summary {

/// The owner's side of a summary of fingerprints: what this node stores, and what of it is not
/// announced yet. It keeps no filter and no counters, only its keys in order: what changed, and
/// the ranks of what went, follow from them when they are announced.
///
/// Announcements are named as in Own: an epoch begins with a snapshot at generation 0, each
/// take_delta() makes the next. A snapshot is of exactly what was announced at its begin, whatever
/// changes or is announced while it is written.
///
/// One thread only. Memory besides the keys (KeyTable): 8 bytes for each change that is not told
/// yet, of which there are at most one for kObjectsPerPending objects (more while a snapshot is
/// written).
class OwnFingerprints {
public:
    /// With more untold changes than objects / kObjectsPerPending only a snapshot tells them.
    static constexpr std::uint64_t kObjectsPerPending = 16;

    /// Precondition: is_valid(shape); a quotient filter's universe is a multiple of
    /// kUniverseUnit, a cuckoo filter has at least 2^kKeyShardsLog2 buckets. `first_epoch` must
    /// differ from those of earlier runs that peers may remember.
    OwnFingerprints(const FingerprintShape& shape, std::uint64_t first_epoch);
    /// The same keys in another epoch, with nothing untold.
    void restart(std::uint64_t epoch);

    /// False, and nothing changes, when the key was there already.
    bool stored(KeyHash key);
    /// False, and nothing changes, when the key was not there.
    bool removed(KeyHash key);

    std::uint64_t objects() const { return objects_; }
    /// Objects that changed since take_delta() or a new epoch; one in and one out count once.
    std::uint64_t changed_since_announced() const { return std::max(stored_, removed_); }

    /// What changed, and where in the announced multiset (of `objects` fingerprints) the removed
    /// ones stood.
    struct Change {
        FingerprintDelta delta;
        std::vector<std::uint64_t> ranks;  // of delta.removed
        std::uint64_t objects = 0;
    };
    /// What to tell the peers, as the next generation. Nothing: so much has changed that only a
    /// snapshot tells it (the generation advances all the same).
    std::optional<Change> take_delta(std::uint64_t changes);
    bool all_announced() const { return pending_ == 0 && !pending_lost_; }

    /// What peers have after the last announcement: how many fingerprints, and the sum of their
    /// check_term().
    std::uint64_t check_hash() const { return announced_check_; }

    /// Begins to write a snapshot of what is announced to `out`, which must stay until it is done,
    /// or another is begun, or a new epoch. When only a snapshot tells what has changed, this is
    /// one that does.
    void begin_snapshot(Bytes& out);
    /// The fingerprints of about so many keys; true when all are written. Precondition: one was
    /// begun in this epoch and is not done.
    bool write_some(std::uint64_t keys);

    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    const FingerprintShape& shape() const { return shape_; }
    double expected_false_hit() const {
        return false_positive_rate(shape_, static_cast<double>(objects_));
    }

    /// Changes to another shape in slices: a new epoch. Until the last everything goes on as it is.
    void begin_regrow(const FingerprintShape& shape);
    bool growing() const { return growth_.has_value(); }
    /// One slice of about so many keys. True when there is a new epoch.
    bool grow_some(std::uint64_t keys);

    /// See Own: nothing of what changes from now on is told, until there is a new epoch or
    /// end_import().
    void begin_import() { importing_ = true; }
    /// Precondition: objects() == 0.
    void end_import() { importing_ = false; }
    bool importing() const { return importing_; }

    std::uint64_t memory_bytes() const;

private:
    static constexpr std::uint64_t kMinPending = 4096;

    struct Shard {
        KeyTable keys;
        std::vector<std::uint64_t> pending;  // fingerprint * 2, and 1 if it came, in any order
        std::vector<std::uint64_t>
            announced;  // the same, announced since a snapshot began that has not come here
        std::int64_t pending_balance = 0;  // came less went
    };
    /// One fingerprint's part in a list of changes: how many more there are than before.
    struct Net {
        std::uint64_t fingerprint = 0;
        std::int64_t more = 0;
    };
    struct Snapshot {
        FingerprintSnapshotEncoder encoder;
        std::size_t next = 0;  // shard
    };
    /// All that a new numbering needs is its check-hash.
    struct Growth {
        FingerprintShape shape;
        std::uint64_t check = 0;
        std::size_t fed = 0;  // shards
    };

    static std::vector<Net> net_of(std::vector<std::uint64_t> changes);
    void note(KeyHash key, std::size_t shard, bool came);
    void announce_shard(std::size_t index, std::uint64_t first_rank, Change& change);
    void write(const Shard& shard, FingerprintSnapshotEncoder& encoder) const;
    void forget_changes();
    void announce_all();

    FingerprintShape shape_;
    std::vector<Shard> shards_{std::size_t{1} << kKeyShardsLog2};
    std::unique_ptr<Snapshot> snapshot_;
    std::optional<Growth> growth_;
    bool importing_ = false;
    std::uint64_t objects_ = 0;
    std::uint64_t check_ = 0;  // of what is there now
    std::uint64_t announced_ = 0;
    std::uint64_t announced_check_ = 0;
    std::uint64_t pending_ = 0;
    bool pending_lost_ = false;
    std::size_t next_to_announce_ = 0;  // shard
    std::uint64_t stored_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t epoch_;
    std::uint64_t generation_ = 0;
};

}  // namespace summary
