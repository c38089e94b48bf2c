#pragma once

#include <algorithm>
#include <chrono>

#include "base/async/sleep.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {

/// One moment on both clocks, at their full resolution.
struct ClockReading {
    using Wall = std::chrono::system_clock::time_point;

    std::chrono::steady_clock::time_point steady{};
    Wall wall{};
};

/// The arrival of a response's head on two clocks (RFC 9111 §4.2.3, response_time). The age counts
/// on the steady clock, so a change of the wall clock makes no response fresh again. In the store
/// `steady` counts the sleep of the machine, too, so a response goes on ageing in it. The disk
/// keeps the wall time, because a steady clock ends with its process.
struct Arrival {
    using Steady = std::chrono::steady_clock::time_point;

    Steady steady{};
    WallTime wall{};

    /// The same for the store.
    Arrival with_sleep() const { return {steady + base::slept(), wall}; }
    /// Whole seconds in the store until `now` of the steady clock.
    std::chrono::seconds residence(Steady now) const {
        return std::chrono::duration_cast<std::chrono::seconds>(now + base::slept() - steady);
    }

    /// The arrival of a response that an earlier process received at `wall`. The age up to `now`
    /// counts on the wall clock, rounded up because `wall` may be a second late. A `wall` in the
    /// future shows that the clock was set back: the response then gets the largest age, and its
    /// origin is asked.
    static Arrival in_earlier_process(WallTime wall, const ClockReading& now) {
        const auto away = std::chrono::ceil<std::chrono::seconds>(now.wall - wall);
        const auto counted = away < away.zero() ? kMaxDelta : std::min(away, kMaxDelta);
        return {now.steady + base::slept() - counted, wall};
    }
};

}  // namespace proxy
