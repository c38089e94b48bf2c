#include "protocol/outbox.hpp"

#include <algorithm>
#include <utility>

#include "protocol/frame.hpp"

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
    push({check.epoch, check.generation, nullptr, check.hash});
}

void Outbox::push(Item item) {
    if (snapshot_wanted_ || leaving_) return;  // the snapshot will hold it
    queued_bytes_ += item.bytes();
    queue_.push_back(std::move(item));
    if (queued_bytes_ <= config_.max_queued_bytes) return;
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
    // A snapshot under way is finished even if another is wanted already: a slow subscriber would
    // never see the end of one otherwise.
    if (auto part = next_part()) return part;
    if (snapshot_wanted_) return begin_snapshot(publisher);
    if (!queue_.empty()) return pop();
    if (now < heartbeat_due_) return std::nullopt;
    heartbeat_due_ = now + config_.heartbeat;
    ++counters_.heartbeats;
    return publisher.heartbeat();
}

std::optional<Message> Outbox::next_part() {
    if (!image_) return std::nullopt;
    if (image_sent_ == image_->payload.size()) {
        image_.reset();
        return std::nullopt;
    }
    const auto rest = ByteView(image_->payload).subspan(image_sent_);
    const SnapshotPart part{rest.first(std::min(rest.size(), kSnapshotPartBytes))};
    image_sent_ += part.payload.size();
    return part;
}

Message Outbox::begin_snapshot(Publisher& publisher) {
    snapshot_wanted_ = false;
    clear_queue();
    image_ = publisher.snapshot();
    image_sent_ = 0;
    ++counters_.announcements;
    ++counters_.snapshots;
    counters_.announcement_bytes += image_->payload.size();
    return image_->begin;
}

Message Outbox::pop() {
    sending_ = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= sending_.bytes();
    if (!sending_.delta) return CheckHash{sending_.epoch, sending_.generation, sending_.hash};
    ++counters_.announcements;
    counters_.announcement_bytes += sending_.delta->size();
    return Delta{sending_.epoch, sending_.generation, *sending_.delta};
}

}  // namespace protocol
