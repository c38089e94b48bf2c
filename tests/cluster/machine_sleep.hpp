#pragma once

#include "base/async/sleep.hpp"

namespace proxy::test {

/// A sleep of so many seconds that the machine seems to have had, from begin() to the end of the
/// object: its steady clock stood still, and all content has aged.
template <int seconds>
class MachineSleep {
public:
    MachineSleep() = default;
    MachineSleep(const MachineSleep&) = delete;
    MachineSleep& operator=(const MachineSleep&) = delete;
    ~MachineSleep() {
        base::boot_clock = ::clock_gettime;
        base::note_sleep();
    }
    static void begin() {
        base::boot_clock = [](clockid_t clock, timespec* time) {
            const auto result = ::clock_gettime(clock, time);
            time->tv_sec += seconds;
            return result;
        };
    }
};

}  // namespace proxy::test
