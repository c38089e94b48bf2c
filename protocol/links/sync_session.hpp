#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/publishing/link_counters.hpp"
#include "protocol/wire/message.hpp"
#include "summary/replica.hpp"
#include "summary/snapshot_reader.hpp"

namespace protocol {

/// The subscriber's side of one link, from its Welcome to its end: keeps the replica in sync with
/// what the publisher says, and knows when it is not. One recovery for everything: ask for a
/// snapshot, and go on with the old filter until it is complete. Reads no clock. One thread only.
class SyncSession {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Config {
        std::uint64_t max_summary_bytes = std::uint64_t{256} << 20;
        std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(500);
    };

    // What the caller has to do, in this order.
    struct Load {  // replica() is new: load it into the directory
        bool operator==(const Load&) const = default;
    };
    struct Change {  // done to replica(): do it to the directory
        summary::Change what;
        bool operator==(const Change&) const = default;
    };
    struct Close {  // the link is of no more use
        Error reason;
        bool operator==(const Close&) const = default;
    };
    struct Drop {  // these stored responses no longer count; applied() says up to which number
        std::vector<summary::KeyHash> keys, tags;
        bool all = false;  // nor does anything else that is stored
        bool operator==(const Drop&) const = default;
    };
    using Action = std::variant<Load, Change, Close, Drop>;

    /// `applied`: the last invalidation of this run of the publisher that we have applied already;
    /// `kept`: the last that may be confirmed.
    SyncSession(const Config& config, TimePoint now, std::uint64_t applied = 0,
                std::uint64_t kept = 0);

    /// At most one action: nothing to do otherwise.
    std::optional<Action> on_message(const Message& message, TimePoint now);

    /// What to send now, if anything: a request, or a heartbeat that says what we hold.
    std::optional<Message> next(TimePoint now);
    /// How far apart heartbeats are from the next one on; `Config::heartbeat` before.
    void beat_every(std::chrono::nanoseconds interval) { interval_ = interval; }
    /// Whether the publisher hears from us elsewhere and has said that it listens there: then only
    /// the first heartbeat goes out, which says the same of us.
    void set_heard_elsewhere(bool is_heard) { heard_elsewhere_ = is_heard; }
    /// What is said in place of kListensElsewhere: a dial_report(), or 0. Another one goes out with
    /// the next heartbeat in any case.
    void set_dial_report(std::uint64_t report) { report_ = report; }
    /// When next() will have something again, if no message comes before.
    TimePoint due() const {
        return confirms() || request_pending_ ? TimePoint::min() : heartbeat_due_;
    }

    /// All up to this one stays applied, whatever happens: what this link has named of it is
    /// confirmed.
    void kept(std::uint64_t last) { kept_ = last; }

    /// The replica is what the publisher last announced, as far as we have heard.
    bool in_sync() const { return !awaiting_snapshot_ && replica_.in_sync(); }
    const summary::Replica& replica() const { return replica_; }
    summary::Replica& replica() { return replica_; }
    /// When the publisher last said something that put us, or found us, in sync.
    TimePoint confirmed_at() const { return confirmed_at_; }
    /// How many objects the publisher said it has.
    std::uint64_t objects() const { return objects_; }
    /// The last invalidation of the publisher's that was handed out as a Drop.
    std::uint64_t applied() const { return applied_; }
    /// What was received, and what came of it. Announcements count when they are complete, an order
    /// to drop everything as one invalidation.
    const PeerLinkCounters& counters() const { return counters_; }

private:
    /// A snapshot of which not all parts are there.
    struct Assembly {
        explicit Assembly(const SnapshotBegin& of) : begin(of), payload(of.summary) {}
        SnapshotBegin begin;
        summary::SnapshotReader payload;  // its memory grows with what arrives, not with promises
        std::uint64_t received = 0;       // bytes
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
    /// True when it is news; to be confirmed in any case, once it is kept.
    bool note_applied(std::uint64_t last);
    /// What an earlier link has named this one will name again, before it is confirmed.
    std::uint64_t confirmable() const { return std::min(kept_, named_); }
    bool confirms() const { return confirm_again_ || confirmable() > confirmed_; }

    std::optional<Action> load(Assembly whole, TimePoint now);
    std::optional<Action> judge(summary::Apply what, TimePoint now);
    void ask_for_snapshot(TimePoint now);

    Config config_;
    summary::Replica replica_;
    std::optional<Assembly> assembly_;
    std::uint64_t objects_ = 0;
    bool awaiting_snapshot_ = true;  // the publisher begins with one
    bool request_pending_ = false;
    std::uint64_t applied_, kept_;
    std::uint64_t named_ = 0, confirmed_ = 0;  // on this link
    bool confirm_again_ = false;
    TimePoint asked_at_;
    TimePoint confirmed_at_;
    TimePoint heartbeat_due_;
    std::chrono::nanoseconds interval_;
    bool has_beaten_ = false;
    bool heard_elsewhere_ = false;
    std::uint64_t report_ = 0, said_ = 0;  // of our own link
    PeerLinkCounters counters_;
};

}  // namespace protocol
