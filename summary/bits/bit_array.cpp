#include "summary/bits/bit_array.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace summary {

static_assert(std::endian::native == std::endian::little,
              "the check-hash and raw snapshots take words as they lie in memory");

BitArray::BitArray(std::uint64_t bits) : size_(bits), words_((bits + 63) / 64) {}

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

std::uint64_t BitArray::copy_words(const BitArray& from, std::size_t first, std::size_t count) {
    assert(from.size_ == size_);
    const auto end = std::min(words_.size(), first + count);
    std::uint64_t ones = 0;
    for (auto i = first; i < end; ++i) {
        words_[i] = from.words_[i];
        ones += static_cast<std::uint64_t>(std::popcount(words_[i]));
    }
    return ones;
}

std::uint64_t BitArray::check_hash() const {
    return XXH3_64bits(words_.data(), words_.size() * sizeof(std::uint64_t));
}

bool BitArray::set_word(std::size_t index, std::uint64_t word) {
    if (index + 1 == words_.size() && size_ % 64 != 0 && word >> (size_ % 64) != 0) return false;
    if (word != 0) words_[index] = word;  // pages of zeros are not touched
    return true;
}

}  // namespace summary
