#pragma once

#include <atomic>
#include <chrono>

namespace proxy {

/// A time during which something is short (descriptors, memory). Lets it be logged when it begins
/// and when it is over, not with each request that it hits. Any thread.
class Episode {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kQuiet{10};  // over when nothing was met for so long

    /// It was met. True when that begins an episode.
    bool met(Clock::time_point now = Clock::now()) {
        last_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        return !on_.exchange(true, std::memory_order_relaxed);
    }
    /// It was not met this time. True once for each episode, when it is over.
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
