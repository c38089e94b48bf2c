#include "base/text/lasting.hpp"

#include <algorithm>
#include <cmath>

namespace base {

std::string lasting(double seconds) {
    constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kMost = 1e15;
    const auto time = seconds > 0 ? std::min(seconds, kMost) : 0;
    const auto text = [time](double unit, const char* name) {
        return std::to_string(static_cast<long long>(std::floor(time / unit))) + name;
    };
    if (time < 2 * kMinute) return text(1, " s");
    if (time < 2 * kHour) return text(kMinute, " m");
    if (time < 2 * kDay) return text(kHour, " h");
    return text(kDay, " d");
}

}  // namespace base
