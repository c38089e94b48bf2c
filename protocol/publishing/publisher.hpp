#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/publishing/recent_deltas.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/message.hpp"
#include "summary/own/own_summary.hpp"

namespace protocol {

/// A message for all subscribers: the changes of one generation, or the demand for a snapshot.
/// Encoded once, and shared by all queues.
struct Announcement {
    std::uint64_t epoch = 0, generation = 0;
    std::shared_ptr<const Bytes> delta;  // null: send a snapshot
    std::optional<CheckHash> check;      // sent after it
};

/// A snapshot, and the fields of its frame. With many objects it takes several slices. A subscriber
/// that waits for it needs all announcements since its start.
struct SnapshotImage {
    SnapshotBegin begin;  // payload_bytes is valid when it is ready
    Bytes payload;
    enum class State : std::uint8_t { under_way, ready, given_up } state = State::under_way;
};

/// The own summary, and the decision when to announce changes. It knows no subscribers, and reads
/// no clock. One thread only. work() does long work on many objects, growth and snapshots, in
/// slices. With few objects the first slice, done at once, completes the work.
///
/// The publisher announces when `announce_changed` of the objects have changed (at least one), or
/// `announce_delay` after the first unannounced change, whichever is first.
class Publisher {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Config {
        summary::OwnSummary::Config summary;
        double announce_changed = 0.001;
        std::chrono::nanoseconds announce_delay = std::chrono::seconds(1);
        std::chrono::nanoseconds check_hash = std::chrono::seconds(10);
        /// Of deltas kept for subscribers whose link broke: as much as one link may queue, so a
        /// subscriber without a link has as long as one that reads nothing.
        std::size_t recent_bytes = std::size_t{1} << 20;
    };

    Publisher(const Config& config, TimePoint now);

    /// Goes on with the keys of `earlier`, which becomes useless, in a new epoch. Precondition:
    /// this publisher has no subscribers yet.
    void take_over(Publisher& earlier);

    /// Sets the wanted error after a change of the number of peers. busy() afterwards if that needs
    /// another shape.
    void set_error(double error);

    /// Take summary::entry_of() the configured kind. A repeated call changes nothing.
    void stored(summary::KeyHash entry, TimePoint now);
    void removed(summary::KeyHash entry, TimePoint now);

    /// See summary::OwnSummary. Keys stored from now on are announced as one new epoch, after
    /// end_import() and its slices. Precondition: the summary is empty.
    void begin_import() { own_.begin_import(); }
    void end_import() { own_.end_import(); }

    /// The time of the next announce(); empty when everything is announced. It lies in the past
    /// when enough has changed, so that the event loop may first take all arrived changes.
    std::optional<TimePoint> announce_due() const;

    /// Takes pending changes as the next generation: all of them, or the first changes_at_once,
    /// with more due at once. Begins to move to another shape, and so to a new epoch, when the
    /// number of objects demands it. Returns nullopt when everything is announced.
    std::optional<Announcement> announce(TimePoint now);

    /// Whether there is work in slices.
    bool busy() const { return own_.growing() || making_ != nullptr || left_over_ || refit_; }
    bool makes_image() const { return making_ != nullptr; }
    /// Does one slice, a few milliseconds at most. Returns an announcement when a new shape is
    /// complete.
    std::optional<Announcement> work();

    /// Returns the check-hash, when it is due and everything is announced. announce() adds a
    /// check-hash that is due while changes come in.
    std::optional<CheckHash> check(TimePoint now);

    Heartbeat heartbeat() const;
    /// The deltas that lead a replica of this epoch from `generation` to the present one. Returns
    /// nullopt when it needs a snapshot: the deltas are no longer kept, or a snapshot is about as
    /// short.
    std::optional<std::vector<RecentDeltas::Payload>> deltas_since(std::uint64_t epoch,
                                                                   std::uint64_t generation) const;
    /// The image of the present generation, shared by all that ask. Null while an older image is
    /// being made, or while a summary of much too large a size is being replaced; the caller asks
    /// again afterwards.
    std::shared_ptr<const SnapshotImage> image();
    /// The image of the present state, made at once for any size. Never null.
    std::shared_ptr<const SnapshotImage> snapshot();

    const summary::OwnSummary& own() const { return own_; }

private:
    /// An image that is being made.
    struct ImageBuild {
        explicit ImageBuild(summary::OwnSummary& own) : writer(own, image->payload) {}
        std::shared_ptr<SnapshotImage> image = std::make_shared<SnapshotImage>();
        summary::OwnSummary::SnapshotWriter writer;
    };

    void changed(TimePoint now);
    std::uint64_t announced_objects() const { return own_.importing() ? 0 : own_.objects(); }
    std::shared_ptr<const Bytes> take_changes();
    bool grow();
    std::shared_ptr<const SnapshotImage> image_of_now();
    bool make_image();
    Announcement news(std::shared_ptr<const Bytes> delta);
    std::optional<CheckHash> take_check(TimePoint now);

    Config config_;
    summary::OwnSummary own_;
    RecentDeltas recent_;
    std::optional<TimePoint> first_unannounced_;
    bool enough_ = false;
    TimePoint check_due_;
    std::unique_ptr<ImageBuild> making_;
    bool growth_has_turn_ = false;              // alternates with the image
    bool left_over_ = false;                    // memory to give back
    bool refit_ = false;                        // needs another shape after this growth
    std::weak_ptr<const SnapshotImage> image_;  // shared while a subscriber gets it
};

}  // namespace protocol
