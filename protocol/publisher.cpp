#include "protocol/publisher.hpp"

#include <algorithm>
#include <utility>

#include "protocol/frame.hpp"
#include "summary/coding.hpp"

namespace protocol {

Publisher::Publisher(const Config& config, TimePoint now)
    : config_(config), own_(config.summary), check_due_(now + config.check_hash) {}

void Publisher::take_over(Publisher& earlier) {
    own_ = summary::OwnSummary(config_.summary, std::move(earlier.own_));
}

void Publisher::stored(summary::KeyHash key, TimePoint now) {
    if (own_.stored(key)) changed(now);
}

void Publisher::removed(summary::KeyHash key, TimePoint now) {
    if (own_.removed(key)) changed(now);
}

void Publisher::changed(TimePoint now) {
    if (!first_untold_) first_untold_ = now;
    const auto share = config_.announce_changed * static_cast<double>(own_.objects());
    enough_ = enough_ || static_cast<double>(own_.changed_since_announced()) >= share;
}

std::optional<Publisher::TimePoint> Publisher::announce_due() const {
    if (!first_untold_) return std::nullopt;
    return enough_ ? *first_untold_ : *first_untold_ + config_.announce_delay;
}

std::optional<Announcement> Publisher::announce(TimePoint now) {
    if (!first_untold_) return std::nullopt;
    first_untold_.reset();
    enough_ = false;

    Announcement announcement;
    if (own_.fit() != summary::Fit::fits) {
        own_.regrow();
    } else {
        announcement.delta = encode_changes();
    }
    announcement.epoch = own_.epoch();
    announcement.generation = own_.generation();
    announcement.check = take_check(now);
    return announcement;
}

std::shared_ptr<const Bytes> Publisher::encode_changes() {
    // A delta of changes that cancelled out is told too: its generation is used up, and leaving it
    // out would look like a gap. It is a few bytes.
    const auto delta = own_.take_delta();
    if (!delta) return nullptr;
    auto payload = std::make_shared<Bytes>();
    const auto coding = summary::encode_update(&*delta, own_.snapshot(), *payload);
    const bool fits = payload->size() <= kMaxDeltaPayloadBytes;
    if (coding != summary::Coding::delta || !fits) return nullptr;
    return payload;
}

std::optional<CheckHash> Publisher::check(TimePoint now) {
    if (first_untold_) return std::nullopt;
    return take_check(now);
}

std::optional<CheckHash> Publisher::take_check(TimePoint now) {
    if (now < check_due_) return std::nullopt;
    check_due_ = now + config_.check_hash;
    return CheckHash{own_.epoch(), own_.generation(), own_.check_hash()};
}

Heartbeat Publisher::heartbeat() const {
    return {own_.epoch(), own_.generation(), own_.objects()};
}

std::shared_ptr<const SnapshotImage> Publisher::snapshot() {
    auto image = image_.lock();
    if (image && image->begin.epoch == own_.epoch() &&
        image->begin.generation == own_.generation()) {
        return image;
    }
    auto fresh = std::make_shared<SnapshotImage>();
    summary::encode_snapshot(own_.snapshot(), fresh->payload);
    auto& begin = fresh->begin;
    begin.epoch = own_.epoch();
    begin.generation = own_.generation();
    begin.objects = own_.objects();
    begin.kind = static_cast<std::uint8_t>(Kind::counting_bloom);
    begin.shape = own_.shape();
    begin.payload_bytes = fresh->payload.size();
    image_ = fresh;
    return fresh;
}

}  // namespace protocol
