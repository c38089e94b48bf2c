#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace base {

/// The moment at which changes of files are worth a look. A program that writes several files ends
/// with a pause, so the moment is 1 s after the last change, and 10 s after the first one at the
/// latest. One thread.
class Debouncer {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kQuiet{1}, kAtMost{10};

    void changed(Clock::time_point now) {
        if (!first_) first_ = now;
        last_ = now;
    }

    /// The moment, unless there is a further change before it. Nothing without a change.
    std::optional<Clock::time_point> due() const {
        if (!first_) return std::nullopt;
        return std::min(last_ + kQuiet, *first_ + kAtMost);
    }

    /// True if the moment has come. The changes so far are then over.
    bool take(Clock::time_point now) {
        const auto at = due();
        if (!at || now < *at) return false;
        first_.reset();
        return true;
    }

private:
    std::optional<Clock::time_point> first_;
    Clock::time_point last_{};
};

}  // namespace base
