#include "measure/simulate/frequency_sketch.hpp"

#include <algorithm>
#include <bit>

namespace measure {

std::array<std::size_t, FrequencySketch::kRows> FrequencySketch::places(
    summary::KeyHash key) const {
    const auto mask = rows_[0].size() - 1;
    return {key.low & mask, (key.low >> 32) & mask, key.high & mask, (key.high >> 32) & mask};
}

void FrequencySketch::resize(std::uint64_t keys) {
    keys_ = std::bit_ceil(keys);
    for (auto& row : rows_) {
        // The lower bits of a key's hash choose its counter. Each half of the doubled row therefore
        // continues the old counts.
        const auto old = row.size();
        row.resize(keys_ * kWidth);
        for (std::size_t i = old; old > 0 && i < row.size(); ++i) row[i] = row[i - old];
    }
}

void FrequencySketch::add(summary::KeyHash key) {
    const auto at = places(key);
    const auto least = estimate(key);
    if (least < kMost) {
        for (std::size_t i = 0; i < kRows; ++i) {
            auto& counter = rows_[i][at[i]];
            if (counter == least) ++counter;
        }
    }
    if (++added_ < kSample * keys_) return;
    for (auto& row : rows_)
        for (auto& counter : row) counter /= 2;
    added_ /= 2;
}

unsigned FrequencySketch::estimate(summary::KeyHash key) const {
    const auto at = places(key);
    unsigned least = kMost;
    for (std::size_t i = 0; i < kRows; ++i) least = std::min<unsigned>(least, rows_[i][at[i]]);
    return least;
}

}  // namespace measure
