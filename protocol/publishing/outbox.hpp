#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/publishing/link_counters.hpp"
#include "protocol/publishing/publisher.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "protocol/wire/message.hpp"

namespace protocol {

/// The messages that one subscriber has yet to get, beginning with a snapshot, or with the deltas
/// that it missed. The link takes one message at a time when the socket has room. Memory is bounded
/// at any speed of the subscriber: beyond the limit, one snapshot, made when its turn comes,
/// replaces all waiting messages. While a snapshot is being made, heartbeats name the last sent
/// generation, and announcements wait behind it. Reads no clock. One thread only.
class Outbox {
public:
    using TimePoint = Publisher::TimePoint;

    struct Config {
        std::size_t max_queued_bytes = std::size_t{1} << 20;
        std::chrono::nanoseconds heartbeat;  // interval, until beat_every()
    };

    Outbox(const Config& config, TimePoint now)
        : max_queued_bytes_(config.max_queued_bytes), beats_(config.heartbeat, now) {}

    void offer(const Announcement& announcement);
    void offer(const CheckHash& check);
    void want_snapshot() { snapshot_wanted_ = true; }
    /// The subscriber holds the state of `epoch` and `generation` already: these deltas, which lead
    /// on from there, go out in place of the first snapshot. Precondition: no message went out.
    void go_on(std::uint64_t epoch, std::uint64_t generation,
               const std::vector<RecentDeltas::Payload>& deltas);
    /// Sets the interval of heartbeats from the next one on.
    void beat_every(std::chrono::nanoseconds interval) { beats_.every(interval); }
    /// From now on only the goodbye goes out.
    void say_goodbye() { leaving_ = true; }

    /// Returns the next message, if any. Its payload is valid until the next call.
    std::optional<Message> next(Publisher& publisher, TimePoint now);
    /// The time of the next message, if nothing is offered before.
    TimePoint due() const { return beats_.due(); }
    /// The goodbye has been handed out.
    bool finished() const { return finished_; }

    /// Counts messages handed out, and overflows.
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

    const std::size_t max_queued_bytes_;
    std::deque<Item> queue_;
    std::size_t queued_bytes_ = 0;
    Item sending_;                                // keeps the payload of the last message alive
    std::shared_ptr<const SnapshotImage> image_;  // being made or sent
    std::optional<std::size_t> image_sent_;       // bytes sent; set once it has begun
    std::uint64_t sent_epoch_ = 0, sent_generation_ = 0;
    bool snapshot_wanted_ = true;
    bool leaving_ = false;
    bool finished_ = false;
    Heartbeats beats_;
    LinkCounters counters_;
};

}  // namespace protocol
