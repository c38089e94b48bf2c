#include "proxy/upstream/origin_health.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace origin_health_test {

using namespace std::chrono_literals;
using Grant = OriginHealth::Grant;
using End = OriginHealth::End;
using Change = OriginHealth::Change;

class OriginHealthTest : public ::testing::Test {
protected:
    Grant may_ask(const std::string& place = "o:80") { return health.may_ask(place, false, now); }
    Grant may_ask_with_stand_in() { return health.may_ask("o:80", true, now); }
    Change ended(End end, const std::string& place = "o:80") {
        return health.ended(place, end, began, now);
    }
    /// So many in a row; the change that the last one made.
    Change time_outs(End end, const std::string& place = "o:80") {
        auto last = Change::none;
        for (unsigned i = 0; i < kOriginTimeouts; ++i) {
            EXPECT_EQ(last, Change::none);
            last = ended(end, place);
        }
        return last;
    }

    OriginHealth health;
    /// The requests from here on.
    void later() {
        began = now;
        now += 60s;
    }

    OriginHealth::Time began{1000s};
    OriginHealth::Time now = began + 60s;
};

TEST_F(OriginHealthTest, ConnectionsThatAreNotTakenTakeItForDown) {
    EXPECT_EQ(time_outs(End::not_connected), Change::went_down);
    EXPECT_EQ(may_ask(), Grant::no);
    EXPECT_EQ(may_ask_with_stand_in(), Grant::no);
    EXPECT_EQ(health.down(), 1u);
    EXPECT_EQ(may_ask("other:80"), Grant::ask);
}

TEST_F(OriginHealthTest, RequestsWithoutAnAnswerSpareItOnlyThoseThatHaveAStandIn) {
    EXPECT_EQ(time_outs(End::not_answered), Change::fell_silent);
    EXPECT_EQ(health.down(), 1u);
    EXPECT_EQ(may_ask_with_stand_in(), Grant::no);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(may_ask(), Grant::ask);
        EXPECT_EQ(ended(End::not_answered), Change::none);
    }
    EXPECT_EQ(may_ask(), Grant::ask);
}

TEST_F(OriginHealthTest, TimeoutsOfBothKindsMakeItSilent) {
    ended(End::not_connected);
    ended(End::not_answered);
    EXPECT_EQ(ended(End::not_connected), Change::fell_silent);
    EXPECT_EQ(may_ask(), Grant::ask);
    EXPECT_EQ(ended(End::not_connected), Change::went_down);
    EXPECT_EQ(health.down(), 1u);
    EXPECT_EQ(may_ask(), Grant::no);
}

TEST_F(OriginHealthTest, OneThatIsDownAndTakesAConnectionIsSilentAtMost) {
    time_outs(End::not_connected);
    EXPECT_EQ(health.ended("o:80", End::not_answered, now - 1ms, now), Change::none)
        << "that connection was taken before";
    EXPECT_EQ(may_ask(), Grant::no);
    EXPECT_EQ(health.ended("o:80", End::not_answered, now, now + 1s), Change::fell_silent);
    EXPECT_EQ(may_ask(), Grant::ask);
    EXPECT_EQ(health.down(), 1u);
}

TEST_F(OriginHealthTest, AnAnswerInBetweenStartsTheCountAnew) {
    for (const auto end : {End::not_connected, End::not_answered}) {
        for (unsigned i = 1; i < kOriginTimeouts; ++i) ended(end);
        ended(End::answered);
        later();
        EXPECT_EQ(ended(end), Change::none);
        EXPECT_EQ(may_ask_with_stand_in(), Grant::ask);
        ended(End::answered);
        later();
    }
}

TEST_F(OriginHealthTest, OneSlowResourceIsNotAHungOrigin) {
    now = began + 30s;
    ended(End::answered);
    now = began + 60s;
    for (unsigned i = 0; i < 5 * kOriginTimeouts; ++i)
        EXPECT_EQ(ended(End::not_answered), Change::none);  // asked before it answered another
}

TEST_F(OriginHealthTest, OneRequestTriesAtTheEndOfEachPauseHoweverLongTheOneBeforeTakes) {
    for (const auto end : {End::not_connected, End::not_answered}) {
        time_outs(end);
        for (const auto pause : {1s, 2s, 3s, 3s, 3s}) {
            now += pause - 1ms;
            EXPECT_EQ(may_ask_with_stand_in(), Grant::no);
            now += 1ms;
            EXPECT_EQ(may_ask_with_stand_in(), Grant::trial);  // and none of them ends
            EXPECT_EQ(may_ask_with_stand_in(), Grant::no);
        }
        ended(End::answered);
        later();
    }
}

TEST_F(OriginHealthTest, AnyAnswerShowsThatItIsBack) {
    for (const auto end : {End::not_connected, End::not_answered}) {
        time_outs(end);
        EXPECT_EQ(ended(End::unknown), Change::none);
        EXPECT_EQ(may_ask_with_stand_in(), Grant::no);
        EXPECT_EQ(ended(End::answered), Change::came_back);  // to one that was asked long before
        EXPECT_EQ(may_ask_with_stand_in(), Grant::ask);
        EXPECT_EQ(may_ask(), Grant::ask);
        EXPECT_EQ(health.down(), 0u);
        later();
    }
}

TEST_F(OriginHealthTest, TheFirstPauseIsShortEachTime) {
    time_outs(End::not_connected);
    now += 1h;
    ASSERT_EQ(may_ask(), Grant::trial);
    ended(End::answered);
    for (unsigned i = 0; i < kOriginTimeouts; ++i)
        health.ended("o:80", End::not_connected, now, now);
    now += kOriginPauseFirst;
    EXPECT_EQ(may_ask(), Grant::trial);
}

TEST_F(OriginHealthTest, TheOriginsItWatchesAreLimitedAndThoseThatAreDownStay) {
    time_outs(End::not_connected, "down:80");
    for (std::size_t i = 0; i < 2 * kMaxOriginsWatched; ++i)
        ended(End::answered, "o" + std::to_string(i));
    EXPECT_EQ(may_ask("down:80"), Grant::no);
    const auto nth = [](std::size_t i) { return "d" + std::to_string(i); };
    for (std::size_t i = 0; i + 1 < kMaxOriginsWatched; ++i) time_outs(End::not_connected, nth(i));
    EXPECT_EQ(health.down(), kMaxOriginsWatched);
    EXPECT_EQ(time_outs(End::not_connected, "one more"), Change::none);
    EXPECT_EQ(may_ask("one more"), Grant::ask);
}

TEST_F(OriginHealthTest, OriginsThatNobodyAsksAnyMoreAreForgotten) {
    for (std::size_t i = 0; i < kMaxOriginsWatched; ++i)
        time_outs(i % 2 == 0 ? End::not_connected : End::not_answered, "d" + std::to_string(i));
    now += kOriginPauseFirst + kOriginForgotten;
    EXPECT_EQ(time_outs(End::not_connected), Change::none) << "not yet";
    now += 1ms;
    ASSERT_EQ(may_ask("d0"), Grant::trial);  // somebody asks this one
    EXPECT_EQ(time_outs(End::not_connected), Change::went_down);
    EXPECT_EQ(may_ask(), Grant::no);
    EXPECT_EQ(may_ask("d0"), Grant::no);
    EXPECT_EQ(health.down(), 2u);
}

}  // namespace origin_health_test
}  // namespace proxy
