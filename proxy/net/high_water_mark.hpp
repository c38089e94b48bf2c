#pragma once

#include <atomic>
#include <cstdint>

namespace proxy {

/// The high-water mark of open connections. The allocator keeps the memory that they took; when
/// many of them have ended it is worth the time to give it back to the system.
class HighWaterMark {
public:
    static constexpr std::uint64_t kLeast = 250;

    /// So many there are now. Any thread; of two at once the smaller may count.
    void raise_to(std::uint64_t connections) {
        if (connections > most_.load(std::memory_order_relaxed))
            most_.store(connections, std::memory_order_relaxed);
    }

    /// True when the number has fallen to half of its high-water mark, and by at least kLeast; the
    /// mark then begins anew. One thread.
    bool has_fallen(std::uint64_t connections) {
        const auto most = most_.load(std::memory_order_relaxed);
        if (most < connections + kLeast || most < 2 * connections) return false;
        most_.store(connections, std::memory_order_relaxed);
        return true;
    }

private:
    std::atomic<std::uint64_t> most_{0};
};

}  // namespace proxy
