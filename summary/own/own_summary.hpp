#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "summary/coding/descriptor.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "summary/own/own_fingerprint_summary.hpp"
#include "summary/own/own_summary_config.hpp"
#include "summary/sizing/key_hash.hpp"

namespace summary {

/// The owner's side of a summary of the configured kind: the keys that this node stores, and the
/// changes that it has yet to announce. The class makes everything that travels: descriptor,
/// payloads of deltas and snapshots, and check-hash.
///
/// (epoch, generation) identifies an announcement. Another descriptor begins a new epoch at
/// generation 0, with a snapshot; take_delta() makes the next generation. A snapshot may be taken
/// at any time, and belongs to the generation in which it was begun. A receiver with that snapshot
/// and all later deltas is in sync. check_hash() describes the present state, so it should be sent
/// right after a take_delta() that took all changes.
///
/// One thread only. Long work on many objects is done in slices, and keys may change between
/// slices; the configuration sets their size. Memory: see the kinds.
class OwnSummary {
public:
    using Config = OwnSummaryConfig;

    explicit OwnSummary(const Config& config);
    /// Takes the keys of `earlier`, which becomes useless, under another configuration of the same
    /// kind. A new epoch with all changes announced. When the size is unsuitable, the summary
    /// begins to regrow; with few objects it finishes at once.
    OwnSummary(const Config& config, OwnSummary&& earlier);

    /// Adds a key. `entry`: what entry_of() makes of it for this kind. Returns false and changes
    /// nothing when the key is present.
    bool stored(KeyHash entry);
    /// Returns false and changes nothing when the key is absent.
    bool removed(KeyHash entry);
    std::uint64_t objects() const;

    /// Objects changed since take_delta() or the start of the epoch. One object stored and one
    /// removed are one replacement, which counts once.
    std::uint64_t changed_since_announced() const;
    /// Takes the changes, or the first `changes_at_once` of them, as the next generation, and
    /// returns the payload; all_announced() returns whether more are left. Returns nullopt when a
    /// snapshot is smaller or required, or when the payload would exceed `max_bytes`; the
    /// generation advances all the same.
    std::optional<std::vector<std::byte>> take_delta(std::size_t max_bytes);
    bool all_announced() const;

    /// Writes a snapshot's payload, for the generation in which the writer was constructed.
    class SnapshotWriter {
    public:
        /// Appends to `out`, which must stay in place until the last step.
        SnapshotWriter(OwnSummary& own, std::vector<std::byte>& out);
        SnapshotWriter(const SnapshotWriter&) = delete;
        SnapshotWriter& operator=(const SnapshotWriter&) = delete;
        /// Writes one slice. Returns true after the last. Precondition: `own` is still in the epoch
        /// of the constructor.
        bool step(OwnSummary& own);

    private:
        std::variant<std::monostate, OwnBloomSummary::SnapshotWriter, QuotientOwn::SnapshotWriter,
                     CuckooOwn::SnapshotWriter>
            writer_;
    };

    Descriptor descriptor() const;
    std::uint64_t epoch() const;
    std::uint64_t generation() const;
    std::uint64_t check_hash() const;

    /// The share of the filter that is used, and the resulting chance of a false hit.
    double fill_ratio() const;
    double expected_false_hit() const;

    /// too_small: more objects than it has room for within the error. too_large: less than a
    /// quarter of that.
    Fit fit() const;
    /// Sets the wanted error.
    void set_error(double error);
    /// Returns whether the summary fits and has the shape that this error calls for.
    bool suits() const;

    /// Begins to move to another size. The old summary and its epoch stay in use until the last
    /// slice.
    void begin_regrow();
    bool growing() const;
    /// Does one slice. Returns true when a new epoch has begun.
    bool grow_some();
    /// Begins the import of the keys that a start finds. The summary takes them in and announces
    /// none of them, so the announced summary stays empty. Precondition: objects() == 0.
    void begin_import();
    /// Ends the import. If any keys came, the summary grows (growing()) and announces them as one
    /// new epoch.
    void end_import();
    /// True from begin_import() to the start of that epoch.
    bool importing() const;

    /// Gives back memory that growing has left over, in slices. Returns false when all is given
    /// back.
    bool tidy();

    /// Memory in the long run, apart from temporary buffers.
    std::uint64_t memory_bytes() const;

private:
    using Kinds = std::variant<OwnBloomSummary, QuotientOwn, CuckooOwn>;
    static Kinds make(const Config& config);

    Kinds own_;
};

}  // namespace summary
