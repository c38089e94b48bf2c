#pragma once

#include <algorithm>
#include <chrono>

namespace base {

/// The pause before the next attempt to dial; it doubles from `min` to `max`.
class Backoff {
public:
    using Duration = std::chrono::nanoseconds;

    Backoff(Duration min, Duration max) : min_(min), max_(max), next_(min) {}

    Duration next() {
        const auto now = next_;
        next_ = std::min(max_, 2 * next_);
        return now;
    }
    void reset() { next_ = min_; }

    /// The link has ended after `lasted`. A link that fails right after each hello keeps its long
    /// pauses.
    void link_lasted(Duration lasted) {
        if (lasted >= max_) reset();
    }

private:
    Duration min_;
    Duration max_;
    Duration next_;
};

}  // namespace base
