#include "protocol/publishing/outbox.hpp"

#include <algorithm>
#include <utility>

#include "protocol/wire/frame.hpp"

namespace protocol {

void Outbox::offer(const Announcement& announcement) {
    if (announcement.delta) {
        push({announcement.epoch, announcement.generation, announcement.delta, 0});
    } else {
        want_snapshot();
    }
    if (announcement.check) offer(*announcement.check);
}

void Outbox::offer(const CheckHash& check) {
    // The image may contain changes that are later than the check-hash.
    if (image_ && image_->state == SnapshotImage::State::under_way) return;
    push({check.epoch, check.generation, nullptr, check.hash});
}

void Outbox::go_on(std::uint64_t epoch, std::uint64_t generation,
                   const std::vector<RecentDeltas::Payload>& deltas) {
    snapshot_wanted_ = false;
    ++counters_.resumed;
    sent_epoch_ = epoch;
    sent_generation_ = generation;
    for (const auto& delta : deltas) push({epoch, ++generation, delta, 0});
}

void Outbox::push(Item item) {
    if (snapshot_wanted_ || leaving_) return;  // the snapshot will contain it
    queued_bytes_ += item.bytes();
    queue_.push_back(std::move(item));
    if (queued_bytes_ <= max_queued_bytes_) return;
    ++counters_.overflows;
    clear_queue();
    want_snapshot();
}

void Outbox::clear_queue() {
    queue_.clear();
    queued_bytes_ = 0;
}

std::optional<Message> Outbox::next(Publisher& publisher, TimePoint now) {
    if (leaving_) {
        if (std::exchange(finished_, true)) return std::nullopt;
        return Goodbye{};
    }
    if (auto message = next_of_snapshot(publisher)) return message;
    const bool waits = snapshot_wanted_ || image_;
    if (!waits && !queue_.empty()) return pop();
    if (!beats_.take(now)) return std::nullopt;
    ++counters_.heartbeats_sent;
    auto beat = publisher.heartbeat();
    beat.next = beats_.promise();
    if (waits) {
        beat.epoch = sent_epoch_;
        beat.generation = sent_generation_;
    }
    return beat;
}

std::optional<Message> Outbox::next_of_snapshot(Publisher& publisher) {
    // A begun snapshot is finished even if another is wanted already. Otherwise a slow subscriber
    // would never get a whole one.
    if (auto part = next_part()) return part;
    if (image_ && image_->state == SnapshotImage::State::given_up) {
        image_.reset();
        want_snapshot();
    }
    if (snapshot_wanted_ && !image_) {
        image_ = publisher.image();
        if (!image_) return std::nullopt;
        snapshot_wanted_ = false;
        clear_queue();  // the image contains it
    }
    if (!image_ || image_->state != SnapshotImage::State::ready) return std::nullopt;
    return begin_snapshot();
}

std::optional<Message> Outbox::next_part() {
    if (!image_ || !image_sent_) return std::nullopt;
    if (*image_sent_ == image_->payload.size()) {
        image_.reset();
        image_sent_.reset();
        return std::nullopt;
    }
    const auto rest = base::ByteView(image_->payload).subspan(*image_sent_);
    const SnapshotPart part{rest.first(std::min(rest.size(), kSnapshotPartBytes))};
    *image_sent_ += part.payload.size();
    counters_.announcement_bytes_sent += part.payload.size();
    return part;
}

Message Outbox::begin_snapshot() {
    image_sent_ = 0;
    sent_epoch_ = image_->begin.epoch;
    sent_generation_ = image_->begin.generation;
    ++counters_.announcements_sent;
    ++counters_.snapshots_sent;
    return image_->begin;
}

Message Outbox::pop() {
    sending_ = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= sending_.bytes();
    if (!sending_.delta) return CheckHash{sending_.epoch, sending_.generation, sending_.hash};
    sent_epoch_ = sending_.epoch;
    sent_generation_ = sending_.generation;
    ++counters_.announcements_sent;
    counters_.announcement_bytes_sent += sending_.delta->size();
    return Delta{sending_.epoch, sending_.generation, *sending_.delta};
}

}  // namespace protocol
