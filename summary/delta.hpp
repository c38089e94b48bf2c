#pragma once

#include <cstdint>
#include <vector>

#include "summary/bit_array.hpp"

namespace summary {

/// One bit of a filter changed.
struct Flip {
    std::uint64_t position = 0;
    bool set = false;  // false: cleared

    bool operator==(const Flip&) const = default;
};

/// What changed since the last announcement, as absolute values: applying it twice, or to bits that
/// have some of the changes already, ends in the same bits. Both lists ascend strictly and share no
/// position. Source: Fan et al. 2000 §VI.
struct Delta {
    std::vector<std::uint64_t> set;
    std::vector<std::uint64_t> clear;

    bool empty() const { return set.empty() && clear.empty(); }
    bool operator==(const Delta&) const = default;
};

/// Flips in the order they happened -> what they amount to. Flips of one bit alternate, so an even
/// number cancels out.
Delta net_effect(std::vector<Flip> flips);

/// The same for a receiver that may have seen any part of the flips already: bits that changed to
/// and fro are told too.
Delta last_values(std::vector<Flip> flips);

/// True when both lists ascend strictly, stay below `bits` and share no position.
bool is_valid(const Delta& delta, std::uint64_t bits);

/// Precondition: is_valid(delta, bits.size()).
void apply(const Delta& delta, BitArray& bits);

}  // namespace summary
