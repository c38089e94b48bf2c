#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace proxy {

/// The thread that writes to one directory. Others learn since when it waits for the device, and
/// may wait for its end with a deadline.
class DirectoryThread {
public:
    using Clock = std::chrono::steady_clock;

    void start(std::function<void()> work);
    bool was_started() const { return thread_.joinable(); }
    /// Precondition: was_started(). True when the work is over; the thread has ended then.
    bool ends_within(Clock::duration at_most);

    // On the thread: a call to the device may begin; the thread waits for work.
    void works_on() { busy_since_ = Clock::now().time_since_epoch().count(); }
    void rests() { busy_since_ = 0; }
    /// The last works_on(), unless the thread rests. Any thread.
    std::optional<Clock::time_point> busy_since() const {
        const auto since = busy_since_.load();
        if (since == 0) return std::nullopt;
        return Clock::time_point(Clock::duration(since));
    }

private:
    std::atomic<Clock::rep> busy_since_{0};  // 0: it rests
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace proxy
