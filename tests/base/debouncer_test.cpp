#include "base/async/debouncer.hpp"

#include <gtest/gtest.h>

namespace base {
namespace debouncer_test {

using namespace std::chrono_literals;

constexpr Debouncer::Clock::time_point kStart{100s};

TEST(Debouncer, WaitsForASecondOfQuiet) {
    Debouncer settling;
    EXPECT_FALSE(settling.due());
    EXPECT_FALSE(settling.take(kStart));
    settling.changed(kStart);
    EXPECT_EQ(settling.due(), kStart + 1s);
    settling.changed(kStart + 900ms);
    EXPECT_EQ(settling.due(), kStart + 1900ms);
    EXPECT_FALSE(settling.take(kStart + 1s));
    EXPECT_TRUE(settling.take(kStart + 1900ms));
    EXPECT_FALSE(settling.due()) << "the changes are over";
    EXPECT_FALSE(settling.take(kStart + 3s));
}

TEST(Debouncer, WaitsForTenSecondsAtMost) {
    Debouncer settling;
    for (auto at = kStart; at < kStart + 12s; at += 500ms) {
        settling.changed(at);
        if (at < kStart + 10s)
            EXPECT_FALSE(settling.take(at));
        else
            break;
    }
    EXPECT_EQ(settling.due(), kStart + 10s);
    EXPECT_TRUE(settling.take(kStart + 10s));
    settling.changed(kStart + 20s);
    EXPECT_EQ(settling.due(), kStart + 21s) << "the next changes have their own time";
}

}  // namespace debouncer_test
}  // namespace base
