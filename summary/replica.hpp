#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "summary/descriptor.hpp"
#include "summary/filter.hpp"
#include "summary/key.hpp"

namespace summary {

class Directory;

/// What became of an announcement.
enum class Apply {
    ok,           // taken (or, for heard(): nothing newer is known)
    repeated,     // told before: ignored
    gap,          // something before it is missing: a snapshot is needed
    wrong_epoch,  // of another shape or run: a snapshot is needed
    malformed,    // not fit for this filter: the sender is broken; a snapshot is needed
    differs,      // the check-hash does not agree: a snapshot is needed
};
const char* to_string(Apply apply);

/// Our copy of a peer's summary, of any kind. While in_sync(), its filter is the one the owner had
/// when it announced (epoch, generation), or for a snapshot that and some of the next announcement;
/// when in doubt it is not in sync, and only a snapshot helps.
///
/// After a snapshot the filter is here; a directory that keeps_filter() it too may take it over,
/// and then is what deltas change. One thread only. Memory: replica_bytes() while the filter is
/// here.
class Replica {
public:
    /// Replaces everything; the way to begin, and the only recovery. `repeated` for one that is
    /// older than what we have of the same epoch while in sync.
    Apply apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Filter filter);

    struct Applied {
        Apply what = Apply::ok;
        std::optional<Change> change;  // done, when that is `ok`
    };
    /// Takes the delta that leads to `generation` if we are at the one before; only then its
    /// payload is looked at.
    Applied apply_delta(std::uint64_t epoch, std::uint64_t generation,
                        std::span<const std::byte> payload);

    /// The owner says (in a heartbeat) that this is its last announcement.
    Apply heard(std::uint64_t epoch, std::uint64_t generation);

    /// The owner's check-hash of its summary as announced in `generation`. `repeated`: of an older
    /// one, cannot be told.
    Apply check(std::uint64_t epoch, std::uint64_t generation, std::uint64_t check_hash);

    /// The peer's filter is in this directory from now on, which must stay until the next of these
    /// calls, snapshot or forget(). Precondition: directory.keeps_filter(peer), and has what is
    /// here.
    void move_to(Directory& directory, unsigned peer);
    /// Null while it is here, or there is none.
    const Directory* keeper() const { return keeper_; }

    /// After the link is gone: nothing is known until the next snapshot. Frees the filter.
    void forget();

    bool in_sync() const { return in_sync_; }
    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    /// Of nothing before the first snapshot.
    Descriptor descriptor() const;
    /// Stays where it is as long as this does. Precondition: there was a snapshot, and it was not
    /// moved since.
    const Filter& filter() const { return *filter_; }

    bool contains(const Key& key) const;

private:
    Apply out_of_step(Apply why);

    std::uint64_t epoch_ = 0;
    std::uint64_t generation_ = 0;
    std::optional<Filter> filter_;
    Directory* keeper_ = nullptr;  // of the filter, if it is not here
    unsigned peer_ = 0;            // there
    bool in_sync_ = false;
};

}  // namespace summary
