#include "base/async/pace.hpp"

#include <gtest/gtest.h>

namespace base {
namespace pace_test {

using namespace std::chrono_literals;

const Pace::Clock::time_point kNow{100h};

/// A client that is waited for now and then.
struct Waited {
    Pace pace;
    Pace::Clock::time_point now = kNow;
    std::int64_t moved = 0;

    /// It makes us wait so long, and moves so many bytes meanwhile.
    bool wait(std::chrono::seconds time, std::int64_t bytes, std::uint64_t least = 1000) {
        look = pace.wait(now, moved, 60s) - now;
        now += time;
        moved += bytes;
        return pace.fast_enough(now, 60s, least, [this] { return moved; });
    }
    Pace::Clock::duration look{};
};

TEST(Pace, CutsAClientThatMovesTooLittleInAWindow) {
    Waited client;
    EXPECT_TRUE(client.wait(59s, 10));
    EXPECT_EQ(client.look, 60s);
    EXPECT_FALSE(client.wait(1s, 10));
    EXPECT_EQ(client.look, 1s);
}

TEST(Pace, OpensAWindowAfterTheOther) {
    Waited client;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.wait(30s, 600)) << i;
    EXPECT_TRUE(client.wait(30s, 0));
    EXPECT_FALSE(client.wait(30s, 0)) << "earlier bytes do not count";
}

TEST(Pace, CountsOnlyTheTimeInWhichTheClientIsWaitedFor) {
    Waited client;
    for (int i = 0; i < 59; ++i) {
        ASSERT_TRUE(client.wait(1s, 0));
        client.now += 10min;  // an origin that is slow
    }
    client.moved += 1000;  // sent without waiting
    EXPECT_TRUE(client.wait(1s, 0));
}

TEST(Pace, WantsOneByteAtLeast) {
    Waited client;
    EXPECT_TRUE(client.wait(60s, 1, 0));
    EXPECT_FALSE(client.wait(60s, 0, 0));
}

TEST(Pace, BeginsAnewWithEachAnswer) {
    Waited client;
    EXPECT_TRUE(client.wait(59s, 0));
    client.pace.begin();
    client.moved = -5000;  // the kernel still holds some of the one before
    EXPECT_TRUE(client.wait(59s, 999));
    EXPECT_FALSE(client.wait(1s, 0));
}

}  // namespace pace_test
}  // namespace base
