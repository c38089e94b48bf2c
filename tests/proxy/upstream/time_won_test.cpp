#include "proxy/upstream/time_won.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace time_won_test {

using namespace std::chrono_literals;

RoundTrip usually(std::chrono::nanoseconds time) {
    RoundTrip origin;
    origin.measured(time);
    return origin;
}

TEST(TimeWon, IsHowMuchSoonerOrLaterThanTheOriginThePeerWas) {
    EXPECT_EQ(time_won(true, 3ms, 1s, usually(80ms)), (TimeWon{77ms, 0ns}));
    EXPECT_EQ(time_won(true, 90ms, 1s, usually(80ms)), (TimeWon{0ns, 10ms}));
    EXPECT_EQ(time_won(true, 3ms, 1s, RoundTrip()), TimeWon{}) << "that is not known";
}

TEST(TimeWon, IsLostWhereAnAnswerWasWaitedForInVain) {
    EXPECT_EQ(time_won(false, 3ms, 50ms, usually(80ms)), (TimeWon{0ns, 3ms}));
    EXPECT_EQ(time_won(false, 3ms, 50ms, RoundTrip()), (TimeWon{0ns, 3ms}));
}

TEST(TimeWon, IsNotLostWhileTheOriginIsAskedToo) {
    EXPECT_EQ(time_won(false, 300ms, 50ms, usually(80ms)), (TimeWon{0ns, 50ms}));
    EXPECT_EQ(time_won(false, 300ms, 0ms, usually(80ms)), TimeWon{});
}

}  // namespace time_won_test
}  // namespace proxy
