#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace base {

/// A minimum rate for a client. It counts the time in which the node waits for the client; the wait
/// for an origin is left out. In each `window` of that time a minimum of bytes has to move. A plain
/// object of one thread: callers pass time and bytes.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    /// Starts again, for the next response or request body.
    void begin() { moved_then_.reset(); }
    bool begun() const { return moved_then_.has_value(); }

    /// Notes the start of a wait. `moved`: bytes so far, of which differences count. Returns the
    /// time of the next check.
    Clock::time_point wait(Clock::time_point now, std::int64_t moved, Clock::duration window) {
        if (!moved_then_) open(moved);
        since_ = now;
        return now + (waited_ < window ? window - waited_ : Clock::duration::zero());
    }

    /// Notes the end of the wait. Returns false if a window is full and fewer than `least` bytes,
    /// or one, have moved in it. Calls `moved` only for a full window.
    template <class Moved>
    bool fast_enough(Clock::time_point now, Clock::duration window, std::uint64_t least,
                     Moved moved) {
        waited_ += now - since_;
        if (waited_ < window) return true;
        const std::int64_t moved_now = moved();
        const auto needed = static_cast<std::int64_t>(least > 0 ? least : 1);
        const auto enough = moved_now - *moved_then_ >= needed;
        open(moved_now);
        return enough;
    }

private:
    void open(std::int64_t moved) {
        moved_then_ = moved;
        waited_ = Clock::duration::zero();
    }

    std::optional<std::int64_t> moved_then_;  // at the window's begin
    Clock::duration waited_{};                // of the window, so far
    Clock::time_point since_;
};

/// Bytes that move in such a window at `rate` bytes per second.
inline std::uint64_t least_bytes(std::uint64_t rate, std::chrono::nanoseconds window) {
    return static_cast<std::uint64_t>(static_cast<double>(rate) *
                                      std::chrono::duration<double>(window).count());
}

}  // namespace base
