#include "base/text/lasting.hpp"

#include <algorithm>
#include <cmath>

namespace base {

std::string lasting(double seconds) {
    constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
    const auto text = [seconds](double unit, const char* name) {
        return std::to_string(static_cast<long long>(std::floor(seconds / unit))) + name;
    };
    constexpr double kMost = 1e15;
    seconds = seconds > 0 ? std::min(seconds, kMost) : 0;
    if (seconds < 2 * kMinute) return text(1, " s");
    if (seconds < 2 * kHour) return text(kMinute, " m");
    if (seconds < 2 * kDay) return text(kHour, " h");
    return text(kDay, " d");
}

}  // namespace base
