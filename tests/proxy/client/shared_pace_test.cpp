#include "proxy/client/shared_pace.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace shared_pace_test {

using namespace std::chrono_literals;

/// A client that is waited for, while others wait for it or not.
struct Waited {
    SharedPace pace;
    base::Pace::Clock::time_point now{100h};
    base::Pace::Clock::duration others{};
    std::int64_t moved = 0;

    /// It makes us wait so long, others for `of_others` of that, and takes so many bytes.
    bool wait(base::Pace::Clock::duration time, base::Pace::Clock::duration of_others,
              std::int64_t bytes) {
        pace.wait(now, moved, others, SharedPace::kWindow);
        now += time;
        others += of_others;
        moved += bytes;
        return pace.fast_enough(now, others, SharedPace::kWindow, [this] { return moved; });
    }
};

TEST(SharedPace, CutsAClientThatLetsOthersWait) {
    Waited client;
    EXPECT_TRUE(client.wait(9s, 9s, 0));
    EXPECT_FALSE(client.wait(1s, 1s, 0));
}

TEST(SharedPace, CutsASlowOneAndNoFairOne) {
    Waited fair, slow;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(fair.wait(1s, 1s, 64 * 1024)) << i;
    auto good = true;
    for (int i = 0; i < 10; ++i) good = slow.wait(1s, 1s, 32 * 1024);
    EXPECT_FALSE(good);
}

TEST(SharedPace, LeavesAClientForWhichNobodyWaits) {
    Waited client;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.wait(10s, 0s, 0)) << i;
    EXPECT_TRUE(client.wait(10s, 4s, 0)) << "less than half of the window";
}

TEST(SharedPace, HasAShorterWindowWhereClientsAloneMayRestForLessThanAMinute) {
    EXPECT_EQ(SharedPace::window(10min), SharedPace::kWindow);
    EXPECT_EQ(SharedPace::window(1min), SharedPace::kWindow);
    EXPECT_EQ(SharedPace::window(6s), 1s);
}

TEST(SharedPace, BeginsAnewWithEachResponse) {
    Waited client;
    EXPECT_TRUE(client.wait(9s, 9s, 0));
    client.pace.begin();
    EXPECT_TRUE(client.wait(9s, 9s, 0));
    EXPECT_FALSE(client.wait(1s, 1s, 0));
}

}  // namespace shared_pace_test
}  // namespace proxy
