#pragma once

#include <cstdint>

#include "summary/bit_array.hpp"
#include "summary/delta.hpp"
#include "summary/shape.hpp"

namespace summary {

/// What became of an announcement.
enum class Apply {
    ok,           // taken (or, for heard(): nothing newer is known)
    repeated,     // told before: ignored
    gap,          // something before it is missing: a snapshot is needed
    wrong_epoch,  // of another shape or run: a snapshot is needed
    malformed,    // not fit for this shape: the sender is broken; a snapshot is needed
    differs,      // the check-hash does not agree: a snapshot is needed
};
const char* to_string(Apply apply);

/// Our copy of a peer's summary. While in_step(), its bits are those the owner had when it
/// announced (epoch, generation), or for a snapshot those and some of the next announcement; when
/// in doubt it is not in step, and only a snapshot helps. One thread only. Memory: shape.bits / 8
/// bytes.
class Replica {
public:
    /// Replaces everything; the way to begin, and the only recovery. Precondition: bits.size() ==
    /// shape.bits, is_valid(shape). `repeated` for one that is older than what we have of the same
    /// epoch while in step.
    Apply apply_snapshot(std::uint64_t epoch, std::uint64_t generation, Shape shape, BitArray bits);

    /// Takes the delta that leads to `generation` if we are at the one before.
    Apply apply_delta(std::uint64_t epoch, std::uint64_t generation, const Delta& delta);

    /// The owner says (in a heartbeat) that this is its last announcement.
    Apply heard(std::uint64_t epoch, std::uint64_t generation);

    /// The owner's check-hash of its bits as announced in `generation`. `repeated`: of an older
    /// one, cannot be told.
    Apply check(std::uint64_t epoch, std::uint64_t generation, std::uint64_t check_hash);

    /// After the link is gone: nothing is known until the next snapshot. Frees the bits.
    void forget();

    bool in_step() const { return in_step_; }
    std::uint64_t epoch() const { return epoch_; }
    std::uint64_t generation() const { return generation_; }
    Shape shape() const { return shape_; }
    const BitArray& bits() const { return bits_; }

    bool contains(KeyHash key) const;

private:
    Apply out_of_step(Apply why);

    std::uint64_t epoch_ = 0;
    std::uint64_t generation_ = 0;
    Shape shape_;
    BitArray bits_;
    bool in_step_ = false;
};

}  // namespace summary
