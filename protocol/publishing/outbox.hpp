#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "protocol/publishing/link_counters.hpp"
#include "protocol/publishing/publisher.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// What one subscriber has still to be told. Begins with a snapshot. The link asks for one message
/// at a time, when the socket takes it, so memory is bounded by the limit whatever the subscriber
/// does: when more is waiting than that, all of it is replaced by one snapshot, taken when its turn
/// comes. While a snapshot is in the making, heartbeats go on with what was told last, and
/// announcements wait behind it. Reads no clock. One thread only.
class Outbox {
public:
    using TimePoint = Publisher::TimePoint;

    struct Config {
        std::size_t max_queued_bytes = std::size_t{1} << 20;
        std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(500);
    };

    Outbox(const Config& config, TimePoint now) : config_(config), heartbeat_due_(now) {}

    void offer(const Announcement& announcement);
    void offer(const CheckHash& check);
    void want_snapshot() { snapshot_wanted_ = true; }
    /// How far apart heartbeats are from the next one on.
    void beat_every(std::chrono::nanoseconds interval) { config_.heartbeat = interval; }
    /// Nothing but the goodbye goes out from now on.
    void say_goodbye() { leaving_ = true; }

    /// What to send now, if anything. A payload it views is good until the next call.
    std::optional<Message> next(Publisher& publisher, TimePoint now);
    /// When next() will have something again, if nobody offers anything before.
    TimePoint due() const { return heartbeat_due_; }
    /// The goodbye has been handed out.
    bool finished() const { return finished_; }

    /// What was handed out, and overflows.
    const LinkCounters& counters() const { return counters_; }
    std::size_t queued_bytes() const { return queued_bytes_; }

private:
    struct Item {
        std::uint64_t epoch = 0, generation = 0;
        std::shared_ptr<const Bytes> delta;  // null: a check-hash
        std::uint64_t hash = 0;
        std::size_t bytes() const { return sizeof(Item) + (delta ? delta->size() : 0); }
    };

    void push(Item item);
    void clear_queue();
    std::optional<Message> next_part();
    std::optional<Message> next_of_snapshot(Publisher& publisher);
    Message begin_snapshot();
    Message pop();

    Config config_;
    std::deque<Item> queue_;
    std::size_t queued_bytes_ = 0;
    Item sending_;                                // keeps the payload of the last message alive
    std::shared_ptr<const SnapshotImage> image_;  // in the making, or being sent
    std::optional<std::size_t> image_sent_;       // bytes, once it has begun
    std::uint64_t sent_epoch_ = 0, sent_generation_ = 0;
    bool snapshot_wanted_ = true;
    bool leaving_ = false;
    bool finished_ = false;
    TimePoint heartbeat_due_;
    LinkCounters counters_;
};

}  // namespace protocol
