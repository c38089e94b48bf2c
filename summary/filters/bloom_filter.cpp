#include "summary/filters/bloom_filter.hpp"

#include <algorithm>

namespace summary {

void BloomFilter::insert(std::span<const std::uint64_t> positions) {
    for (const auto position : positions) bits_.set(position);
}

bool BloomFilter::contains(std::span<const std::uint64_t> positions) const {
    return std::all_of(positions.begin(), positions.end(),
                       [this](std::uint64_t position) { return bits_.get(position); });
}

}  // namespace summary
