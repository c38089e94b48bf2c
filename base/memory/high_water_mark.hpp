#pragma once

#include <atomic>
#include <cstdint>

namespace base {

/// The high-water mark of open connections. The allocator keeps the memory of closed connections.
/// After many of them have ended, returning it to the system is worth the time. All threads share
/// it.
class HighWaterMark {
public:
    static constexpr std::uint64_t kLeast = 250;

    /// Notes the present number. Any thread; of two concurrent calls the smaller number may win.
    void raise_to(std::uint64_t connections) {
        if (connections > most_.load(std::memory_order_relaxed))
            most_.store(connections, std::memory_order_relaxed);
    }

    /// Whether the number has fallen to half of its high-water mark, and by at least kLeast. If so,
    /// the mark starts again at `connections`. One thread.
    bool has_fallen(std::uint64_t connections) {
        const auto most = most_.load(std::memory_order_relaxed);
        if (most < connections + kLeast || most < 2 * connections) return false;
        most_.store(connections, std::memory_order_relaxed);
        return true;
    }

private:
    std::atomic<std::uint64_t> most_{0};
};

}  // namespace base
