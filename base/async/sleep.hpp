#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

namespace base {

// The steady clock of Linux stands still while the machine sleeps (suspend to memory or disk, a
// paused virtual machine that says so). Deadlines count on it. Ages of content count the sleep as
// well. Any thread.

/// How the boot clock is read. A test puts another function here.
inline std::atomic<int (*)(clockid_t, timespec*)> boot_clock{::clock_gettime};

inline std::chrono::nanoseconds boot_time() {
    timespec time{};
    boot_clock.load(std::memory_order_relaxed)(CLOCK_BOOTTIME, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

namespace detail {

/// How far the boot clock is ahead. The steady clock is read first, so that awake_time() is never
/// ahead of it.
inline std::chrono::nanoseconds boot_is_ahead() {
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    return boot_time() - steady;
}

inline const std::chrono::nanoseconds ahead_at_start = boot_is_ahead();
inline std::atomic<std::chrono::nanoseconds::rep> slept{0};

}  // namespace detail

/// The time that the machine has slept since this process began, as note_sleep() saw it last. Costs
/// no clock read.
inline std::chrono::nanoseconds slept() {
    return std::chrono::nanoseconds(detail::slept.load(std::memory_order_relaxed));
}

/// Looks how long the machine has slept. Less than a tenth of a second is the time between two
/// reads.
inline void note_sleep() {
    const auto now = detail::boot_is_ahead() - detail::ahead_at_start;
    const auto more = now - slept();
    if (more < std::chrono::milliseconds(100) && more > std::chrono::milliseconds(-100)) return;
    detail::slept.store(now.count(), std::memory_order_relaxed);
}

/// The steady time by the boot clock. After a sleep that nobody has noted, it is ahead by the
/// sleep.
inline std::chrono::steady_clock::time_point awake_time() {
    return std::chrono::steady_clock::time_point(boot_time() - detail::ahead_at_start - slept());
}

}  // namespace base
