#pragma once

#include <algorithm>
#include <chrono>

namespace protocol {

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
