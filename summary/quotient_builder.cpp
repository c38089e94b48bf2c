// Reading and building quotient filters in order: from others, into another shape.

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "summary/quotient_filter.hpp"

namespace summary {

void QuotientFilter::Cursor::enter(std::uint64_t block) {
    block_ = block;
    if (block >= filter_->blocks_.size()) return;
    const auto there = filter_->blocks_.block(block);
    runs_ = filter_->blocks_.occupied(block);
    slot_ = there.start;
    end_ = there.end();
}

std::optional<std::uint64_t> QuotientFilter::Cursor::next() {
    const auto& blocks = filter_->blocks_;
    while (block_ < blocks.size() && slot_ == end_) enter(block_ + 1);
    if (block_ >= blocks.size()) return std::nullopt;
    const auto in_block = static_cast<std::uint64_t>(std::countr_zero(runs_));
    const auto quotient = block_ << QuotientBlocks::kQuotientsLog2 | in_block;
    const auto remainder = blocks.remainder(slot_);
    if (blocks.ends_run(slot_)) runs_ &= runs_ - 1;
    ++slot_;
    return quotient << filter_->shape_.remainder_bits | remainder;
}

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

std::optional<QuotientFilter> QuotientFilter::resized(const QuotientShape& shape) const {
    assert(is_valid(shape) && shape.universe == shape_.universe);
    return merged(*this, QuotientFilter(), shape);
}

std::optional<QuotientFilter> QuotientFilter::merged(const QuotientFilter& one,
                                                     const QuotientFilter& other,
                                                     const QuotientShape& shape) {
    assert(is_valid(shape));
    Builder builder(shape, one.size() + other.size());
    Cursor of_one(one);
    Cursor of_other(other);
    auto left = of_one.next();
    auto right = of_other.next();
    while (left || right) {
        const bool take_left = left && (!right || *left <= *right);
        if (!builder.append(take_left ? *left : *right)) return std::nullopt;
        (take_left ? left : right) = (take_left ? of_one : of_other).next();
    }
    return builder.finish();
}

}  // namespace summary
