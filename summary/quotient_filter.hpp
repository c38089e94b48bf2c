#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "summary/fingerprint.hpp"
#include "summary/rank_select.hpp"
#include "summary/words.hpp"

namespace summary {

/// A quotient filter's size. A fingerprint's upper part is its quotient, which says where it
/// stands; the low `remainder_bits` are stored.
struct QuotientShape {
    std::uint64_t universe = 0;  // fingerprints are below this
    unsigned remainder_bits = 0;
    std::uint64_t capacity = 0;  // how many fingerprints it is made for

    bool operator==(const QuotientShape&) const = default;
};

inline constexpr unsigned kMaxRemainderBits = 32;
inline constexpr std::uint64_t kMaxQuotients = kMaxBits;
inline constexpr std::uint64_t kMaxFingerprints = std::uint64_t{1} << 30;

/// False for shapes that the filter does not take; ask it of every shape that comes from outside.
bool is_valid(const QuotientShape& shape);

/// What a filter of this shape takes. Precondition: is_valid(shape).
std::uint64_t memory_bytes(const QuotientShape& shape);

/// How many fingerprints fit: a sixteenth more than it is made for.
std::uint64_t most_fingerprints(const QuotientShape& shape);

/// The shape that takes least memory for so many fingerprints.
QuotientShape quotient_shape(std::uint64_t universe, std::uint64_t capacity);

/// A sorted multiset of fingerprints: Bender et al. 2012, with the metadata of Pandey et al. 2017,
/// one bit for each quotient (it has a run) and one for each remainder (it ends its run), read by
/// rank and select.
///
/// 64 quotients are a block. The remainders of a block stand without gaps, in order, and what is
/// free lies between blocks: so nothing has to be known of free slots, a change moves what follows
/// in its block only, and a block that finds no room pushes its neighbours aside. This is the
/// classic table without its empty slots, and may be up to 94 % full.
/// Memory: about (remainder_bits + 1) * 1.0625 + quotients / capacity * 1.56 bits for each of
/// `capacity`: 1.92 MB for a million at the error 2^-12.
///
/// One writer thread; contains() may be called by any thread at any time. Blocks have versions, 16
/// of them one (shared_words.hpp): a reader that meets a change tries again, a few times, and then
/// says yes. It never waits and reads nothing but its own memory.
class QuotientFilter {
public:
    /// Holds nothing and takes nothing.
    QuotientFilter() = default;
    /// What is refused although there is room elsewhere.
    struct Limits {
        std::uint64_t in_block = 255;  // far more in 64 quotients than chance would bring
        std::uint64_t reach = 1024;    // blocks that may be pushed aside for one
    };
    static constexpr std::uint64_t kMostInBlock = 4095;
    /// Precondition: is_valid(shape); what several filters share may go beyond kMaxUniverse,
    /// kMaxQuotients and kMaxFingerprints.
    explicit QuotientFilter(const QuotientShape& shape) : QuotientFilter(shape, Limits{}) {}
    QuotientFilter(const QuotientShape& shape, const Limits& limits);

    const QuotientShape& shape() const { return shape_; }
    std::uint64_t size() const { return size_; }

    /// Any thread. Precondition, here and below: fingerprint < shape().universe.
    bool contains(std::uint64_t fingerprint) const;

    /// Any thread: asks for the memory that contains() begins with.
    void prefetch(std::uint64_t fingerprint) const {
        const auto block = fingerprint >> (shape_.remainder_bits + kBlockLog2);
        __builtin_prefetch(&occupied_[block]);
        __builtin_prefetch(&blocks_[block]);
    }

    /// Any thread: which of the quotients [first, first + count) have this remainder, bit i for
    /// first + i. In doubt, as contains(), those that have any. They must be in one block.
    std::uint64_t claims(std::uint64_t first, unsigned count, std::uint64_t remainder) const;
    /// Any thread: asks for the memory that it looks at.
    void prefetch_claims(std::uint64_t first) const;

    /// One more of it. False, and nothing changes, when it is full: above `capacity`, or by limits.
    bool insert(std::uint64_t fingerprint);
    /// One less of it. False, and nothing changes, when there is none.
    bool erase(std::uint64_t fingerprint);

    /// How many are less than this one.
    std::uint64_t rank(std::uint64_t fingerprint) const;
    /// The fingerprint number `rank` (from 0) in ascending order. Precondition: rank < size().
    std::uint64_t at(std::uint64_t rank) const;

    /// How many have this quotient.
    std::uint64_t run_length(std::uint64_t quotient) const;
    /// The fingerprint number `index` (from 0) of those that have it, in ascending order.
    /// Precondition: index < run_length(quotient).
    std::uint64_t in_run(std::uint64_t quotient, std::uint64_t index) const;
    /// Calls `visit(fingerprint)` for those of quotients [first, first + count), which must be in
    /// one block, in ascending order. Good until the next change.
    template <class Visit>
    void for_each_in(std::uint64_t first, unsigned count, Visit visit) const;

    /// The sum of check_term() over all, kept as they come and go.
    std::uint64_t check_hash() const { return check_; }

    /// All in ascending order. Good until the next change.
    class Cursor {
    public:
        explicit Cursor(const QuotientFilter& filter) : filter_(&filter) { enter(0); }
        /// Nothing at the end.
        std::optional<std::uint64_t> next();

    private:
        void enter(std::uint64_t block);

        const QuotientFilter* filter_;
        std::uint64_t block_ = 0;
        std::uint64_t runs_ = 0;  // quotients of this block whose runs have not ended
        std::uint64_t slot_ = 0;
        std::uint64_t end_ = 0;  // of the block
    };

    class Builder;

    /// The same fingerprints with longer or shorter remainders (a bit of the quotient becomes one
    /// of the remainder, or back), or for another number of them. Nothing when they do not fit.
    /// Precondition: is_valid(shape), with our universe.
    std::optional<QuotientFilter> resized(const QuotientShape& shape) const;
    /// Those of both. Preconditions and failure as above.
    static std::optional<QuotientFilter> merged(const QuotientFilter& one,
                                                const QuotientFilter& other,
                                                const QuotientShape& shape);

    std::uint64_t memory_bytes() const;
    /// Of one with this shape, made or not.
    static std::uint64_t memory_of(const QuotientShape& shape);
    /// When it is of no more use to anybody: gives about so many words back; true at the end.
    bool release(std::uint64_t words);

private:
    static constexpr unsigned kBlockLog2 = 6;   // quotients in a block
    static constexpr unsigned kRegionLog2 = 4;  // blocks in a region, which has one version
    static constexpr unsigned kGroupLog2 = 6;   // regions in a group, for counting only
    static constexpr unsigned kAttempts = 8;    // of a reader
    static constexpr unsigned kStepBits = 24;   // behind the point of step_

    /// Where a block's remainders are; one 32-bit number, so that a reader sees both or neither.
    struct Block {
        std::uint64_t start = 0;
        std::uint64_t count = 0;
        std::uint64_t end() const { return start + count; }
    };
    /// A change that readers see as a whole: blocks [first, last].
    class Change;

    static std::uint64_t blocks_of(const QuotientShape& shape);
    static std::uint64_t regions_of(std::uint64_t blocks) {
        return ((blocks - 1) >> kRegionLog2) + 1;
    }
    static std::uint64_t groups_of(std::uint64_t blocks) {
        return ((regions_of(blocks) - 1) >> kGroupLog2) + 1;
    }
    std::uint64_t block_count() const { return blocks_.size(); }
    std::uint64_t nominal(std::uint64_t block) const { return (block * step_) >> kStepBits; }
    Block block(std::uint64_t index) const;
    bool can_start_at(std::uint64_t block, std::uint64_t start) const;
    void set_block(std::uint64_t index, Block block);
    std::uint64_t start_of(std::uint64_t index) const {
        return index < block_count() ? block(index).start : slots_;
    }

    std::uint64_t remainder(std::uint64_t slot) const;
    void set_remainder(std::uint64_t slot, std::uint64_t remainder);
    bool ends_run(std::uint64_t slot) const;
    void set_ends_run(std::uint64_t slot, bool ends);
    /// How many runs of the block end before the slot.
    unsigned runs_before(Block block, std::uint64_t slot) const;
    std::uint64_t find_claims(std::uint64_t first, unsigned count, std::uint64_t remainder) const;
    /// The slot where a block's run number `run` begins.
    std::uint64_t run_start(Block block, unsigned run) const;
    void prefetch_block(Block block) const;
    bool find(std::uint64_t fingerprint) const;
    void move_up(std::uint64_t from, std::uint64_t to, std::uint64_t slots);
    void move_down(std::uint64_t from, std::uint64_t to, std::uint64_t slots);

    bool make_room(std::uint64_t block);
    bool push_up(std::uint64_t first, std::uint64_t last);
    bool push_down(std::uint64_t first, std::uint64_t last);
    void count(std::uint64_t block, std::uint64_t change);

    QuotientShape shape_;
    Limits limits_;
    std::uint64_t lows_ = 0;  // the low bits of as many remainders as a word has in a row
    std::uint64_t slots_ = 0;
    std::uint64_t step_ = 0;  // slots for each block if all had as many, in fixed point
    std::uint64_t size_ = 0;
    std::uint64_t check_ = 0;
    Words occupied_;      // of a block each: which quotients have runs
    Words run_ends_;      // a bit for each slot
    Words remainders_;    // packed
    HalfWords blocks_;    // start (relative to nominal) and count
    HalfWords versions_;  // of regions; odd while one changes
    HalfWords counts_;    // of fingerprints in regions
    HalfWords groups_;    // the same in groups of 2^kGroupLog2 regions
};

template <class Visit>
void QuotientFilter::for_each_in(std::uint64_t first, unsigned count, Visit visit) const {
    const auto index = first >> kBlockLog2;
    const auto in_block = static_cast<unsigned>(first % 64);
    auto runs = occupied_[index] & low_bits(count) << in_block;
    if (runs == 0) return;
    auto slot = run_start(block(index), ones(occupied_[index] & low_bits(in_block)));
    for (; runs != 0; runs &= runs - 1) {
        const auto quotient =
            index << kBlockLog2 | static_cast<std::uint64_t>(std::countr_zero(runs));
        for (bool last = false; !last; ++slot) {
            last = ends_run(slot);
            visit(quotient << shape_.remainder_bits | remainder(slot));
        }
    }
}

/// Made from fingerprints in ascending order, which costs a tenth of insert().
class QuotientFilter::Builder {
public:
    /// Precondition: is_valid(shape). `count` are expected; more than the filter holds are
    /// never taken.
    Builder(const QuotientShape& shape, std::uint64_t count);
    /// False when it is full. Precondition: not less than the one before.
    bool append(std::uint64_t fingerprint);
    /// When all were appended.
    QuotientFilter finish();

private:
    void enter(std::uint64_t block);

    QuotientFilter filter_;
    std::uint64_t spare_ = 0;  // free slots to be spread between the blocks
    std::uint64_t block_ = 0;
    std::uint64_t last_ = 0;
};

}  // namespace summary
