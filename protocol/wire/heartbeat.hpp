#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace protocol {

/// Limit of the heartbeats that a node sends in one heartbeat time. With more peers each peer gets
/// fewer. Otherwise heartbeats among all nodes, the cost of an idle cluster, would grow with the
/// square of the nodes.
inline constexpr std::size_t kBeatsPerHeartbeat = 64;

/// The longest interval that a node may use or promise.
inline constexpr std::chrono::milliseconds kMaxBeatInterval{60'000};

/// The interval of heartbeats on each link of a node with `peers` peers. Precondition: heartbeat <=
/// kMaxBeatInterval.
inline std::chrono::nanoseconds beat_interval(std::chrono::nanoseconds heartbeat,
                                              std::size_t peers) {
    const auto times = static_cast<std::int64_t>(std::max(peers, kBeatsPerHeartbeat));
    return std::min<std::chrono::nanoseconds>(
        heartbeat * times / static_cast<std::int64_t>(kBeatsPerHeartbeat), kMaxBeatInterval);
}

/// The promise in a heartbeat of the time to the next one.
inline std::chrono::milliseconds promise_of(std::chrono::nanoseconds interval) {
    return std::chrono::ceil<std::chrono::milliseconds>(interval);
}

/// The time of silence after which a peer counts as gone, if it has promised to send within
/// `promised`. It is `gone_after` for a promise up to this node's own heartbeat. For longer
/// promises two heartbeats may be late, and the reserve of `gone_after` beyond two heartbeats, for
/// the network and a busy machine, stays the same.
inline std::chrono::nanoseconds silence_limit(std::chrono::nanoseconds gone_after,
                                              std::chrono::nanoseconds heartbeat,
                                              std::chrono::nanoseconds promised) {
    return gone_after + 2 * std::max(promised - heartbeat, std::chrono::nanoseconds(0));
}

/// Heartbeats of one node leave in turns of about this distance.
inline constexpr std::chrono::seconds kBeatTurn{1};

/// The time of the next heartbeat: `interval` from now or up to one turn sooner, at a multiple of
/// the turn, which is the interval or an equal part of it of kBeatTurn or more. So the heartbeats
/// of all links of a node, and of all nodes of one machine, share few turns of the event loop and
/// few timer ticks, and stay together.
inline std::chrono::steady_clock::time_point next_beat(std::chrono::steady_clock::time_point now,
                                                       std::chrono::nanoseconds interval) {
    const auto turn = interval / std::max<std::int64_t>(interval / kBeatTurn, 1);
    const auto latest = now + interval;
    return latest - latest.time_since_epoch() % std::max(turn, std::chrono::nanoseconds(1));
}

/// The times of one end's heartbeats on one link. Reads no clock. One thread.
class Heartbeats {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// The first heartbeat is due at once.
    Heartbeats(std::chrono::nanoseconds interval, TimePoint now) : interval_(interval), due_(now) {}

    /// Sets the interval from the next heartbeat on.
    void every(std::chrono::nanoseconds interval) { interval_ = interval; }
    TimePoint due() const { return due_; }
    /// Returns whether a heartbeat is due, and plans the next one then.
    bool take(TimePoint now) {
        if (now < due_) return false;
        due_ = next_beat(now, interval_);
        return true;
    }
    std::chrono::milliseconds promise() const { return promise_of(interval_); }

private:
    std::chrono::nanoseconds interval_;
    TimePoint due_;
};

}  // namespace protocol
