#include "summary/bit_array.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace summary {

static_assert(std::endian::native == std::endian::little,
              "the check-hash and raw snapshots take words as they lie in memory");

BitArray::BitArray(std::uint64_t bits) : size_(bits), words_((bits + 63) / 64) {}

void BitArray::clear_all() {
    std::fill(words_.begin(), words_.end(), 0);
}

std::uint64_t BitArray::count_ones() const {
    std::uint64_t ones = 0;
    for (const auto word : words_) ones += static_cast<std::uint64_t>(std::popcount(word));
    return ones;
}

bool BitArray::has_ones(std::uint64_t at_least) const {
    std::uint64_t ones = 0;
    for (auto word = words_.begin(); word != words_.end() && ones < at_least; ++word) {
        ones += static_cast<std::uint64_t>(std::popcount(*word));
    }
    return ones >= at_least;
}

std::uint64_t BitArray::check_hash() const {
    return XXH3_64bits(words_.data(), words_.size() * sizeof(std::uint64_t));
}

bool BitArray::assign(std::span<const std::uint64_t> words) {
    if (words.size() != words_.size()) return false;
    if (size_ % 64 != 0 && words.back() >> (size_ % 64) != 0) return false;
    std::copy(words.begin(), words.end(), words_.begin());
    return true;
}

}  // namespace summary
