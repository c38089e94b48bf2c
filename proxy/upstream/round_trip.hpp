#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace proxy {

/// The time that responses take: smoothed mean and mean deviation of the measurements (RFC 6298
/// §2). A value far above the usual was probably sent twice and says nothing about the way (Karn's
/// rule, ibid. §3). The third in a row counts, because the way itself has changed then. Function of
/// the measurements.
class RoundTrip {
public:
    using Duration = std::chrono::nanoseconds;

    static constexpr unsigned kWellKnownAfter = 8;
    static constexpr unsigned kLeastOf = 16;
    static constexpr unsigned kOddOnesIgnored = 2;                // in a row
    static constexpr std::chrono::milliseconds kOddOneLeast{10};  // above the usual

    void measured(Duration time) {
        note_least(time);
        if (count_ < kWellKnownAfter) ++count_;
        if (count_ == 1) {
            mean_ = time;
            deviation_ = time / 2;
            return;
        }
        const auto odd = time > std::max(mean_ + 4 * deviation_, 2 * mean_) + kOddOneLeast;
        if (odd && odd_ones_ < kOddOnesIgnored) {
            ++odd_ones_;
            return;
        }
        odd_ones_ = 0;
        deviation_ += (std::chrono::abs(mean_ - time) - deviation_) / 4;
        mean_ += (time - mean_) / 8;
    }

    bool known() const { return count_ > 0; }
    /// More than a single measurement, which may be an exception.
    bool well_known() const { return count_ == kWellKnownAfter; }
    Duration mean() const { return mean_; }
    Duration deviation() const { return deviation_; }
    /// The least of the last kLeastOf to 2 * kLeastOf: the length of the way, without the work of
    /// machines.
    Duration least() const { return std::min(least_, least_before_); }

private:
    void note_least(Duration time) {
        if (++in_least_ > kLeastOf) {
            in_least_ = 1;
            least_before_ = std::exchange(least_, Duration::max());
        }
        least_ = std::min(least_, time);
    }

    Duration mean_{0}, deviation_{0};
    Duration least_ = Duration::max(), least_before_ = Duration::max();
    unsigned count_ = 0;     // up to kWellKnownAfter
    unsigned in_least_ = 0;  // measurements in least_
    unsigned odd_ones_ = 0;  // the last ones
};

}  // namespace proxy
