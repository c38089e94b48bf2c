#include "summary/own/own_bloom_summary.hpp"

#include <cmath>
#include <utility>

#include "summary/sizing/sizing.hpp"

namespace summary {

namespace {

/// Up to this size a delta is compared with the real snapshot; above, with a lower bound of its
/// size.
constexpr std::uint64_t kCompareUpToBits = std::uint64_t{1} << 20;

}  // namespace

OwnBloomSummary::OwnBloomSummary(Config config)
    : config_(config),
      filter_(shape_for(config.expected_objects, config.error)),
      epoch_{config.first_epoch} {}

OwnBloomSummary::OwnBloomSummary(Config config, OwnBloomSummary&& earlier)
    : OwnBloomSummary(config) {
    keys_ = std::move(earlier.keys_);
    objects_ = earlier.objects_;
    filter_ = std::move(earlier.filter_);
    left_over_ = std::move(earlier.left_over_);
    importing_ = earlier.importing_;
    if (importing_ ? !earlier.growing() : suits()) return;
    begin_regrow();
    grow_some(4 * kMinObjects);
}

bool OwnBloomSummary::stored(KeyHash key) {
    const auto shard = key_shard_of(key);
    if (!keys_[shard].insert(key)) return false;
    ++objects_;
    if (growth_ && shard < growth_->fed) growth_->filter.insert(key, ignored_);
    ignored_.clear();
    if (importing_) return true;
    filter_.insert(key, pending_.list());
    ++epoch_.stored;
    bound_pending();
    return true;
}

bool OwnBloomSummary::removed(KeyHash key) {
    const auto shard = key_shard_of(key);
    if (!keys_[shard].erase(key)) return false;
    --objects_;
    if (growth_ && shard < growth_->fed) growth_->filter.erase(key, ignored_);
    ignored_.clear();
    if (importing_) return true;
    filter_.erase(key, pending_.list());
    ++epoch_.removed;
    bound_pending();
    return true;
}

std::optional<Delta> OwnBloomSummary::take_delta(std::size_t flips) {
    epoch_.next_generation();
    return pending_.take(flips);
}

std::optional<Bytes> OwnBloomSummary::take_payload(std::size_t max_bytes) {
    // A delta of cancelled changes is announced too, since its generation is used up and skipping
    // it would look like a gap. It has a few bytes.
    const auto delta = take_delta(config_.changes_at_once);
    if (!delta) return std::nullopt;
    Bytes payload;
    if (shape().bits > kCompareUpToBits) {  // too large to encode for a comparison
        encode_delta(*delta, shape().bits, payload);
        if (payload.size() > ones() / 8) return std::nullopt;
    } else if (encode_update(*delta, filter_.bits(), payload) != Coding::delta) {
        return std::nullopt;
    }
    if (payload.size() > max_bytes) return std::nullopt;
    return payload;
}

OwnBloomSummary::CopiedBits::CopiedBits(OwnBloomSummary& own) : bits_(own.filter_.bits().size()) {
    own.pending_.copy_begun();
}

bool OwnBloomSummary::CopiedBits::step(OwnBloomSummary& own, std::size_t words) {
    ones_ += bits_.copy_words(own.filter_.bits(), next_, words);
    next_ += words;
    if (next_ < bits_.words().size()) return false;
    own.pending_.copy_ended();
    return true;
}

bool OwnBloomSummary::SnapshotWriter::step(OwnBloomSummary& own) {
    const auto words = own.config_.words_at_once;
    if (!encoder_) {
        if (!copy_.step(own, 2 * words)) return false;
        encoder_.emplace(copy_.bits(), copy_.ones(), out_);
        if (copy_.bits().words().size() > words) return false;
    }
    return encoder_->step(words);
}

double OwnBloomSummary::fill_ratio() const {
    return static_cast<double>(filter_.ones()) / static_cast<double>(filter_.shape().bits);
}

double OwnBloomSummary::expected_false_hit() const {
    return std::pow(fill_ratio(), filter_.shape().hashes);
}

Fit OwnBloomSummary::fit() const {
    if (importing_) return Fit::fits;
    const auto room = capacity(filter_.shape(), config_.error);
    if (objects() > room && filter_.shape().bits < kMaxBits) return Fit::too_small;
    const auto smallest = shape_for(std::max(config_.expected_objects, kMinObjects), config_.error);
    if (objects() < room / kShrinkBelow && filter_.shape().bits > smallest.bits) {
        return Fit::too_large;
    }
    return Fit::fits;
}

bool OwnBloomSummary::suits() const {
    return filter_.shape().hashes == ladder_hashes(config_.error) && fit() == Fit::fits;
}

void OwnBloomSummary::begin_regrow() {
    const auto with_room =
        static_cast<std::uint64_t>(static_cast<double>(objects()) * kRoomAfterRegrow);
    const auto shape = shape_for(std::max(with_room, config_.expected_objects), config_.error);
    growth_.emplace(Growth{CountingBloomFilter(shape)});
}

bool OwnBloomSummary::grow_some(std::uint64_t keys) {
    auto& growth = *growth_;
    if (!growth.memory_is_there) {
        constexpr std::uint64_t kWordsPerKey = 32;  // in the time that feeding a key takes
        const auto words = std::min(keys, std::uint64_t{1} << 40) * kWordsPerKey;
        const bool first = growth.touched == 0;
        growth.memory_is_there = growth.filter.touch(growth.touched, words);
        if (!growth.memory_is_there || !first) return false;
    }
    std::uint64_t done = 0;
    for (; growth.fed < keys_.size() && done < keys; ++growth.fed) {
        keys_[growth.fed].for_each([&](KeyHash key) {
            growth.filter.insert(key, ignored_);
            ignored_.clear();
        });
        done += keys_[growth.fed].cost_of_visit();
    }
    if (growth.fed < keys_.size()) return false;
    left_over_ = std::exchange(filter_, std::move(growth.filter));
    growth_.reset();
    begin_epoch();
    return true;
}

void OwnBloomSummary::end_import() {
    if (objects_ > 0)
        begin_regrow();
    else
        importing_ = false;
}

void OwnBloomSummary::begin_epoch() {
    importing_ = false;
    pending_ = {};
    epoch_ = {epoch_.number + 1};
}

bool OwnBloomSummary::tidy() {
    constexpr std::size_t kWords = std::size_t{1} << 21;  // 16 MiB
    if (left_over_ && left_over_->release(kWords)) left_over_.reset();
    return left_over_.has_value();
}

std::uint64_t OwnBloomSummary::memory_bytes() const {
    std::uint64_t bytes = keys_.size() * sizeof(KeyTable) + filter_.memory_bytes();
    for (const auto& keys : keys_) bytes += keys.memory_bytes();
    return bytes;
}

}  // namespace summary
