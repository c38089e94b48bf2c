#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/publishing/link_counters.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/message.hpp"
#include "summary/coding/snapshot_reader.hpp"
#include "summary/directory/replica.hpp"

namespace protocol {

/// Progress of one link with the invalidations of its publisher, by number: those handed out to be
/// applied, those kept, and those confirmed. An invalidation named on an earlier link is confirmed
/// only after this link has named it again. One thread.
class Confirmations {
public:
    /// `applied`: the last invalidation of this publisher's instance that this node has applied;
    /// `kept`: the last that may be confirmed.
    Confirmations(std::uint64_t applied, std::uint64_t kept) : applied_(applied), kept_(kept) {}

    /// The link has named all invalidations up to `last`. Returns true if some of them are new, and
    /// to be applied. Either kind is confirmed once it is kept.
    bool named(std::uint64_t last) {
        named_ = std::max(named_, last);
        again_ = again_ || last <= kept_;  // the confirmation was lost
        if (last <= applied_) return false;
        applied_ = last;
        return true;
    }
    /// All invalidations up to `last` are kept.
    void kept(std::uint64_t last) { kept_ = last; }

    bool due() const { return again_ || confirmable() > confirmed_; }
    /// The number to confirm now.
    std::uint64_t take() {
        again_ = false;
        confirmed_ = confirmable();
        return confirmed_;
    }
    std::uint64_t applied() const { return applied_; }

private:
    std::uint64_t confirmable() const { return std::min(kept_, named_); }

    std::uint64_t applied_, kept_;
    std::uint64_t named_ = 0, confirmed_ = 0;  // on this link
    bool again_ = false;
};

/// The subscriber's side of one link, from the Welcome to the end. It keeps the replica in sync
/// with the publisher's messages, and notices gaps. Every gap has the same recovery: it requests a
/// snapshot, and uses the old filter until the snapshot is complete. A session may go on with the
/// replica of an earlier link: its first heartbeat says so, and the publisher answers with the
/// deltas that are missing, or with a snapshot. Reads no clock. One thread only.
class SyncSession {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Config {
        std::uint64_t max_summary_bytes = std::uint64_t{256} << 20;
        std::chrono::nanoseconds heartbeat;  // interval, until beat_every()
    };

    // Actions for the caller, to be done in this order.
    struct Load {  // replica() is new: load it into the directory
        bool operator==(const Load&) const = default;
    };
    struct Change {  // made in replica(): make it in the directory
        summary::Change what;
        bool operator==(const Change&) const = default;
    };
    struct Resume {  // replica(), of an earlier link, is in step again
        bool operator==(const Resume&) const = default;
    };
    struct Close {  // the link has become useless
        Error reason;
        bool operator==(const Close&) const = default;
    };
    using Drop = Invalidation;  // to be applied; applied() is the number of the last
    using Action = std::variant<Load, Change, Resume, Close, Drop>;

    /// `applied` and `kept`: see Confirmations. `left`: the replica that an earlier link with the
    /// same instance of the publisher left; null: there is none.
    SyncSession(const Config& config, TimePoint now, std::uint64_t applied = 0,
                std::uint64_t kept = 0, std::unique_ptr<summary::Replica> left = nullptr);

    /// Returns at most one action.
    std::optional<Action> on_message(const Message& message, TimePoint now);

    /// Returns the next message to send, if any: a request, a confirmation, or a heartbeat with
    /// this node's state.
    std::optional<Message> next(TimePoint now);
    /// Sets the interval of heartbeats from the next one on; it is Config::heartbeat at first.
    void beat_every(std::chrono::nanoseconds interval) { beats_.every(interval); }
    /// States whether the publisher hears this node on another link, and has announced that it
    /// listens there. Then only the first heartbeat goes out, which announces the same.
    void set_heard_elsewhere(bool is_heard) { heard_elsewhere_ = is_heard; }
    /// Sets the number sent in place of kListensElsewhere: a dial_report(), or 0. A new number goes
    /// out with the next heartbeat in any case.
    void set_dial_report(std::uint64_t report) { report_ = report; }
    /// The time of the next message, if none is received before; max() while next() would find that
    /// the publisher hears enough.
    TimePoint due() const {
        if (confirmations_.due() || request_pending_) return TimePoint::min();
        return heard_elsewhere_ && said_ == report_ ? TimePoint::max() : beats_.due();
    }

    /// All invalidations up to `last` are kept. Those that this link has named are confirmed.
    void kept(std::uint64_t last) { confirmations_.kept(last); }

    /// The replica equals the publisher's last announcement, as far as this node has heard.
    bool in_sync() const { return !awaiting_snapshot_ && replica_->in_sync(); }
    /// Stays in place as long as the session, and after leave_replica().
    const summary::Replica& replica() const { return *replica_; }
    summary::Replica& replica() { return *replica_; }
    /// Leaves the replica to the next session, at the end of this one; null if a session could not
    /// go on with it.
    std::unique_ptr<summary::Replica> leave_replica() {
        return replica_->in_sync() ? std::move(replica_) : nullptr;
    }
    /// The time of the last message that found the replica in sync.
    TimePoint confirmed_at() const { return confirmed_at_; }
    /// The publisher's latest number of objects.
    std::uint64_t objects() const { return objects_; }
    /// The last invalidation of the publisher that was handed out as a Drop.
    std::uint64_t applied() const { return confirmations_.applied(); }
    /// Counts received messages and their effects. An announcement counts when it is complete. An
    /// order to drop everything counts as one invalidation.
    const PeerLinkCounters& counters() const { return counters_; }

private:
    /// A snapshot that is still arriving.
    struct Assembly {
        explicit Assembly(const SnapshotBegin& of) : begin(of), payload(of.summary) {}
        SnapshotBegin begin;
        summary::SnapshotReader
            payload;  // its memory grows with the arriving bytes, independent of the announced size
        std::uint64_t received = 0;  // bytes
    };

    std::optional<Action> take(const SnapshotBegin& begin, TimePoint now);
    std::optional<Action> take(const SnapshotPart& part, TimePoint now);
    std::optional<Action> take(const Delta& delta, TimePoint now);
    std::optional<Action> take(const Heartbeat& beat, TimePoint now);
    std::optional<Action> take(const CheckHash& check, TimePoint now);
    std::optional<Action> take(const Goodbye& goodbye, TimePoint now);
    std::optional<Action> take(const Welcome& welcome, TimePoint now);
    std::optional<Action> take(const SnapshotRequest& request, TimePoint now);
    std::optional<Action> take(const Invalidate& order, TimePoint now);
    std::optional<Action> take(const InvalidateAll& order, TimePoint now);
    std::optional<Action> take(const Confirm& confirm, TimePoint now);
    std::optional<Action> take(const Report& report, TimePoint now);
    std::optional<Action> take(const Renewals& all, TimePoint now);
    std::optional<Action> load(Assembly whole, TimePoint now);
    std::optional<Action> judge(summary::ApplyResult what, TimePoint now);
    void ask_for_snapshot(TimePoint now);

    Config config_;
    std::unique_ptr<summary::Replica> replica_;
    std::optional<Assembly> assembly_;
    std::uint64_t objects_ = 0;
    bool awaiting_snapshot_ = true;  // a link begins with a snapshot, unless it resumes
    bool resuming_ = false;          // while it awaits that, deltas may lead the replica on
    bool request_pending_ = false;
    Confirmations confirmations_;
    TimePoint asked_at_;
    TimePoint confirmed_at_;
    Heartbeats beats_;
    bool heard_elsewhere_ = false;
    std::uint64_t report_ = 0;           // on this node's own link
    std::optional<std::uint64_t> said_;  // the last one sent; empty before the first heartbeat
    PeerLinkCounters counters_;
};

}  // namespace protocol
