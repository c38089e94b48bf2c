#include "protocol/publishing/publisher.hpp"

#include <utility>

#include "protocol/wire/frame.hpp"
#include "summary/coding/judge.hpp"

namespace protocol {

Publisher::Publisher(const Config& config, TimePoint now)
    : config_(config),
      own_(config.summary),
      recent_(config.recent_bytes),
      check_due_(now + config.check_hash) {}

void Publisher::take_over(Publisher& earlier) {
    own_ = summary::OwnSummary(config_.summary, std::move(earlier.own_));
    left_over_ = true;  // perhaps
}

void Publisher::set_error(double error) {
    config_.summary.error = error;
    own_.set_error(error);
    refit_ = refit_ || (!own_.importing() && !own_.suits());
}

void Publisher::stored(summary::KeyHash entry, TimePoint now) {
    if (own_.stored(entry) && !own_.importing()) changed(now);
}

void Publisher::removed(summary::KeyHash entry, TimePoint now) {
    if (own_.removed(entry) && !own_.importing()) changed(now);
}

void Publisher::changed(TimePoint now) {
    if (!first_unannounced_) first_unannounced_ = now;
    const auto share = config_.announce_changed * static_cast<double>(own_.objects());
    enough_ = enough_ || static_cast<double>(own_.changed_since_announced()) >= share;
}

std::optional<Publisher::TimePoint> Publisher::announce_due() const {
    if (!first_unannounced_) return std::nullopt;
    return enough_ ? *first_unannounced_ : *first_unannounced_ + config_.announce_delay;
}

std::optional<Announcement> Publisher::announce(TimePoint now) {
    if (!first_unannounced_) return std::nullopt;
    if (own_.fit() != summary::Fit::fits && !own_.growing()) {
        own_.begin_regrow();
        if (grow()) {
            first_unannounced_.reset();
            enough_ = false;
            auto announcement = news(nullptr);
            announcement.check = take_check(now);
            return announcement;
        }
    }
    auto delta = take_changes();
    enough_ = !own_.all_announced();
    if (!enough_) first_unannounced_.reset();
    auto announcement = news(std::move(delta));
    if (!enough_) announcement.check = take_check(now);
    return announcement;
}

/// The announcement of the present generation.
Announcement Publisher::news(std::shared_ptr<const Bytes> delta) {
    recent_.add(own_.epoch(), own_.generation(), delta);
    Announcement announcement;
    announcement.epoch = own_.epoch();
    announcement.generation = own_.generation();
    announcement.delta = std::move(delta);
    return announcement;
}

std::shared_ptr<const Bytes> Publisher::take_changes() {
    auto payload = own_.take_delta(kMaxDeltaPayloadBytes);
    return payload ? std::make_shared<const Bytes>(std::move(*payload)) : nullptr;
}

/// Does a slice of growth. Returns true at a new epoch.
bool Publisher::grow() {
    if (!own_.grow_some()) return false;
    if (making_) std::exchange(making_, nullptr)->image->state = SnapshotImage::State::given_up;
    left_over_ = own_.tidy();
    return true;
}

std::optional<Announcement> Publisher::work() {
    if (left_over_) {  // before growth leaves over more
        left_over_ = own_.tidy();
        return std::nullopt;
    }
    if (refit_ && !own_.growing()) {
        own_.begin_regrow();
        refit_ = false;
    }
    const bool grows = own_.growing();
    if (grows && (making_ == nullptr || std::exchange(growth_has_turn_, !growth_has_turn_))) {
        if (!grow()) return std::nullopt;
        first_unannounced_.reset();
        enough_ = false;
        // Keys came or went during the growth, and a fit checked only at changes may come too late.
        refit_ = !own_.suits();
        return news(nullptr);
    }
    if (making_) make_image();
    return std::nullopt;
}

std::optional<CheckHash> Publisher::check(TimePoint now) {
    if (first_unannounced_) return std::nullopt;
    return take_check(now);
}

std::optional<CheckHash> Publisher::take_check(TimePoint now) {
    if (now < check_due_) return std::nullopt;
    check_due_ = now + config_.check_hash;
    return CheckHash{own_.epoch(), own_.generation(), own_.check_hash()};
}

Heartbeat Publisher::heartbeat() const {
    return {own_.epoch(), own_.generation(), announced_objects()};
}

std::optional<std::vector<RecentDeltas::Payload>> Publisher::deltas_since(
    std::uint64_t epoch, std::uint64_t generation) const {
    if (epoch != own_.epoch()) return std::nullopt;
    if (generation == own_.generation()) return std::vector<RecentDeltas::Payload>();
    // A snapshot of a summary that fits its objects has at least half the bytes of the filter.
    const auto snapshot_bytes = summary::replica_bytes(own_.descriptor()).value_or(0) / 2;
    return recent_.since(epoch, generation, own_.generation(), snapshot_bytes);
}

std::shared_ptr<const SnapshotImage> Publisher::image() {
    // Receivers refuse a summary that is much too large for its objects; it is being replaced.
    return own_.fit() == summary::Fit::too_large ? nullptr : image_of_now();
}

std::shared_ptr<const SnapshotImage> Publisher::image_of_now() {
    const auto of_now = [this](const SnapshotImage& image) {
        return image.begin.epoch == own_.epoch() && image.begin.generation == own_.generation();
    };
    if (making_) return of_now(*making_->image) ? making_->image : nullptr;
    if (auto image = image_.lock(); image && of_now(*image)) return image;

    making_ = std::make_unique<ImageBuild>(own_);
    std::shared_ptr<const SnapshotImage> image = making_->image;
    auto& begin = making_->image->begin;
    begin.epoch = own_.epoch();
    begin.generation = own_.generation();
    begin.objects = announced_objects();
    begin.summary = own_.descriptor();
    image_ = image;
    make_image();
    return image;
}

/// Does a slice of the image. Returns true when it is ready.
bool Publisher::make_image() {
    auto& making = *making_;
    auto& image = *making.image;
    if (!making.writer.step(own_)) return false;
    image.begin.payload_bytes = image.payload.size();
    image.state = SnapshotImage::State::ready;
    making_.reset();
    return true;
}

std::shared_ptr<const SnapshotImage> Publisher::snapshot() {
    while (making_) make_image();
    auto fresh = image_of_now();
    while (making_) make_image();
    return fresh;
}

}  // namespace protocol
