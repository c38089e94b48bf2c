#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "summary/fingerprint.hpp"
#include "summary/quotient_blocks.hpp"
#include "summary/quotient_shape.hpp"

namespace summary {

/// What a filter of this shape takes. Precondition: is_valid(shape).
std::uint64_t memory_bytes(const QuotientShape& shape);

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
/// One writer thread; contains() and matches() may be called by any thread at any time. Blocks have
/// versions, 16 of them one (shared_words.hpp): a reader that meets a change tries again, a few
/// times, and then says yes. It never waits and reads nothing but its own memory.
class QuotientFilter {
public:
    /// Holds nothing and takes nothing.
    QuotientFilter() = default;
    /// What is refused although there is room elsewhere.
    struct Limits {
        std::uint64_t in_block = 255;  // far more in 64 quotients than chance would bring
        std::uint64_t reach = 1024;    // blocks that may be pushed aside for one
    };
    static constexpr std::uint64_t kMostInBlock = QuotientBlocks::kMostInBlock;
    /// Precondition: is_valid(shape); what several filters share may go beyond kMaxUniverse,
    /// kMaxQuotients and kMaxFingerprints.
    explicit QuotientFilter(const QuotientShape& shape) : QuotientFilter(shape, Limits{}) {}
    QuotientFilter(const QuotientShape& shape, const Limits& limits);

    const QuotientShape& shape() const { return shape_; }
    std::uint64_t size() const { return size_; }

    /// Any thread. Precondition, here and below: fingerprint < shape().universe.
    bool contains(std::uint64_t fingerprint) const;

    /// Any thread: which of the quotients [first, first + count) have this remainder, bit i for
    /// first + i. In doubt, as contains(), those that have any. They must be in one block.
    std::uint64_t matches(std::uint64_t first, unsigned count, std::uint64_t remainder) const;
    /// Any thread: asks for the memory that it looks at.
    void prefetch_matches(std::uint64_t first) const { blocks_.prefetch(block_of(first)); }

    /// One more of it. False, and nothing changes, when it is full: above `capacity`, or by limits.
    bool insert(std::uint64_t fingerprint);
    /// One less of it. False, and nothing changes, when there is none.
    bool erase(std::uint64_t fingerprint);

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

    class Cursor;
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
    static constexpr unsigned kGroupLog2 = 6;  // regions in a group, for counting only

    /// Where a fingerprint belongs.
    struct Place {
        std::uint64_t block;
        unsigned quotient;  // in the block
        std::uint64_t remainder;
    };
    Place place_of(std::uint64_t fingerprint) const {
        const auto quotient = fingerprint >> shape_.remainder_bits;
        return {block_of(quotient), in_block(quotient),
                fingerprint & low_bits(shape_.remainder_bits)};
    }
    static std::uint64_t block_of(std::uint64_t quotient) {
        return quotient >> QuotientBlocks::kQuotientsLog2;
    }
    static unsigned in_block(std::uint64_t quotient) {
        return static_cast<unsigned>(quotient & low_bits(QuotientBlocks::kQuotientsLog2));
    }
    static std::uint64_t groups_of(const QuotientShape& shape) {
        return ((QuotientBlocks::regions_of(shape) - 1) >> kGroupLog2) + 1;
    }
    QuotientBlocks::Run run_of(std::uint64_t quotient) const {
        const auto index = block_of(quotient);
        return blocks_.run(blocks_.block(index), blocks_.occupied(index), in_block(quotient));
    }
    void count(std::uint64_t block, std::uint64_t change);

    QuotientShape shape_;
    Limits limits_;
    std::uint64_t size_ = 0;
    std::uint64_t check_ = 0;
    QuotientBlocks blocks_;
    HalfWords counts_;  // of fingerprints in regions
    HalfWords groups_;  // the same in groups of 2^kGroupLog2 regions
};

template <class Visit>
void QuotientFilter::for_each_in(std::uint64_t first, unsigned count, Visit visit) const {
    const auto index = block_of(first);
    const auto occupied = blocks_.occupied(index);
    auto runs = occupied & low_bits(count) << in_block(first);
    if (runs == 0) return;
    auto slot = blocks_.run(blocks_.block(index), occupied, in_block(first)).start;
    for (; runs != 0; runs &= runs - 1) {
        const auto quotient = index << QuotientBlocks::kQuotientsLog2 |
                              static_cast<std::uint64_t>(std::countr_zero(runs));
        for (bool last = false; !last; ++slot) {
            last = blocks_.ends_run(slot);
            visit(quotient << shape_.remainder_bits | blocks_.remainder(slot));
        }
    }
}

/// All in ascending order. Good until the next change.
class QuotientFilter::Cursor {
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

/// Made from fingerprints in ascending order, which costs a tenth of insert().
class QuotientFilter::Builder {
public:
    /// Precondition: is_valid(shape). `count` are expected; more than the filter holds are
    /// never taken.
    Builder(const QuotientShape& shape, std::uint64_t count);
    /// False when it is full, or by limits. Precondition: not less than the one before.
    bool append(std::uint64_t fingerprint);
    /// When all were appended. Nothing when they lie too unevenly.
    std::optional<QuotientFilter> finish();

private:
    void enter(std::uint64_t block);

    QuotientFilter filter_;
    std::uint64_t spare_ = 0;  // free slots to be spread between the blocks
    std::uint64_t block_ = 0;
    std::uint64_t last_ = 0;
    bool placed_ = true;  // all blocks so far
};

}  // namespace summary
