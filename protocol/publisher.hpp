#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "protocol/codec.hpp"
#include "protocol/message.hpp"
#include "summary/own_summary.hpp"

namespace protocol {

/// What goes out to every subscriber: the changes of one generation, or word that only a snapshot
/// tells them. Encoded once, shared by all queues.
struct Announcement {
    std::uint64_t epoch = 0, generation = 0;
    std::shared_ptr<const Bytes> delta;  // null: send a snapshot
    std::optional<CheckHash> check;      // goes out after it
};

/// An encoded snapshot and what its frame says of it.
struct SnapshotImage {
    SnapshotBegin begin;
    Bytes payload;
};

/// Our own summary and the decision when to tell what. Knows nothing of subscribers; reads no
/// clock. One thread only.
///
/// The rule: changes are told when `announce_changed` of the objects have changed (at least one),
/// or `announce_delay` after the first untold change, whichever is first.
class Publisher {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Config {
        summary::OwnSummary::Config summary;
        double announce_changed = 0.001;
        std::chrono::nanoseconds announce_delay = std::chrono::seconds(1);
        std::chrono::nanoseconds check_hash = std::chrono::seconds(10);
    };

    Publisher(const Config& config, TimePoint now);

    /// Goes on with the keys of `earlier`, which is of no use any more, in a new epoch. For one
    /// that has no subscribers yet: nobody is told.
    void take_over(Publisher& earlier);

    /// A key that is there already, or not there, changes nothing.
    void stored(summary::KeyHash key, TimePoint now);
    void removed(summary::KeyHash key, TimePoint now);

    /// When announce() should be called next: in the past when enough has changed (whoever turns
    /// the event loop may first take all that has arrived), nothing when all is told.
    std::optional<TimePoint> announce_due() const;

    /// Takes all untold changes as the next generation; moves to another shape, and so to a new
    /// epoch, when the number of objects asks for it. Nothing when all is told.
    std::optional<Announcement> announce(TimePoint now);

    /// The check-hash, when one is due and everything is told. Those that are due while changes
    /// come in go out with announce().
    std::optional<CheckHash> check(TimePoint now);

    Heartbeat heartbeat() const;
    /// As of now; encoded once per generation. Never null.
    std::shared_ptr<const SnapshotImage> snapshot();

    const summary::OwnSummary& own() const { return own_; }

private:
    void changed(TimePoint now);
    std::shared_ptr<const Bytes> encode_changes();
    std::optional<CheckHash> take_check(TimePoint now);

    Config config_;
    summary::OwnSummary own_;
    std::optional<TimePoint> first_untold_;
    bool enough_ = false;
    TimePoint check_due_;
    std::weak_ptr<const SnapshotImage> image_;  // shared while a subscriber is being sent it
};

}  // namespace protocol
