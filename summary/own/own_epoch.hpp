#pragma once

#include <algorithm>
#include <cstdint>

namespace summary {

/// The epoch and the generation of an own summary, which own_summary.hpp describes, and the objects
/// that changed since the last announcement.
struct OwnEpoch {
    std::uint64_t number = 1;
    std::uint64_t generation = 0;
    std::uint64_t stored = 0, removed = 0;

    /// One object stored and one removed count once.
    std::uint64_t changed() const { return std::max(stored, removed); }
    void next_generation() { *this = {number, generation + 1}; }
};

}  // namespace summary
