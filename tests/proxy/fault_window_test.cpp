#include "proxy/disk/fault_window.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace fault_window_test {

using namespace std::chrono_literals;

constexpr FaultWindow::Clock::time_point kNow{1h};

TEST(FaultWindow, IsFullWithFiveInAMinute) {
    FaultWindow faults;
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(faults.note(kNow + i * 15s));
    EXPECT_TRUE(faults.note(kNow + 60s));
    EXPECT_TRUE(faults.note(kNow + 61s));
    faults.clear();
    EXPECT_FALSE(faults.note(kNow + 62s));
}

TEST(FaultWindow, ForgetsOlderFaults) {
    FaultWindow faults;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(faults.note(kNow + i * 16s));
    EXPECT_FALSE(faults.note(kNow + 10'000s));
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(faults.note(kNow + 10'001s));
    EXPECT_TRUE(faults.note(kNow + 10'002s));
}

}  // namespace fault_window_test
}  // namespace proxy
