#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/words.hpp"

namespace summary {

/// Bits in dense 64-bit words, position p in word p / 64 at weight 2^(p % 64); bits past size() are
/// always 0. Positions are the caller's duty to check. One writer thread, no reader meanwhile.
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

    /// Asks for the memory of a bit that is about to change.
    void prefetch(std::uint64_t position) const { __builtin_prefetch(&words_[position / 64], 1); }

    std::uint64_t count_ones() const;
    /// At least so many; looks no further than it must.
    bool has_ones(std::uint64_t at_least) const;

    /// XXH3-64 of the words, little endian: equal arrays have equal hashes, others almost never.
    std::uint64_t check_hash() const;

    std::span<const std::uint64_t> words() const { return words_; }

    /// Copies words [from, from + count) of an array of the same size; returns how many ones they
    /// have. For copying in slices.
    std::uint64_t copy_words(const BitArray& from, std::size_t first, std::size_t count);
    /// As Words::touch() and Words::release(), which leaves an array of no size.
    void touch(std::size_t from, std::size_t to) { words_.touch(from, to); }
    bool release(std::size_t words) {
        size_ = 0;
        return words_.release(words);
    }

    /// Takes a word from outside, where all are 0 still. False, and nothing changed, when a bit
    /// past the end is set.
    bool set_word(std::size_t index, std::uint64_t word);

    bool operator==(const BitArray&) const = default;

private:
    std::uint64_t size_ = 0;
    Words words_;
};

}  // namespace summary
