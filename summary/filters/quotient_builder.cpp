// Building quotient filters from fingerprints in order.

#include <algorithm>
#include <cassert>
#include <utility>

#include "summary/filters/quotient_filter.hpp"

namespace summary {

QuotientFilter::Builder::Builder(const QuotientShape& shape, std::uint64_t count)
    : filter_(shape), spare_(filter_.blocks_.slots() - std::min(count, filter_.blocks_.slots())) {
    enter(0);
}

/// Free slots are distributed evenly between the blocks.
void QuotientFilter::Builder::enter(std::uint64_t block) {
    block_ = block;
    if (block >= filter_.blocks_.size()) return;
    __extension__ using Wide = unsigned __int128;
    const auto spare =
        static_cast<std::uint64_t>(static_cast<Wide>(spare_) * block / filter_.blocks_.size());
    placed_ &= filter_.blocks_.place(block, filter_.size_ + spare);
}

bool QuotientFilter::Builder::append(std::uint64_t fingerprint) {
    assert(fingerprint < filter_.shape_.universe && fingerprint >= last_);
    const auto bits = filter_.shape_.remainder_bits;
    const auto place = filter_.place_of(fingerprint);
    while (block_ < place.block) enter(block_ + 1);
    auto& blocks = filter_.blocks_;
    const auto there = blocks.block(block_);
    if (!placed_ || there.count == filter_.limits_.in_block || there.end() >= blocks.slots()) {
        return false;
    }
    const bool same_run = there.count > 0 && last_ >> bits == fingerprint >> bits;
    blocks.append(block_, place.quotient, !same_run, place.remainder);
    filter_.count(block_, 1);
    filter_.check_ += check_term(fingerprint);
    last_ = fingerprint;
    return true;
}

std::optional<QuotientFilter> QuotientFilter::Builder::finish() {
    while (block_ < filter_.blocks_.size()) enter(block_ + 1);
    if (!placed_) return std::nullopt;
    return std::move(filter_);
}

}  // namespace summary
