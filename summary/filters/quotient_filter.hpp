#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "summary/filters/quotient_blocks.hpp"
#include "summary/filters/quotient_shape.hpp"
#include "summary/sizing/fingerprint.hpp"

namespace summary {

/// Memory of a filter of this shape. Precondition: is_valid(shape).
std::uint64_t memory_bytes(const QuotientShape& shape);

/// A sorted multiset of fingerprints: Bender et al. 2012, with the metadata of Pandey et al. 2017.
/// One bit for each quotient marks that it has a run, and one bit for each remainder marks that it
/// ends its run. Rank and select read them.
///
/// 64 quotients are a block. The remainders of a block stand contiguously and in order, and all
/// free slots lie between blocks. So the filter needs no metadata of free slots, a change moves
/// only the remainders behind it in its block, and a block without room pushes its neighbours
/// aside. The classic table has its empty slots inside; this one may be up to 94 % full. Memory:
/// about (remainder_bits + 1) * 1.0625 + quotients / capacity * 1.56 bits for each of `capacity`,
/// or 1.92 MB for a million at the error 2^-12.
///
/// One writer thread; any thread may call contains() and matches() at any time. 16 blocks share a
/// version (shared_words.hpp). A reader that meets a change tries a few more times, and then
/// returns true. It never waits, and reads only the filter's own memory.
class QuotientFilter {
public:
    /// A filter without places.
    QuotientFilter() = default;
    /// Limits above which insert() refuses although other blocks have room.
    struct Limits {
        std::uint64_t in_block = 255;  // chance brings far fewer to 64 quotients
        std::uint64_t reach = 1024;    // blocks that one insertion may push aside
    };
    static constexpr std::uint64_t kMostInBlock = QuotientBlocks::kMostInBlock;
    /// Precondition: is_valid(shape). A shape that several filters share may exceed kMaxUniverse,
    /// kMaxQuotients and kMaxFingerprints.
    explicit QuotientFilter(const QuotientShape& shape) : QuotientFilter(shape, Limits{}) {}
    QuotientFilter(const QuotientShape& shape, const Limits& limits);

    const QuotientShape& shape() const { return shape_; }
    std::uint64_t size() const { return size_; }

    /// Any thread. Precondition, here and below: fingerprint < shape().universe.
    bool contains(std::uint64_t fingerprint) const;

    /// Any thread. Returns the quotients among [first, first + count) that have the remainder, bit
    /// i for first + i. A reader that meets a change every time returns all quotients that have any
    /// remainder. Precondition: the quotients are in one block.
    std::uint64_t matches(std::uint64_t first, unsigned count, std::uint64_t remainder) const;
    /// Any thread: prefetches the memory that matches() reads.
    void prefetch_matches(std::uint64_t first) const { blocks_.prefetch(block_of(first)); }

    /// Adds one fingerprint. Returns false and leaves the filter unchanged when it is full, above
    /// `capacity` or by its limits.
    bool insert(std::uint64_t fingerprint);
    /// Removes one fingerprint. Returns false and leaves the filter unchanged when it is absent.
    bool erase(std::uint64_t fingerprint);

    /// The fingerprint number `rank` in ascending order, counted from 0. Precondition: rank <
    /// size().
    std::uint64_t at(std::uint64_t rank) const;

    /// The number of fingerprints with this quotient.
    std::uint64_t run_length(std::uint64_t quotient) const;
    /// The fingerprint number `index` of this quotient in ascending order, counted from 0.
    /// Precondition: index < run_length(quotient).
    std::uint64_t in_run(std::uint64_t quotient, std::uint64_t index) const;
    /// Calls `visit(fingerprint)` in ascending order for the quotients [first, first + count),
    /// which must be in one block. `visit` must leave the filter unchanged.
    template <class Visit>
    void for_each_in(std::uint64_t first, unsigned count, Visit visit) const;

    /// The sum of check_term() over all fingerprints, updated at each change.
    std::uint64_t check_hash() const { return check_; }

    class Builder;

    std::uint64_t memory_bytes() const;
    /// Memory of a filter with this shape, existing or planned.
    static std::uint64_t memory_of(const QuotientShape& shape);
    /// Gives about `words` words back when the filter is discarded. Returns true when all is given
    /// back.
    bool release(std::uint64_t words);

private:
    static constexpr unsigned kGroupLog2 = 6;  // regions in a group, for counting only

    /// The place of a fingerprint.
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

/// Builds a filter from fingerprints in ascending order, at a tenth of the cost of insert().
class QuotientFilter::Builder {
public:
    /// Precondition: is_valid(shape). `count` fingerprints are expected; the filter takes at most
    /// as many as it has room for.
    Builder(const QuotientShape& shape, std::uint64_t count);
    /// Returns false when the filter is full, or by its limits. Precondition: the fingerprint is at
    /// least as large as the one before.
    bool append(std::uint64_t fingerprint);
    /// Call it after the last append(). Returns nullopt when the fingerprints lie too unevenly.
    std::optional<QuotientFilter> finish();

private:
    void enter(std::uint64_t block);

    QuotientFilter filter_;
    std::uint64_t spare_ = 0;  // free slots to be distributed between the blocks
    std::uint64_t block_ = 0;
    std::uint64_t last_ = 0;
    bool placed_ = true;  // true: every block so far
};

}  // namespace summary
