#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace protocol {

/// In the time of one heartbeat a node beats at most so often: with more peers each hears it less
/// often. Beats of everybody to everybody grow with the square of the nodes, and with them the cost
/// of doing nothing.
inline constexpr std::size_t kBeatsPerHeartbeat = 64;

/// Nobody beats less often, nor may promise more.
inline constexpr std::chrono::milliseconds kMaxBeatInterval{60'000};

/// How often a node with so many peers beats on each link. Precondition: heartbeat <=
/// kMaxBeatInterval.
inline std::chrono::nanoseconds beat_interval(std::chrono::nanoseconds heartbeat,
                                              std::size_t peers) {
    const auto times = static_cast<std::int64_t>(std::max(peers, kBeatsPerHeartbeat));
    return std::min<std::chrono::nanoseconds>(
        heartbeat * times / static_cast<std::int64_t>(kBeatsPerHeartbeat), kMaxBeatInterval);
}

/// What a beat says of the next one.
inline std::chrono::milliseconds promise_of(std::chrono::nanoseconds interval) {
    return std::chrono::ceil<std::chrono::milliseconds>(interval);
}

/// So long may a peer be silent that has promised to speak within `promised`: `gone_after` if that
/// is no longer than our own heartbeat. Else two beats may be late, and what `gone_after` leaves
/// beyond two heartbeats for the network and a busy machine stays what it is.
inline std::chrono::nanoseconds silence_limit(std::chrono::nanoseconds gone_after,
                                              std::chrono::nanoseconds heartbeat,
                                              std::chrono::nanoseconds promised) {
    return gone_after + 2 * std::max(promised - heartbeat, std::chrono::nanoseconds(0));
}

/// When to beat next: `interval` from now or up to an eighth of it sooner, at a multiple of that
/// eighth. So the beats of many links fall together in few turns of the event loop and few ticks of
/// its timer, and do not drift apart again.
inline std::chrono::steady_clock::time_point next_beat(std::chrono::steady_clock::time_point now,
                                                       std::chrono::nanoseconds interval) {
    const auto step = std::max(interval / 8, std::chrono::nanoseconds(1));
    const auto latest = now + interval;
    return latest - latest.time_since_epoch() % step;
}

}  // namespace protocol
