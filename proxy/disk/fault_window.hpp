#pragma once

#include <array>
#include <chrono>
#include <cstddef>

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

}  // namespace proxy
