#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/bits/words.hpp"

namespace summary {

/// Counts the numbers of each lane in each block, so that a number is found by its rank. Each block
/// has a byte; groups of 64 and of 4,096 blocks have sums. One thread only. Memory: 1.06 bytes for
/// each lane and block.
class LaneCounts {
public:
    static constexpr unsigned kMost = 255;  // in one block of a lane

    LaneCounts(std::size_t lanes, std::uint64_t blocks);

    std::uint64_t size(std::size_t lane) const { return sizes_[lane]; }
    unsigned in_block(std::size_t lane, std::uint64_t block) const {
        return counts_[lane * blocks_ + block];
    }
    /// Precondition: count <= kMost.
    void set(std::size_t lane, std::uint64_t block, unsigned count);

    struct Place {
        std::uint64_t block = 0;
        std::uint64_t rank = 0;  // in the block
    };
    /// The place of the lane's number `rank`, counted from 0. Precondition: rank < size(lane).
    Place find(std::size_t lane, std::uint64_t rank) const;

    std::uint64_t memory_bytes() const;
    /// See Words::release().
    bool release(std::uint64_t words);

private:
    static constexpr unsigned kFanLog2 = 6;  // blocks in a group, groups in a large one

    std::uint64_t blocks_;
    std::uint64_t groups_each_;
    std::uint64_t large_each_;
    Octets counts_;     // lane by lane
    HalfWords groups_;  // sums
    HalfWords large_;
    std::vector<std::uint64_t> sizes_;  // of the lanes
};

}  // namespace summary
