#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace base {

/// A store is full when less than one part in so many of its cap is free.
inline constexpr std::uint64_t kRoomShare = 16;
/// The next response fits into the free part.
inline bool has_room(std::uint64_t used, std::uint64_t cap) {
    return used < cap - cap / kRoomShare;
}

/// The bytes in use for one purpose, under a cap. Any thread.
class MemoryBudget {
public:
    explicit MemoryBudget(std::uint64_t cap_bytes) : cap_(cap_bytes) {}
    MemoryBudget(const MemoryBudget&) = delete;
    MemoryBudget& operator=(const MemoryBudget&) = delete;

    /// Takes `bytes` if they fit under the cap.
    bool take(std::uint64_t bytes) { return take(bytes, cap()); }
    /// Takes `bytes` if they fit under `most`.
    bool take(std::uint64_t bytes, std::uint64_t most) {
        auto used = used_.load(std::memory_order_relaxed);
        do {
            if (bytes > most || used > most - bytes) return false;
        } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
        return true;
    }
    void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

    std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    std::uint64_t free() const {
        const auto most = cap();
        return most - std::min(most, used());
    }
    std::uint64_t cap() const { return cap_.load(std::memory_order_relaxed); }
    /// Bytes in use above the cap stay in use, and further ones are refused.
    void set_cap(std::uint64_t bytes) { cap_.store(bytes, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> cap_;
    std::atomic<std::uint64_t> used_{0};
};

/// A share of a budget, given back by the destructor. An evicted response stays charged until its
/// last slow reader is done. One thread at a time; any thread may destroy it.
class Charge {
public:
    Charge() = default;
    /// Adopts `bytes` that were taken from `budget`, which must outlive the charge.
    Charge(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Charge(Charge&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Charge() {
        if (budget_) budget_->give_back(bytes_);
    }

    std::uint64_t bytes() const { return bytes_; }

private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
};

/// The window of one body, at most `most`: a quarter of the free part. So each has less if there
/// are many.
inline std::uint64_t window_share(const MemoryBudget& windows, std::uint64_t most) {
    return std::min(most, windows.free() / 4);
}

/// Room to read `bytes` at once. Empty if half of `windows` is in use, because the other half is
/// for bodies that wait for their readers.
inline std::optional<Charge> read_ahead(MemoryBudget& windows, std::uint64_t bytes) {
    if (!windows.take(bytes, windows.cap() / 2)) return std::nullopt;
    return Charge(windows, bytes);
}

}  // namespace base
