#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// Whether somebody moves bytes fast enough: in each `window` of time in which they are what is
/// waited for, at least so many. What others take counts for nothing, so an origin that is slow
/// costs its client no window. No I/O, no clock.
class Pace {
public:
    using Clock = std::chrono::steady_clock;

    /// Another answer, or another request's body.
    void begin() { moved_then_.reset(); }
    bool begun() const { return moved_then_.has_value(); }

    /// A wait begins; `moved`: bytes so far, of which only differences count.
    /// Returns when to look.
    Clock::time_point wait(Clock::time_point now, std::int64_t moved, Clock::duration window) {
        if (!moved_then_) open(moved);
        since_ = now;
        return now + (waited_ < window ? window - waited_ : Clock::duration::zero());
    }

    /// The wait is over. False when the window is, and in it fewer than `least` bytes have moved;
    /// one is needed in any case. `moved` is called when the window is over.
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

    std::optional<std::int64_t> moved_then_;  // when the window began
    Clock::duration waited_{};                // in it
    Clock::time_point since_;
};

/// What has to move in such a window at `rate` bytes per second.
inline std::uint64_t least_bytes(std::uint64_t rate, std::chrono::nanoseconds window) {
    return static_cast<std::uint64_t>(static_cast<double>(rate) *
                                      std::chrono::duration<double>(window).count());
}

}  // namespace proxy
