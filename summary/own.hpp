#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "summary/counting_bloom_own.hpp"
#include "summary/descriptor.hpp"
#include "summary/fingerprint_own.hpp"
#include "summary/key_hash.hpp"
#include "summary/own_config.hpp"

namespace summary {

/// The owner's side of a summary, of the kind that the configuration says: what this node stores,
/// and what of it is not announced yet. It makes all that travels: descriptor, payloads of deltas
/// and snapshots, check-hash.
///
/// An announcement is named by (epoch, generation): another descriptor is a new epoch that starts
/// at generation 0 with a snapshot; take_delta() makes the next generation. A snapshot may be taken
/// at any time and belongs to the generation in which it was begun; whoever has it and all deltas
/// from then on is in sync. check_hash() speaks of what is held now: send it while nothing is
/// pending, right after take_delta().
///
/// One thread only. What takes long with many objects is done in slices, between which keys come
/// and go; how large they are is in the configuration. Memory: see the kinds.
class Own {
public:
    using Config = OwnConfig;

    explicit Own(const Config& config);
    /// The keys of `earlier`, which is of no use any more, under another configuration of the same
    /// kind. A new epoch, with nothing untold. When the size does not suit any more, it begins to
    /// regrow, and is done with it at once when there are few.
    Own(const Config& config, Own&& earlier);

    /// entry_of() this kind and the key. False, and nothing changes, when it was there already.
    bool stored(KeyHash entry);
    /// False, and nothing changes, when it was not there.
    bool removed(KeyHash entry);
    std::uint64_t objects() const;

    /// Objects that changed since take_delta() or a new epoch; one in and one out is one replaced,
    /// and counts once.
    std::uint64_t changed_since_announced() const;
    /// The payload that tells the changes, or the first `changes_at_once` of them, as the next
    /// generation; all_announced() says whether there are more. Nothing: a snapshot is smaller, or
    /// only one tells it, or it would be more than `max_bytes` (the generation advances all the
    /// same).
    std::optional<std::vector<std::byte>> take_delta(std::size_t max_bytes);
    bool all_announced() const;

    /// A snapshot's payload in the making, of the generation of its begin.
    class SnapshotWriter {
    public:
        /// Appends to `out`, which must stay until it is done.
        SnapshotWriter(Own& own, std::vector<std::byte>& out);
        SnapshotWriter(const SnapshotWriter&) = delete;
        SnapshotWriter& operator=(const SnapshotWriter&) = delete;
        /// One slice; true when all is written. Precondition: `own` is in the epoch of the begin.
        bool step(Own& own);

    private:
        std::variant<std::monostate, CountingBloomOwn::SnapshotWriter, QuotientOwn::SnapshotWriter,
                     CuckooOwn::SnapshotWriter>
            writer_;
    };

    Descriptor descriptor() const;
    std::uint64_t epoch() const;
    std::uint64_t generation() const;
    std::uint64_t check_hash() const;

    /// How full it is, and the chance of a false hit that follows from it.
    double fill_ratio() const;
    double expected_false_hit() const;

    /// Too small: more objects than it holds within the error. Too large: less than a quarter of
    /// that.
    Fit fit() const;
    /// From now on this is the error wanted.
    void set_error(double error);
    /// Fits, and is as all summaries of this error are.
    bool suits() const;

    /// Begins to move to another size. Until the last slice everything goes on with the old one and
    /// its epoch.
    void begin_regrow();
    bool growing() const;
    /// One slice. True when there is a new epoch.
    bool grow_some();
    /// For a start that finds many keys at once: they are taken in and not told, so that the
    /// summary that is told stays empty, and fits. Precondition: objects() == 0.
    void begin_import();
    /// All that came meanwhile is one new epoch: growing(), if there is any.
    void end_import();
    /// Until that epoch.
    bool importing() const;

    /// Gives memory back that growing has left over, in slices; false when there is none.
    bool tidy();

    /// In the long run: what is there for a while only is left out.
    std::uint64_t memory_bytes() const;

private:
    using Kinds = std::variant<CountingBloomOwn, QuotientOwn, CuckooOwn>;
    static Kinds make(const Config& config);

    Kinds own_;
};

}  // namespace summary
