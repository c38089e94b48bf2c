#include "summary/filters/quotient_filter.hpp"

#include <cassert>

namespace summary {

std::uint64_t memory_bytes(const QuotientShape& shape) {
    return QuotientFilter::memory_of(shape);
}

QuotientFilter::QuotientFilter(const QuotientShape& shape, const Limits& limits)
    : shape_(shape),
      limits_(limits),
      blocks_(shape, limits.reach),
      counts_(QuotientBlocks::regions_of(shape)),
      groups_(groups_of(shape)) {
    assert(shape.remainder_bits >= 1 && shape.remainder_bits <= kMaxRemainderBits);
    assert(shape.universe >= 1 && shape.capacity >= 1 && limits.in_block <= kMostInBlock);
}

std::uint64_t QuotientFilter::memory_of(const QuotientShape& shape) {
    return QuotientBlocks::memory_of(shape) +
           (QuotientBlocks::regions_of(shape) + groups_of(shape)) * sizeof(std::uint32_t);
}

std::uint64_t QuotientFilter::memory_bytes() const {
    return blocks_.memory_bytes() + (counts_.size() + groups_.size()) * sizeof(std::uint32_t);
}

bool QuotientFilter::release(std::uint64_t words) {
    if (blocks_.release(words)) *this = QuotientFilter();
    return blocks_.size() == 0;
}

bool QuotientFilter::contains(std::uint64_t fingerprint) const {
    assert(fingerprint < shape_.universe);
    const auto place = place_of(fingerprint);
    const auto found = blocks_.read(place.block, [&] {
        const auto occupied = blocks_.occupied(place.block);
        if ((occupied >> place.quotient & 1) == 0) return false;
        const auto block = blocks_.block(place.block);
        blocks_.prefetch(block);
        return blocks_.has(blocks_.run(block, occupied, place.quotient), place.remainder);
    });
    return found.value_or(true);
}

std::uint64_t QuotientFilter::matches(std::uint64_t first, unsigned count,
                                      std::uint64_t remainder) const {
    const auto index = block_of(first);
    const auto asked = low_bits(count) << in_block(first);
    const auto found =
        blocks_.read(index, [&] { return blocks_.matches(index, asked, remainder); });
    return found.value_or(blocks_.occupied(index) & asked) >> in_block(first);
}

void QuotientFilter::count(std::uint64_t block, std::uint64_t change) {
    const auto region = block >> QuotientBlocks::kRegionLog2;
    size_ += change;
    counts_[region] += static_cast<std::uint32_t>(change);
    groups_[region >> kGroupLog2] += static_cast<std::uint32_t>(change);
}

bool QuotientFilter::insert(std::uint64_t fingerprint) {
    assert(fingerprint < shape_.universe);
    const auto place = place_of(fingerprint);
    blocks_.prefetch(place.block);
    auto block = blocks_.block(place.block);
    blocks_.prefetch(block);
    if (block.count == limits_.in_block) return false;
    if (!blocks_.has_room(place.block, block)) {
        if (!blocks_.make_room(place.block)) return false;
        block = blocks_.block(place.block);
    }
    const auto run = blocks_.run(block, blocks_.occupied(place.block), place.quotient);
    const auto at = blocks_.lower_bound(run, place.remainder);
    blocks_.insert(place.block, place.quotient, run, at, place.remainder);
    count(place.block, 1);
    check_ += check_term(fingerprint);
    return true;
}

bool QuotientFilter::erase(std::uint64_t fingerprint) {
    assert(fingerprint < shape_.universe);
    const auto place = place_of(fingerprint);
    blocks_.prefetch(place.block);
    const auto block = blocks_.block(place.block);
    blocks_.prefetch(block);
    const auto run = blocks_.run(block, blocks_.occupied(place.block), place.quotient);
    const auto at = blocks_.lower_bound(run, place.remainder);
    if (!blocks_.is_at(run, at, place.remainder)) return false;
    blocks_.remove(place.block, place.quotient, run, at);
    count(place.block, ~std::uint64_t{0});
    check_ -= check_term(fingerprint);
    return true;
}

std::uint64_t QuotientFilter::at(std::uint64_t rank) const {
    assert(rank < size_);
    std::uint64_t group = 0;
    for (; rank >= groups_[group]; ++group) rank -= groups_[group];
    auto region = group << kGroupLog2;
    for (; rank >= counts_[region]; ++region) rank -= counts_[region];
    auto index = region << QuotientBlocks::kRegionLog2;
    auto block = blocks_.block(index);
    for (; rank >= block.count; block = blocks_.block(++index)) rank -= block.count;

    const auto slot = block.start + rank;
    const auto run = blocks_.runs_before(block, slot);
    const auto quotient =
        index << QuotientBlocks::kQuotientsLog2 | select_one(blocks_.occupied(index), run);
    return quotient << shape_.remainder_bits | blocks_.remainder(slot);
}

std::uint64_t QuotientFilter::run_length(std::uint64_t quotient) const {
    return run_of(quotient).length;
}

std::uint64_t QuotientFilter::in_run(std::uint64_t quotient, std::uint64_t index) const {
    const auto slot = run_of(quotient).start + index;
    return quotient << shape_.remainder_bits | blocks_.remainder(slot);
}

}  // namespace summary
