#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "summary/filters/quotient_filter.hpp"

namespace summary::test {

/// All fingerprints of a filter in ascending order.
inline std::vector<std::uint64_t> fingerprints_of(const QuotientFilter& filter) {
    constexpr std::uint64_t kInBlock = std::uint64_t{1} << QuotientBlocks::kQuotientsLog2;
    std::vector<std::uint64_t> all;
    const auto end = quotients(filter.shape());
    for (std::uint64_t first = 0; first < end; first += kInBlock) {
        const auto count = static_cast<unsigned>(std::min(kInBlock, end - first));
        filter.for_each_in(first, count, [&](std::uint64_t number) { all.push_back(number); });
    }
    return all;
}

}  // namespace summary::test
