#include "summary/quotient_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>

#include "summary/rank_select.hpp"

namespace summary {

namespace {

constexpr std::size_t kLanesInBlock = 64;

/// Peers that store the same fill the same quotients, so room may have to come from farther away
/// than in a filter alone, and more may meet. What finds none after all is not shown.
constexpr QuotientFilter::Limits kLimits{QuotientFilter::kMostInBlock, std::uint64_t{1} << 16};

std::uint64_t quotients_of(const QuotientShape& shape) {
    return ((shape.universe - 1) >> shape.remainder_bits) + 1;
}

QuotientShape shape_of_all(const QuotientShape& shape, std::size_t stride, std::size_t lanes) {
    return {quotients_of(shape) * stride << shape.remainder_bits, shape.remainder_bits,
            shape.capacity * lanes};
}

std::size_t lanes_for(std::size_t wanted, std::size_t stride) {
    return std::min(stride, wanted + std::max<std::size_t>(wanted / 8, 1));
}

}  // namespace

std::size_t QuotientTable::stride_for(std::size_t lanes) {
    if (lanes <= kLanesInBlock) return std::bit_ceil(lanes);
    return (lanes + kLanesInBlock - 1) / kLanesInBlock * kLanesInBlock;
}

QuotientTable::QuotientTable(const QuotientShape& shape, std::size_t lanes)
    : shape_(shape),
      stride_(stride_for(lanes)),
      all_(shape_of_all(shape, stride_, lanes_for(lanes, stride_)), kLimits),
      loaded_(lanes_for(lanes, stride_)) {
    assert(is_valid(shape) && lanes > 0);
}

std::uint64_t QuotientTable::blocks() const {
    return (quotients_of(shape_) + kQuotientsInBlock - 1) / kQuotientsInBlock;
}

std::uint64_t QuotientTable::in_all(std::size_t lane, std::uint64_t fingerprint) const {
    const auto bits = shape_.remainder_bits;
    return ((fingerprint >> bits) * stride_ + lane) << bits | (fingerprint & low_bits(bits));
}

void QuotientTable::fill(std::span<const Filter* const> sources, std::uint64_t from,
                         std::uint64_t to) {
    for (std::size_t lane = 0; lane < sources.size(); ++lane) {
        if (sources[lane] == nullptr) continue;
        assert(loaded_[lane] == from);
        const auto& source = std::get<QuotientFilter>(*sources[lane]);
        for (auto block = from; block < to; ++block) {
            source.for_each_in(block * kQuotientsInBlock, kQuotientsInBlock,
                               [&](auto fingerprint) { all_.insert(in_all(lane, fingerprint)); });
        }
        loaded_[lane] = to;
    }
}

void QuotientTable::load(std::size_t lane, const Filter& source, std::uint64_t from,
                         std::uint64_t to, bool blank) {
    std::vector<std::uint64_t> before, now;
    for (auto block = from; block < to; ++block) {
        const auto first = block * kQuotientsInBlock;
        before.clear();
        now.clear();
        std::get<QuotientFilter>(source).for_each_in(
            first, kQuotientsInBlock,
            [&](auto fingerprint) { now.push_back(in_all(lane, fingerprint)); });
        for (auto quotient = first; !blank && quotient < first + kQuotientsInBlock; ++quotient) {
            if (quotient >= quotients_of(shape_)) break;
            all_.for_each_in(quotient * stride_ + lane, 1,
                             [&](auto fingerprint) { before.push_back(fingerprint); });
        }
        change(before, now);
    }
    loaded_[lane] = to;
}

/// Both ascend. What comes is there before the other goes.
void QuotientTable::change(std::span<const std::uint64_t> before,
                           std::span<const std::uint64_t> now) {
    std::vector<std::uint64_t> differing;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::back_inserter(differing));
    for (const auto fingerprint : differing) all_.insert(fingerprint);
    differing.clear();
    std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                        std::back_inserter(differing));
    for (const auto fingerprint : differing) all_.erase(fingerprint);
}

void QuotientTable::apply(std::size_t lane, const Change& change) {
    const auto& delta = std::get<FingerprintDelta>(change);
    const auto end = loaded_[lane] * kQuotientsInBlock << shape_.remainder_bits;
    const auto until_end = [&](const std::vector<std::uint64_t>& list, auto act) {
        for (const auto fingerprint : list) {
            if (fingerprint >= end) return;
            act(in_all(lane, fingerprint));
        }
    };
    until_end(delta.added, [&](auto fingerprint) { all_.insert(fingerprint); });
    until_end(delta.removed, [&](auto fingerprint) { all_.erase(fingerprint); });
}

void QuotientTable::find(const Key& key, const Lanes& lanes, PeerSet& found) const {
    const auto wanted = fingerprint(key.hash, shape_.universe);
    const auto first = (wanted >> shape_.remainder_bits) * stride_;
    const auto remainder = wanted & low_bits(shape_.remainder_bits);
    for (std::size_t i = 0; i < stride_; i += kLanesInBlock) all_.prefetch_claims(first + i);
    const auto count = static_cast<unsigned>(std::min(stride_, kLanesInBlock));
    for (std::size_t i = 0; i < stride_; i += kLanesInBlock) {
        for (auto hits = all_.claims(first + i, count, remainder); hits != 0; hits &= hits - 1) {
            const auto lane = i + static_cast<std::size_t>(std::countr_zero(hits));
            if (lane < lanes.size()) lanes.add_peer(lane, found);
        }
    }
}

}  // namespace summary
