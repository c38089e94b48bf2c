#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "summary/bits/packed_bits.hpp"
#include "summary/bits/rank_select.hpp"
#include "summary/bits/shared_words.hpp"
#include "summary/bits/words.hpp"
#include "summary/filters/quotient_shape.hpp"

namespace summary {

/// The remainders of a quotient filter, in blocks of 64 quotients (see QuotientFilter), with the
/// metadata of Pandey et al. 2017. A bit for each quotient marks that it has a run. A bit for each
/// slot marks that its remainder is the last of a run.
///
/// One writer thread; any thread may call read() at any time. The functions for readers tolerate
/// any intermediate state: they end, and read only the filter's own memory.
class QuotientBlocks {
public:
    static constexpr unsigned kQuotientsLog2 = 6;  // in a block
    static constexpr unsigned kRegionLog2 = 4;     // blocks in a region, which has one version
    static constexpr std::uint64_t kMostInBlock = 4095;

    /// The slots of a block's remainders: contiguous and in order.
    struct Block {
        std::uint64_t start = 0;
        std::uint64_t count = 0;
        std::uint64_t end() const { return start + count; }
    };
    /// The slots of one quotient's remainders. An empty run is at the slot where its first
    /// remainder would go.
    struct Run {
        std::uint64_t start = 0;
        std::uint64_t length = 0;
        std::uint64_t end() const { return start + length; }
    };

    QuotientBlocks() = default;
    /// Precondition: that of QuotientFilter. An insertion may push aside blocks up to `reach`
    /// blocks away.
    QuotientBlocks(const QuotientShape& shape, std::uint64_t reach);

    static std::uint64_t blocks_of(const QuotientShape& shape) {
        return (quotients(shape) + (1U << kQuotientsLog2) - 1) >> kQuotientsLog2;
    }
    static std::uint64_t regions_of(const QuotientShape& shape) {
        return ((blocks_of(shape) - 1) >> kRegionLog2) + 1;
    }
    std::uint64_t size() const { return blocks_.size(); }
    std::uint64_t slots() const { return slots_; }

    // For readers.

    /// Returns the result of `look()` on one block, or nullopt when the block has changed during
    /// every attempt.
    template <class Look>
    auto read(std::uint64_t index, Look look) const -> std::optional<decltype(look())>;
    /// The quotients that have runs.
    std::uint64_t occupied(std::uint64_t index) const { return shared_load(occupied_[index]); }
    Block block(std::uint64_t index) const;
    Run run(Block block, std::uint64_t occupied, unsigned quotient) const;
    bool has(Run run, std::uint64_t remainder) const;
    /// Among the quotients marked in `asked`, which are contiguous, those that have the remainder.
    std::uint64_t matches(std::uint64_t index, std::uint64_t asked, std::uint64_t remainder) const;

    /// Prefetches a block's remainders before the reader knows which of them it needs.
    void prefetch(Block block) const;
    /// Prefetches the first memory that matches() needs, with a guess at the place of the
    /// remainders.
    void prefetch(std::uint64_t index) const;

    // For the writer.

    std::uint64_t remainder(std::uint64_t slot) const {
        return remainder_at(slot * shape_.remainder_bits);
    }
    bool ends_run(std::uint64_t slot) const {
        return (run_ends_[slot / 64] >> (slot % 64) & 1) != 0;
    }
    /// The number of the block's runs that end before the slot.
    unsigned runs_before(Block block, std::uint64_t slot) const;
    /// The place of a remainder in the run, in bits: before the first remainder that is at least as
    /// large.
    std::uint64_t lower_bound(Run run, std::uint64_t remainder) const;
    /// Returns whether the remainder is present at its place.
    bool is_at(Run run, std::uint64_t at, std::uint64_t remainder) const {
        return at != run.end() * shape_.remainder_bits && remainder_at(at) == remainder;
    }

    /// Returns whether the slot behind the block is free.
    bool has_room(std::uint64_t index, Block block) const {
        return block.end() != start_of(index + 1);
    }
    /// Frees that slot, from the nearest block with a free one. Returns false when that is too far
    /// away.
    bool make_room(std::uint64_t index);
    /// Inserts a remainder of `quotient`, whose run is `run`, at its place. Precondition:
    /// has_room().
    void insert(std::uint64_t index, unsigned quotient, Run run, std::uint64_t at,
                std::uint64_t remainder);
    /// Removes the remainder at `at`.
    void remove(std::uint64_t index, unsigned quotient, Run run, std::uint64_t at);

    /// Sets the start of an empty block, before readers see it. Returns false when the start is out
    /// of range.
    bool place(std::uint64_t index, std::uint64_t start);
    /// Appends a remainder behind all others, before readers see it.
    void append(std::uint64_t index, unsigned quotient, bool new_run, std::uint64_t remainder);

    std::uint64_t memory_bytes() const;
    /// Memory of blocks with this shape, existing or planned.
    static std::uint64_t memory_of(const QuotientShape& shape);
    /// See Words::release().
    bool release(std::uint64_t words);

private:
    static constexpr unsigned kCountBits = 12;  // of a number in blocks_
    static_assert(kMostInBlock >> kCountBits == 0);
    static constexpr unsigned kAttempts = 8;   // attempts of a reader
    static constexpr unsigned kStepBits = 24;  // fraction bits of step_

    /// A change that readers see as a whole.
    class Change;

    std::uint64_t nominal(std::uint64_t block) const { return (block * step_) >> kStepBits; }
    bool can_start_at(std::uint64_t block, std::uint64_t start) const;
    void set_start(std::uint64_t index, std::uint64_t start);
    std::uint64_t start_of(std::uint64_t index) const {
        return index < size() ? block(index).start : slots_;
    }
    std::uint64_t run_length(Block block, std::uint64_t start) const;
    std::uint64_t run_start(Block block, unsigned run) const;

    std::uint64_t remainder_at(std::uint64_t at) const {
        return window(remainders_, at) & low_bits(shape_.remainder_bits);
    }
    /// A mask of `count` remainders, as far as a word goes.
    std::uint64_t fields(std::uint64_t count) const {
        const auto bits = count * shape_.remainder_bits;
        return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
    }
    std::uint64_t equal(std::uint64_t slot, std::uint64_t pattern) const;
    std::uint64_t less(std::uint64_t slot, std::uint64_t pattern) const;

    void move_up(std::uint64_t first, std::uint64_t last, std::uint64_t by);
    void move_down(std::uint64_t first, std::uint64_t last, std::uint64_t by);
    bool push_up(std::uint64_t first, std::uint64_t last);
    bool push_down(std::uint64_t first, std::uint64_t last);

    QuotientShape shape_;
    std::uint64_t reach_ = 0;
    std::uint64_t in_a_row_ = 0;  // remainders side by side in a word
    std::uint64_t lows_ = 0;      // the lowest bit of each remainder
    std::uint64_t tops_ = 0;      // the highest bit of each
    std::uint64_t slots_ = 0;
    std::uint64_t step_ = 0;  // average slots per block, in fixed point
    Words occupied_;          // one word for each block
    Words run_ends_;          // a bit for each slot
    Words remainders_;        // packed
    HalfWords
        blocks_;  // start (relative to nominal) and count in one word, so that readers see both
    HalfWords versions_;  // of regions; odd during a change
};

inline QuotientBlocks::Block QuotientBlocks::block(std::uint64_t index) const {
    const auto word = shared_load(blocks_[index]);
    const auto relative = std::int64_t{static_cast<std::int32_t>(word) >> kCountBits};
    return {nominal(index) + static_cast<std::uint64_t>(relative), word & kMostInBlock};
}

/// Most runs begin and end among a block's first 64 slots: one window of bits shows both.
inline QuotientBlocks::Run QuotientBlocks::run(Block block, std::uint64_t occupied,
                                               unsigned quotient) const {
    auto start = block.start;
    auto ends = window(run_ends_, start);
    if (auto left = ones(occupied & ((std::uint64_t{1} << quotient) - 1)); left != 0) {
        for (auto here = ones(ends); here < left; here = ones(ends)) {
            start += 64;
            if (start >= block.end()) return {block.end(), 0};  // only in an intermediate state
            left -= here;
            ends = window(run_ends_, start);
        }
        const auto last = select_one(ends, left - 1);
        start += last + 1;
        ends = ends >> last >> 1;
    }
    if (ends == 0) ends = window(run_ends_, start);
    const auto length = ends == 0
                            ? run_length(block, start)
                            : static_cast<unsigned>(std::countr_zero(ends)) + std::uint64_t{1};
    // An intermediate state may show more remainders than the block has.
    start = std::min(start, block.end());
    return {start, (occupied >> quotient & 1) != 0 ? std::min(length, block.end() - start) : 0};
}

/// The remainders from `slot` on that equal the pattern: the highest bit of each.
inline std::uint64_t QuotientBlocks::equal(std::uint64_t slot, std::uint64_t pattern) const {
    const auto differing = window(remainders_, slot * shape_.remainder_bits) ^ pattern;
    const auto below = tops_ - lows_;  // adding to it reaches the highest bit, and stays there
    return ~(((differing & below) + below) | differing) & tops_;
}

/// The remainders from `slot` on that are less than the pattern.
inline std::uint64_t QuotientBlocks::less(std::uint64_t slot, std::uint64_t pattern) const {
    const auto here = window(remainders_, slot * shape_.remainder_bits);
    const auto borrowed = ~((here | tops_) - (pattern & ~tops_));  // below the highest bit
    return ((~here & pattern) | (~(here ^ pattern) & borrowed)) & tops_;
}

inline std::uint64_t QuotientBlocks::lower_bound(Run run, std::uint64_t remainder) const {
    const auto pattern = remainder * lows_;
    for (auto slot = run.start;; slot += in_a_row_) {
        const auto passed = less(slot, pattern) & fields(run.end() - slot);
        const auto here = slot * shape_.remainder_bits;
        if (passed != tops_) {
            return here + static_cast<unsigned>(std::countr_zero(tops_ & ~passed)) + 1 -
                   shape_.remainder_bits;
        }
    }
}

template <class Look>
auto QuotientBlocks::read(std::uint64_t index, Look look) const -> std::optional<decltype(look())> {
    const auto& version = versions_[index >> kRegionLog2];
    for (unsigned i = 0; i < kAttempts; ++i) {
        const auto before = shared_load(version);
        if (before % 2 != 0) continue;
        const auto found = look();
        const std::atomic_ref<std::uint32_t> now(const_cast<std::uint32_t&>(version));
        if (now.load(std::memory_order_relaxed) == before) return found;
    }
    return std::nullopt;
}

}  // namespace summary
