#include "summary/own_summary.hpp"

#include <cmath>
#include <utility>

#include "summary/sizing.hpp"

namespace summary {

OwnSummary::OwnSummary(Config config)
    : config_(config),
      filter_(shape_for(config.expected_objects, config.error)),
      epoch_(config.first_epoch) {
    keys_.reserve(config.expected_objects);
}

OwnSummary::OwnSummary(Config config, OwnSummary&& earlier) : OwnSummary(config) {
    keys_ = std::move(earlier.keys_);
    regrow();
}

bool OwnSummary::stored(KeyHash key) {
    if (!keys_.insert(key).second) return false;
    filter_.insert(key, pending_);
    ++stored_;
    bound_pending();
    return true;
}

bool OwnSummary::removed(KeyHash key) {
    if (keys_.erase(key) == 0) return false;
    filter_.erase(key, pending_);
    ++removed_;
    bound_pending();
    return true;
}

void OwnSummary::bound_pending() {
    if (pending_lost_ || pending_.size() > filter_.shape().bits / kBitsPerPendingFlip) {
        pending_lost_ = true;
        pending_.clear();
    }
}

std::optional<Delta> OwnSummary::take_delta() {
    ++generation_;
    stored_ = 0;
    removed_ = 0;
    auto flips = std::exchange(pending_, {});
    const bool known_in_part = std::exchange(snapshot_holds_pending_, false);
    if (std::exchange(pending_lost_, false)) return std::nullopt;
    return known_in_part ? last_values(std::move(flips)) : net_effect(std::move(flips));
}

const BitArray& OwnSummary::snapshot() {
    snapshot_holds_pending_ = snapshot_holds_pending_ || !pending_.empty();
    return filter_.bits();
}

double OwnSummary::fill() const {
    return static_cast<double>(filter_.ones()) / static_cast<double>(filter_.shape().bits);
}

double OwnSummary::expected_false_hit() const {
    return std::pow(fill(), filter_.shape().hashes);
}

Fit OwnSummary::fit() const {
    const auto held = capacity(filter_.shape(), config_.error);
    if (objects() > held && filter_.shape().bits < kMaxBits) return Fit::too_small;
    const auto smallest = shape_for(std::max(config_.expected_objects, kMinObjects), config_.error);
    if (objects() < held / kShrinkBelow && filter_.shape().bits > smallest.bits) {
        return Fit::too_large;
    }
    return Fit::fits;
}

void OwnSummary::regrow() {
    const auto with_room =
        static_cast<std::uint64_t>(static_cast<double>(objects()) * kRoomAfterRegrow);
    filter_ = CountingBloomFilter(
        shape_for(std::max(with_room, config_.expected_objects), config_.error));
    for (const auto key : keys_) {
        filter_.insert(key, pending_);
        pending_.clear();
    }
    pending_.clear();
    pending_lost_ = false;
    snapshot_holds_pending_ = false;
    stored_ = 0;
    removed_ = 0;
    generation_ = 0;
    ++epoch_;
}

}  // namespace summary
