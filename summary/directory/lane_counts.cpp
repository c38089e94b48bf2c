#include "summary/directory/lane_counts.hpp"

#include <cassert>

namespace summary {

LaneCounts::LaneCounts(std::size_t lanes, std::uint64_t blocks)
    : blocks_(blocks),
      groups_each_((blocks >> kFanLog2) + 1),
      large_each_((groups_each_ >> kFanLog2) + 1),
      counts_(lanes * blocks),
      groups_(lanes * groups_each_),
      large_(lanes * large_each_),
      sizes_(lanes) {}

void LaneCounts::set(std::size_t lane, std::uint64_t block, unsigned count) {
    assert(count <= kMost);
    auto& there = counts_[lane * blocks_ + block];
    const auto more = count - std::uint32_t{there};  // modulo 2^32, as the sums
    there = static_cast<std::uint8_t>(count);
    groups_[lane * groups_each_ + (block >> kFanLog2)] += more;
    large_[lane * large_each_ + (block >> 2 * kFanLog2)] += more;
    sizes_[lane] += static_cast<std::uint64_t>(static_cast<std::int32_t>(more));
}

LaneCounts::Place LaneCounts::find(std::size_t lane, std::uint64_t rank) const {
    assert(rank < size(lane));
    const auto* const large = &large_[lane * large_each_];
    const auto* const groups = &groups_[lane * groups_each_];
    const auto* const counts = &counts_[lane * blocks_];
    std::uint64_t at = 0;
    for (; rank >= large[at]; ++at) rank -= large[at];
    for (at <<= kFanLog2; rank >= groups[at]; ++at) rank -= groups[at];
    for (at <<= kFanLog2; rank >= counts[at]; ++at) rank -= counts[at];
    return {at, rank};
}

std::uint64_t LaneCounts::memory_bytes() const {
    return counts_.size() + (groups_.size() + large_.size()) * sizeof(std::uint32_t) +
           sizes_.size() * sizeof(std::uint64_t);
}

bool LaneCounts::release(std::uint64_t words) {
    return counts_.release(8 * words) && groups_.release(2 * words) && large_.release(2 * words);
}

}  // namespace summary
