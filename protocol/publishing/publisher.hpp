#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "protocol/wire/codec.hpp"
#include "protocol/wire/message.hpp"
#include "summary/own.hpp"

namespace protocol {

/// What goes out to every subscriber: the changes of one generation, or word that only a snapshot
/// tells them. Encoded once, shared by all queues.
struct Announcement {
    std::uint64_t epoch = 0, generation = 0;
    std::shared_ptr<const Bytes> delta;  // null: send a snapshot
    std::optional<CheckHash> check;      // goes out after it
};

/// A snapshot and what its frame says of it. With many objects it takes a while until it is there;
/// who waits for it needs all announcements since it was begun.
struct SnapshotImage {
    SnapshotBegin begin;  // payload_bytes counts once it is ready
    Bytes payload;
    enum class State : std::uint8_t { under_way, ready, given_up } state = State::under_way;
};

/// Our own summary and the decision when to tell what. Knows nothing of subscribers; reads no
/// clock. One thread only. What takes long with many objects, growth and snapshots, is done in
/// slices by work(); with few the first slice, which is done at once, is all of it.
///
/// The rule: changes are told when `announce_changed` of the objects have changed (at least one),
/// or `announce_delay` after the first untold change, whichever is first.
class Publisher {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Config {
        summary::Own::Config summary;
        double announce_changed = 0.001;
        std::chrono::nanoseconds announce_delay = std::chrono::seconds(1);
        std::chrono::nanoseconds check_hash = std::chrono::seconds(10);
    };

    Publisher(const Config& config, TimePoint now);

    /// Goes on with the keys of `earlier`, which is of no use any more, in a new epoch. For one
    /// that has no subscribers yet: nobody is told.
    void take_over(Publisher& earlier);

    /// Another error is wanted, as there are more peers or fewer: busy() then, if that needs
    /// another shape.
    void set_error(double error);

    /// What summary::entry_of() the configured kind makes of a key. One that is there already, or
    /// not there, changes nothing.
    void stored(summary::KeyHash entry, TimePoint now);
    void removed(summary::KeyHash entry, TimePoint now);

    /// See summary::Own: peers hear of what comes from now on as one new epoch, when end_import()
    /// has been called and work() is done with it. Precondition: nothing is stored.
    void begin_import() { own_.begin_import(); }
    void end_import() { own_.end_import(); }

    /// When announce() should be called next: in the past when enough has changed (whoever turns
    /// the event loop may first take all that has arrived), nothing when all is told.
    std::optional<TimePoint> announce_due() const;

    /// Takes untold changes as the next generation: all of them, or the first changes_at_once, and
    /// then more is due at once. Begins to move to another shape, and so to a new epoch, when the
    /// number of objects asks for it. Nothing when all is told.
    std::optional<Announcement> announce(TimePoint now);

    /// Is there work to be done in slices?
    bool busy() const { return own_.growing() || making_ != nullptr || left_over_ || refit_; }
    bool makes_image() const { return making_ != nullptr; }
    /// One slice, a few milliseconds at most. What there is to tell when a new shape is there.
    std::optional<Announcement> work();

    /// The check-hash, when one is due and everything is told. Those that are due while changes
    /// come in go out with announce().
    std::optional<CheckHash> check(TimePoint now);

    Heartbeat heartbeat() const;
    /// The image for somebody who needs one: of this generation, so that several share it. Null
    /// while one is being made that was begun too early for him, or the summary is much too large
    /// and is being replaced; ask again when that is done.
    std::shared_ptr<const SnapshotImage> image();
    /// As of now, all at once, whatever others may think of its size. Never null.
    std::shared_ptr<const SnapshotImage> snapshot();

    const summary::Own& own() const { return own_; }

private:
    /// An image in the making.
    struct Making {
        explicit Making(summary::Own& own) : writer(own, image->payload) {}
        std::shared_ptr<SnapshotImage> image = std::make_shared<SnapshotImage>();
        summary::Own::SnapshotWriter writer;
    };

    void changed(TimePoint now);
    std::uint64_t announced_objects() const { return own_.importing() ? 0 : own_.objects(); }
    std::shared_ptr<const Bytes> take_changes();
    bool grow();
    std::shared_ptr<const SnapshotImage> image_of_now();
    bool make_image();
    Announcement news() const;
    std::optional<CheckHash> take_check(TimePoint now);

    Config config_;
    summary::Own own_;
    std::optional<TimePoint> first_unannounced_;
    bool enough_ = false;
    TimePoint check_due_;
    std::unique_ptr<Making> making_;
    bool growth_has_turn_ = false;              // when both go on
    bool left_over_ = false;                    // memory to be given back
    bool refit_ = false;                        // outgrown, or emptied, while it grew
    std::weak_ptr<const SnapshotImage> image_;  // shared while a subscriber is being sent it
};

}  // namespace protocol
