#include "proxy/upstream/time_gain.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace time_gain_test {

using namespace std::chrono_literals;

RoundTrip usually(std::chrono::nanoseconds time) {
    RoundTrip origin;
    origin.measured(time);
    return origin;
}

TEST(TimeGain, IsHowMuchSoonerOrLaterThanTheOriginThePeerWas) {
    EXPECT_EQ(time_won(true, 3ms, 1s, usually(80ms)), (TimeGain{77ms, 0ns}));
    EXPECT_EQ(time_won(true, 90ms, 1s, usually(80ms)), (TimeGain{0ns, 10ms}));
    EXPECT_EQ(time_won(true, 3ms, 1s, RoundTrip()), TimeGain{}) << "that is not known";
}

TEST(TimeGain, IsLostWhereAnAnswerWasWaitedForInVain) {
    EXPECT_EQ(time_won(false, 3ms, 50ms, usually(80ms)), (TimeGain{0ns, 3ms}));
    EXPECT_EQ(time_won(false, 3ms, 50ms, RoundTrip()), (TimeGain{0ns, 3ms}));
}

TEST(TimeGain, IsNotLostWhileTheOriginIsAskedToo) {
    EXPECT_EQ(time_won(false, 300ms, 50ms, usually(80ms)), (TimeGain{0ns, 50ms}));
    EXPECT_EQ(time_won(false, 300ms, 0ms, usually(80ms)), TimeGain{});
}

}  // namespace time_gain_test
}  // namespace proxy
