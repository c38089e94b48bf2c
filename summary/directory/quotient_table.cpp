#include "summary/directory/quotient_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <utility>

#include "summary/bits/rank_select.hpp"

namespace summary {

namespace {

constexpr std::size_t kLanesInBlock = 64;

/// Peers that store the same keys use the same quotients, so room may have to come from farther
/// away than in a single filter, and more fingerprints may meet. A fingerprint that finds too
/// little room is left out.
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
      counts_(lanes_for(lanes, stride_), blocks()),
      state_(lanes_for(lanes, stride_)) {
    assert(is_valid(shape) && lanes > 0);
}

std::uint64_t QuotientTable::blocks() const {
    return (quotients_of(shape_) + kQuotientsInBlock - 1) / kQuotientsInBlock;
}

std::uint64_t QuotientTable::in_all(std::size_t lane, std::uint64_t fingerprint) const {
    const auto bits = shape_.remainder_bits;
    return ((fingerprint >> bits) * stride_ + lane) << bits | (fingerprint & low_bits(bits));
}

/// The fingerprints of a lane in a block, in ascending order.
template <class Visit>
void QuotientTable::for_each_in(std::size_t lane, std::uint64_t block, Visit visit) const {
    const auto bits = shape_.remainder_bits;
    const auto first = block * kQuotientsInBlock;
    const auto end = std::min(first + kQuotientsInBlock, quotients_of(shape_));
    for (auto quotient = first; quotient < end; ++quotient) {
        all_.for_each_in(quotient * stride_ + lane, 1, [&](std::uint64_t fingerprint) {
            visit(quotient << bits | (fingerprint & low_bits(bits)));
        });
    }
}

bool QuotientTable::add(std::size_t lane, std::uint64_t fingerprint) {
    if (!all_.insert(in_all(lane, fingerprint))) {
        ++state_[lane].refused;
        return false;
    }
    state_[lane].check += check_term(fingerprint);
    return true;
}

/// Returns false for an absent fingerprint, which was refused before.
bool QuotientTable::remove(std::size_t lane, std::uint64_t fingerprint) {
    if (!all_.erase(in_all(lane, fingerprint))) return false;
    state_[lane].check -= check_term(fingerprint);
    return true;
}

void QuotientTable::insert(std::size_t lane, std::uint64_t fingerprint) {
    const auto block = block_of(fingerprint);
    const auto before = counts_.in_block(lane, block);
    if (before == LaneCounts::kMost || size(lane) >= most_fingerprints(shape_)) {
        ++state_[lane].refused;
    } else if (add(lane, fingerprint)) {
        counts_.set(lane, block, before + 1);
    }
}

void QuotientTable::erase(std::size_t lane, std::uint64_t fingerprint) {
    const auto block = block_of(fingerprint);
    if (remove(lane, fingerprint)) counts_.set(lane, block, counts_.in_block(lane, block) - 1);
}

void QuotientTable::load_all(std::span<const LaneSource> sources, std::uint64_t from,
                             std::uint64_t to) {
    for (std::size_t lane = 0; lane < sources.size(); ++lane) {
        const auto& source = sources[lane];
        if (source.empty()) continue;
        assert(state_[lane].loaded == from);
        for (auto block = from; block < to; ++block) {
            unsigned count = 0;
            const auto take = [&](std::uint64_t fingerprint) {
                if (add(lane, fingerprint)) ++count;
            };
            if (source.table != nullptr) {
                source.table->for_each_in(source.lane, block, take);
            } else {
                std::get<QuotientFilter>(*source.filter)
                    .for_each_in(block * kQuotientsInBlock, kQuotientsInBlock, take);
            }
            counts_.set(lane, block, count);
        }
        state_[lane].loaded = to;
    }
}

void QuotientTable::load(std::size_t lane, const Filter& source, std::uint64_t from,
                         std::uint64_t to, bool blank) {
    std::vector<std::uint64_t> before, now;
    for (auto block = from; block < to; ++block) {
        before.clear();
        now.clear();
        std::get<QuotientFilter>(source).for_each_in(
            block * kQuotientsInBlock, kQuotientsInBlock,
            [&](std::uint64_t fingerprint) { now.push_back(fingerprint); });
        if (!blank) {
            for_each_in(lane, block,
                        [&](std::uint64_t fingerprint) { before.push_back(fingerprint); });
        }
        const auto refused = state_[lane].refused;
        change(lane, before, now);
        counts_.set(lane, block,
                    static_cast<unsigned>(now.size() - (state_[lane].refused - refused)));
    }
    state_[lane].loaded = to;
}

/// Both lists ascend. New fingerprints come before old ones go.
void QuotientTable::change(std::size_t lane, std::span<const std::uint64_t> before,
                           std::span<const std::uint64_t> now) {
    std::vector<std::uint64_t> differing;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::back_inserter(differing));
    for (const auto fingerprint : differing) add(lane, fingerprint);
    differing.clear();
    std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                        std::back_inserter(differing));
    for (const auto fingerprint : differing) remove(lane, fingerprint);
}

void QuotientTable::apply(std::size_t lane, const Change& change) {
    const auto& delta = std::get<FingerprintDelta>(change);
    const auto end = state_[lane].loaded * kQuotientsInBlock << shape_.remainder_bits;
    for (const auto fingerprint : delta.removed) {
        if (fingerprint >= end) break;
        erase(lane, fingerprint);
    }
    for (const auto fingerprint : delta.added) {
        if (fingerprint >= end) break;
        insert(lane, fingerprint);
    }
}

std::optional<Change> QuotientTable::apply_delta(std::size_t lane,
                                                 std::span<const std::byte> payload) {
    assert(keeps_filter(lane));
    auto ranked = decode_ranked_delta(payload, shape_.universe, size(lane));
    if (!ranked) return std::nullopt;
    auto delta = resolve(std::move(*ranked), shape_.universe,
                         [&](std::uint64_t rank) { return at(lane, rank); });
    if (!delta) return std::nullopt;
    Change change(std::move(*delta));
    apply(lane, change);
    if (!keeps_filter(lane)) return std::nullopt;
    return change;
}

std::uint64_t QuotientTable::at(std::size_t lane, std::uint64_t rank) const {
    const auto place = counts_.find(lane, rank);
    auto quotient = place.block * kQuotientsInBlock;
    auto left = place.rank;
    for (;; ++quotient) {
        const auto here = all_.run_length(quotient * stride_ + lane);
        if (left < here) break;
        left -= here;
    }
    const auto bits = shape_.remainder_bits;
    return quotient << bits | (all_.in_run(quotient * stride_ + lane, left) & low_bits(bits));
}

void QuotientTable::find(const Key& key, const Lanes& lanes, PeerSet& found) const {
    const auto wanted = fingerprint(key.hash, shape_.universe);
    const auto first = (wanted >> shape_.remainder_bits) * stride_;
    const auto remainder = wanted & low_bits(shape_.remainder_bits);
    for (std::size_t i = 0; i < stride_; i += kLanesInBlock) all_.prefetch_matches(first + i);
    const auto count = static_cast<unsigned>(std::min(stride_, kLanesInBlock));
    for (std::size_t i = 0; i < stride_; i += kLanesInBlock) {
        for (auto hits = all_.matches(first + i, count, remainder); hits != 0; hits &= hits - 1) {
            const auto lane = i + static_cast<std::size_t>(std::countr_zero(hits));
            if (lane < lanes.size()) lanes.add_peer(lane, found);
        }
    }
}

}  // namespace summary
