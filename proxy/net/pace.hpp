#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// A minimum rate for a client. Only the time is counted during which the client is what we wait
/// for: each time this adds up to `window`, at least so many bytes have to have moved in it. While
/// an origin is waited for, no time passes. No I/O, no clock.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    /// Forgets what was counted: another answer, or another request's body, begins.
    void begin() { moved_then_.reset(); }
    bool begun() const { return moved_then_.has_value(); }

    /// A wait begins; `moved`: bytes so far, of which only differences count.
    /// Returns when to look.
    Clock::time_point wait(Clock::time_point now, std::int64_t moved, Clock::duration window) {
        if (!moved_then_) open(moved);
        since_ = now;
        return now + (waited_ < window ? window - waited_ : Clock::duration::zero());
    }

    /// The wait is over. False when a window is full and fewer than `least` bytes (one at least)
    /// have moved in it. `moved` is called only when a window is full.
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

/// What has to move in such a window at `rate` bytes per second.
inline std::uint64_t least_bytes(std::uint64_t rate, std::chrono::nanoseconds window) {
    return static_cast<std::uint64_t>(static_cast<double>(rate) *
                                      std::chrono::duration<double>(window).count());
}

}  // namespace proxy
