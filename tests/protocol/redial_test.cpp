#include "protocol/links/redial.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace redial_test {

using namespace std::chrono_literals;

constexpr auto kNow = Redial::TimePoint(1000s);
constexpr auto kNever = Redial::TimePoint::max();

/// A place that was dialled, and where that has failed.
class RedialAfterFailure : public ::testing::Test {
protected:
    RedialAfterFailure() { redial.ended(false, kNow); }
    Redial redial{100ms, 1s};
};

TEST(Redial, BeginsAtOnce) {
    EXPECT_LE(Redial(100ms, 1s).due(false), kNow);
}

TEST_F(RedialAfterFailure, ThePausesDoubleUpToTheLongest) {
    auto now = kNow;
    for (const auto pause : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
        EXPECT_EQ(redial.due(false), now + pause);
        now += pause;
        redial.ended(false, now);
    }
}

TEST_F(RedialAfterFailure, APeerThatIsAliveIsDialledAtOnceAndThePausesBeginAnew) {
    redial.ended(false, kNow);
    redial.heard();
    EXPECT_LE(redial.due(false), kNow);
    redial.ended(false, kNow);  // what was under way when it was heard
    EXPECT_EQ(redial.due(false), kNow);
    redial.ended(false, kNow);
    EXPECT_EQ(redial.due(false), kNow + 100ms);
}

TEST_F(RedialAfterFailure, ALinkThatIsThereIsWhatTheNewsAskedFor) {
    redial.heard();
    redial.linked();
    redial.ended(false, kNow);
    EXPECT_EQ(redial.due(false), kNow + 100ms);
}

TEST_F(RedialAfterFailure, OnlyALinkThatLastedMakesThePausesShortAgain) {
    redial.ended(false, kNow);
    redial.link_lasted(10ms);
    redial.ended(false, kNow);
    EXPECT_EQ(redial.due(false), kNow + 400ms);
    redial.link_lasted(1s);
    redial.ended(false, kNow);
    EXPECT_EQ(redial.due(false), kNow + 100ms);
}

TEST_F(RedialAfterFailure, APlaceThatIsLeftAloneIsNotDialledUntilItIsWantedAgain) {
    EXPECT_FALSE(redial.set_dialled(false));
    EXPECT_EQ(redial.due(true), kNever);
    redial.ended(false, kNow);
    EXPECT_EQ(redial.due(false), kNever);
    EXPECT_TRUE(redial.set_dialled(true));
    EXPECT_LE(redial.due(false), kNow);
    EXPECT_FALSE(redial.set_dialled(true)) << "nothing new: a pause goes on";
}

TEST_F(RedialAfterFailure, ALeavingNodeDialsOnlyForUnconfirmedInvalidations) {
    redial.leave();
    EXPECT_EQ(redial.due(false), kNever);
    EXPECT_LE(redial.due(true), kNow) << "at once: it has little time";
    redial.ended(true, kNow);
    EXPECT_EQ(redial.due(true), kNow + 200ms);
    redial.hurry();
    EXPECT_LE(redial.due(true), kNow);
}

TEST_F(RedialAfterFailure, ALinkThatTakesNothingMoreIsFollowedByAnother) {
    redial.linked();
    redial.again_at_once();
    redial.ended(true, kNow);
    EXPECT_EQ(redial.due(true), kNow);
}

}  // namespace redial_test
}  // namespace protocol::test
