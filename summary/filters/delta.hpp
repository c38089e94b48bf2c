#pragma once

#include <cstdint>
#include <vector>

#include "summary/bits/bit_array.hpp"

namespace summary {

/// One bit of a filter changed.
struct Flip {
    std::uint64_t position = 0;
    bool set = false;  // false: cleared

    bool operator==(const Flip&) const = default;
};

/// The changes since the last announcement, as absolute values. Applying a delta twice, or to bits
/// that already have some of the changes, gives the same bits. Both lists ascend strictly and have
/// different positions. Source: Fan et al. 2000 §VI.
struct Delta {
    std::vector<std::uint64_t> set;
    std::vector<std::uint64_t> clear;

    bool empty() const { return set.empty() && clear.empty(); }
    bool operator==(const Delta&) const = default;
};

/// The net effect of flips in the order in which they happened. Flips of one bit alternate, so an
/// even number cancels out.
Delta net_effect(std::vector<Flip> flips);

/// The same for a receiver that may have seen a part of the flips: the delta also names bits that
/// changed to and fro.
Delta last_values(std::vector<Flip> flips);

/// True when both lists ascend strictly, stay below `bits` and have different positions.
bool is_valid(const Delta& delta, std::uint64_t bits);

/// Precondition: is_valid(delta, bits.size()).
void apply(const Delta& delta, BitArray& bits);

}  // namespace summary
