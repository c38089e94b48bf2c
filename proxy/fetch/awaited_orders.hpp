#pragma once

#include <atomic>
#include <chrono>
#include <limits>

namespace proxy {

/// The invalidations that peers keep for a node that comes back with its disk. Until the node has
/// them, it validates what an earlier process stored, so that no client gets what was purged
/// meanwhile. The wait ends when all peers are in step, or kLongest after the start, because a peer
/// may stay away for ever. Any thread.
class AwaitedOrders {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kLongest{2};

    /// The node starts with a disk and with peers.
    void begin(Time now) { start_ = now.time_since_epoch().count(); }
    /// All peers are in step.
    void end() { start_ = kNone; }
    bool pending() const { return start_ != kNone; }
    /// True if the response that came at `arrival` has to be validated before it is used.
    bool may_concern(Time arrival, Time now) const {
        const auto start = start_.load(std::memory_order_relaxed);
        if (start == kNone) return false;
        const Time began{Time::duration(start)};
        return arrival < began && now < began + kLongest;
    }

private:
    static constexpr auto kNone = std::numeric_limits<Time::rep>::min();

    std::atomic<Time::rep> start_{kNone};
};

}  // namespace proxy
