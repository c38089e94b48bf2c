#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "summary/bits/shared_words.hpp"
#include "summary/bits/words.hpp"
#include "summary/directory/lanes.hpp"

namespace summary {

/// Bit arrays of one size side by side, one in each lane: a word has the same position of up to 64
/// lanes. The number of lanes is rounded up to a power of two, and to a multiple of 64 where a
/// position takes several words. Any thread may call the functions marked so at any time; one
/// writer thread calls the functions that change the arrays. Memory: bits * lanes / 8 bytes.
class LaneBits {
public:
    /// Preconditions: bits > 0, lanes > 0.
    LaneBits(std::uint64_t bits, std::size_t lanes);

    std::size_t lanes() const { return lanes_in_word() * words_each_; }

    // The writer works in blocks of 64 positions, which are one word of a dense array.
    std::uint64_t blocks() const { return (bits_ + 63) / 64; }
    /// Words of the table that contain one block of one lane, and of all lanes.
    std::uint64_t lane_block_words() const { return std::uint64_t{64} >> span_log2_; }
    std::uint64_t block_words() const { return lane_block_words() * words_each_; }

    /// Loads blocks [from, to) of all lanes, each from its dense words (null: zeros). Readers start
    /// later.
    void load_all(std::span<const std::uint64_t* const> dense, std::uint64_t from,
                  std::uint64_t to);
    /// Loads blocks of one lane from its dense words, beginning with block `from`. `blank` states
    /// that the lane was empty before, so the table skips words that are zero in the source.
    void load(std::size_t lane, std::span<const std::uint64_t> dense, std::uint64_t from,
              bool blank);
    /// Changes one bit of one lane, in the memory order that shared_words.hpp gives for versions.
    void turn(std::size_t lane, std::uint64_t position, bool on) {
        const auto mask = std::uint64_t{1} << (shift(lane) + (position & (span() - 1)));
        auto& word = words_[word_of(position) + lane / 64];
        shared_store(word, on ? word | mask : word & ~mask);
    }

    /// Any thread, up to 64 lanes: the bits of a position, that of a lane at weight 2^(lane *
    /// span()). The other bits belong to other positions.
    std::uint64_t narrow(std::uint64_t position) const {
        return shared_load(words_[word_of(position)]) >> (position & (span() - 1));
    }
    /// The weights of all lanes.
    std::uint64_t first_bits() const { return first_bits_; }
    std::size_t lane_at(unsigned bit) const { return bit >> span_log2_; }

    /// Any thread: prefetches the memory of some positions.
    void prefetch(std::uint64_t first, std::uint64_t count) const {
        constexpr std::size_t kWordsInLine = 8;
        const auto* const end = &words_[word_of(first + count - 1)] + words_each_;
        for (const auto* word = &words_[word_of(first)]; word < end; word += kWordsInLine) {
            __builtin_prefetch(word);
        }
    }

    /// Any thread, above 64 lanes: the words of a position, for 64 lanes each.
    bool is_wide() const { return words_each_ > 1; }
    std::size_t words_each() const { return words_each_; }
    const std::uint64_t* wide(std::uint64_t position) const { return &words_[word_of(position)]; }

    std::uint64_t memory_bytes() const { return words_.size() * sizeof(std::uint64_t); }
    /// See Words::release().
    bool release(std::uint64_t words) { return words_.release(words); }

private:
    std::size_t lanes_in_word() const { return std::size_t{64} >> span_log2_; }
    std::uint64_t span() const { return std::uint64_t{1} << span_log2_; }
    unsigned shift(std::size_t lane) const {
        return static_cast<unsigned>(lane % 64) << span_log2_;
    }
    /// Index of the first 64 lanes' word.
    std::size_t word_of(std::uint64_t position) const {
        return static_cast<std::size_t>(position >> span_log2_) * words_each_;
    }

    std::uint64_t bits_;
    unsigned span_log2_ = 0;        // a word has 2^span_log2_ positions of each lane
    std::size_t words_each_ = 1;    // above 1: the words of one position, for 64 lanes each
    std::uint64_t first_bits_ = 0;  // the bits of each lane's first position in a word
    Words words_;                   // changed by the writer while readers read them
};

}  // namespace summary
