#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {

/// One moment on both clocks, as finely as they tell it.
struct Present {
    using Wall = std::chrono::system_clock::time_point;

    std::chrono::steady_clock::time_point steady{};
    Wall wall{};
};

/// The moment in which a response's head came, on two clocks (RFC 9111 §4.2.3, response_time). Its
/// age counts on the steady one, which nobody can set: a wall clock that is set back makes nothing
/// fresh again. What outlives the process is the wall time, as the steady clock means nothing to
/// the next one.
struct Arrival {
    using Steady = std::chrono::steady_clock::time_point;

    Steady steady{};
    WallTime wall{};

    /// Whole seconds since then.
    std::chrono::seconds residence(Steady now) const {
        return std::chrono::duration_cast<std::chrono::seconds>(now - steady);
    }

    /// Of what arrived at `wall` in an earlier process; `now` is this one's present. While nobody
    /// counted, the wall clock did; from `now` on the steady one does. What seems to come from the
    /// future has been here for a time that nobody can tell, as the clock was set back: it is as
    /// old as can be, so that its origin is asked. `wall` may be up to a second late, never early,
    /// so what is left of one counts as a whole one: nothing is younger than it was.
    static Arrival in_earlier_process(WallTime wall, const Present& now) {
        const auto away = std::chrono::ceil<std::chrono::seconds>(now.wall - wall);
        const auto counted = away < away.zero() ? kMaxDelta : std::min(away, kMaxDelta);
        return {now.steady - counted, wall};
    }
};

}  // namespace proxy
