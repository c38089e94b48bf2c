#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/disk/disk_error.hpp"
#include "proxy/disk/disk_status.hpp"

namespace proxy {

/// Decides that a disk has too many errors: kFaults within kWindow. One thread.
class FaultWindow {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kFaults = 5;
    static constexpr std::chrono::minutes kWindow{1};

    /// Notes an error; true if that is one too many.
    bool note(Clock::time_point now) {
        const auto oldest = times_[next_];  // of the last kFaults - 1
        times_[next_] = now;
        next_ = (next_ + 1) % times_.size();
        ++count_;
        return count_ >= kFaults && now - oldest <= kWindow;
    }
    void clear() { *this = {}; }

private:
    std::array<Clock::time_point, kFaults - 1> times_{};
    std::size_t next_ = 0, count_ = 0;
};

/// The last error of a directory, and whether it has had too many. Any thread.
class ErrorHistory {
public:
    using Clock = std::chrono::steady_clock;

    explicit ErrorHistory(std::string first) : last_(std::move(first)) {}

    /// Notes a trouble that is none of the disk.
    void note(std::string what);
    /// Notes an error of the disk, of a full file system, or of this process, which met it in this
    /// activity. True if the directory fails by it.
    bool note(const boost::system::error_code& error, std::string_view activity);
    /// The directory must go off: it has had too many errors, or one that makes it useless.
    bool is_failing() const { return failing_; }
    void fail() { failing_ = true; }
    /// The directory works again. The last error stays.
    void forgive();
    /// Fills in the last error.
    void show(DiskStatus& status) const;

private:
    mutable std::mutex mutex_;
    FaultWindow faults_;
    std::string last_;
    Clock::time_point last_at_{};
    bool last_is_full_ = false;
    std::atomic<bool> failing_{false};
};

}  // namespace proxy
