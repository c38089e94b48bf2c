#pragma once

#include <atomic>
#include <chrono>

namespace proxy {

/// A period in which a resource is short (descriptors, memory). Its owner logs the start and the
/// end, instead of each request in between. Any thread.
class ShortagePeriod {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kQuiet{10};  // without a shortage, which ends the period

    /// Notes a shortage. Returns true if it begins a period.
    bool met(Clock::time_point now = Clock::now()) {
        last_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        return !on_.exchange(true, std::memory_order_relaxed);
    }
    /// Notes sufficiency. Returns true once per period, at its end.
    bool over(Clock::time_point now) {
        const Clock::time_point last{Clock::duration(last_.load(std::memory_order_relaxed))};
        if (now - last < kQuiet) return false;
        return on_.exchange(false, std::memory_order_relaxed);
    }
    bool on() const { return on_.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> on_{false};
    std::atomic<Clock::rep> last_{0};
};

}  // namespace proxy
