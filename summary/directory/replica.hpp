#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "summary/coding/descriptor.hpp"
#include "summary/coding/filter.hpp"
#include "summary/sizing/key.hpp"

namespace summary {

class Directory;

/// The result of an announcement.
enum class ApplyResult {
    ok,           // taken, or for heard(): up to date
    repeated,     // announced before, and ignored
    gap,          // an earlier announcement is missing: a snapshot is needed
    wrong_epoch,  // of another shape or instance: a snapshot is needed
    malformed,    // wrong for this filter, so the sender is broken: a snapshot is needed
    differs,      // the check-hash differs: a snapshot is needed
};

/// This node's copy of a peer's summary, of any kind. While in_sync(), its filter equals the
/// owner's filter when it announced (epoch, generation). A snapshot may also contain a part of the
/// next announcement. In doubt the replica is out of sync, and only a snapshot helps.
///
/// After a snapshot the replica owns the filter. A directory that keeps_filter() may take it over;
/// deltas then change the directory. One thread only. Memory: replica_bytes() while the replica
/// owns the filter.
class Replica {
public:
    /// Replaces everything: the beginning, and the only recovery. Returns `repeated` for a snapshot
    /// that is older than the state of the same epoch while in sync.
    ApplyResult apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Filter filter);

    struct Applied {
        ApplyResult what = ApplyResult::ok;
        std::optional<Change> change;  // applied to the filter; present for `ok`
    };
    /// Applies the delta that leads to `generation` if the replica is at the one before; otherwise
    /// the payload is skipped.
    Applied apply_delta(std::uint64_t epoch, std::uint64_t generation,
                        std::span<const std::byte> payload);

    /// Takes the generation of a heartbeat, which is the owner's last announcement.
    ApplyResult heard(std::uint64_t epoch, std::uint64_t generation);

    /// Compares the owner's check-hash of its summary as announced in `generation`. Returns
    /// `repeated` for an older generation, which cannot be compared.
    ApplyResult check(std::uint64_t epoch, std::uint64_t generation, std::uint64_t check_hash);

    /// Leaves the peer's filter to this directory, which must stay in place until the next move,
    /// snapshot or forget(). Precondition: directory.keeps_filter(peer), with the same content.
    void move_to(Directory& directory, unsigned peer);
    /// The directory that keeps the filter. Null while the replica owns it, or has none.
    const Directory* keeper() const { return keeper_; }

    /// Frees the filter when the source has ended. The replica is then empty until the next
    /// snapshot.
    void forget();

    bool in_sync() const { return in_sync_; }
    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    /// Empty before the first snapshot.
    Descriptor descriptor() const;
    /// The filter stays in place as long as the replica. Precondition: the replica owns a filter.
    const Filter& filter() const { return *filter_; }

private:
    ApplyResult out_of_step(ApplyResult why);

    std::uint64_t epoch_ = 0;
    std::uint64_t generation_ = 0;
    std::optional<Filter> filter_;
    Directory* keeper_ = nullptr;  // keeps the filter when the replica does not
    unsigned peer_ = 0;            // number in keeper_
    bool in_sync_ = false;
};

}  // namespace summary
