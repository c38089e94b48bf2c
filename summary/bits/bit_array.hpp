#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/bits/words.hpp"

namespace summary {

/// Bits in dense 64-bit words. Position p is in word p / 64 at weight 2^(p % 64); bits past size()
/// are always 0. The caller checks positions. One thread at a time.
class BitArray {
public:
    BitArray() = default;
    explicit BitArray(std::uint64_t bits);

    std::uint64_t size() const { return size_; }

    bool get(std::uint64_t position) const {
        assert(position < size_);
        return (words_[position / 64] >> (position % 64) & 1) != 0;
    }
    void set(std::uint64_t position) {
        assert(position < size_);
        words_[position / 64] |= std::uint64_t{1} << (position % 64);
    }
    void clear(std::uint64_t position) {
        assert(position < size_);
        words_[position / 64] &= ~(std::uint64_t{1} << (position % 64));
    }

    /// Prefetches the memory of a bit that is about to change.
    void prefetch(std::uint64_t position) const { __builtin_prefetch(&words_[position / 64], 1); }

    std::uint64_t count_ones() const;
    /// Returns whether the array has at least so many ones, and stops counting when it knows.
    bool has_ones(std::uint64_t at_least) const;

    /// XXH3-64 of the words in little endian. Equal arrays have equal hashes; different arrays have
    /// equal hashes about once in 2^64.
    std::uint64_t check_hash() const;

    std::span<const std::uint64_t> words() const { return words_; }

    /// Copies `count` words of an array of the same size, beginning with word `first`. Returns the
    /// number of ones in them. Callers copy a large array in slices.
    std::uint64_t copy_words(const BitArray& from, std::size_t first, std::size_t count);
    /// See Words::touch() and Words::release(). release() leaves an array of size 0.
    void touch(std::size_t from, std::size_t to) { words_.touch(from, to); }
    bool release(std::size_t words) {
        size_ = 0;
        return words_.release(words);
    }

    /// Stores a received word in an array whose words were all 0. Returns false and leaves the
    /// array unchanged when the word has a bit past the end.
    bool set_word(std::size_t index, std::uint64_t word);

    bool operator==(const BitArray&) const = default;

private:
    std::uint64_t size_ = 0;
    Words words_;
};

}  // namespace summary
