#include "proxy/forwarding/origin_health.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;
using Leave = OriginHealth::Leave;
using End = OriginHealth::End;
using Change = OriginHealth::Change;

class OriginHealthTest : public ::testing::Test {
protected:
    Leave may_ask(const std::string& place = "o:80") { return health.may_ask(place, now); }
    Change ended(End end, Leave leave = Leave::ask, const std::string& place = "o:80") {
        return health.ended(place, leave, end, began, now);
    }
    void bring_down(const std::string& place = "o:80") {
        for (unsigned i = 0; i < kOriginTimeouts; ++i) ended(End::timed_out, Leave::ask, place);
    }

    OriginHealth health;
    const OriginHealth::Time began{1000s};
    OriginHealth::Time now = began + 60s;
};

TEST_F(OriginHealthTest, AFewTimeoutsInARowTakeItForDown) {
    for (unsigned i = 1; i < kOriginTimeouts; ++i) {
        EXPECT_EQ(ended(End::timed_out), Change::none);
        EXPECT_EQ(may_ask(), Leave::ask);
    }
    EXPECT_EQ(ended(End::timed_out), Change::went_down);
    EXPECT_EQ(may_ask(), Leave::no);
    EXPECT_EQ(health.down(), 1u);
    EXPECT_EQ(may_ask("other:80"), Leave::ask);
}

TEST_F(OriginHealthTest, AnAnswerInBetweenStartsTheCountAnew) {
    for (unsigned i = 1; i < kOriginTimeouts; ++i) ended(End::timed_out);
    ended(End::answered);
    now += 120s;
    EXPECT_EQ(health.ended("o:80", Leave::ask, End::timed_out, now - 60s, now), Change::none);
    EXPECT_EQ(may_ask(), Leave::ask);
}

TEST_F(OriginHealthTest, OneSlowResourceIsNotAHungOrigin) {
    now = began + 30s;
    ended(End::answered);
    now = began + 60s;
    for (unsigned i = 0; i < 5 * kOriginTimeouts; ++i)
        EXPECT_EQ(ended(End::timed_out), Change::none);  // asked before it answered another
}

TEST_F(OriginHealthTest, OneRequestAtATimeTriesAgainAndThePauseDoubles) {
    bring_down();
    auto pause = std::chrono::nanoseconds(kOriginDownFirst);
    for (int i = 0; i < 10; ++i) {
        now += pause - 1ms;
        EXPECT_EQ(may_ask(), Leave::no);
        now += 1ms;
        EXPECT_EQ(may_ask(), Leave::probe);
        EXPECT_EQ(may_ask(), Leave::no);  // while the probe is under way
        EXPECT_EQ(ended(End::timed_out, Leave::probe), Change::none);
        pause = std::min<std::chrono::nanoseconds>(2 * pause, kOriginDownMax);
    }
    now += kOriginDownMax;
    ASSERT_EQ(may_ask(), Leave::probe);
    EXPECT_EQ(ended(End::answered, Leave::probe), Change::came_back);
    EXPECT_EQ(may_ask(), Leave::ask);
    EXPECT_EQ(health.down(), 0u);
}

TEST_F(OriginHealthTest, AProbeThatCameToNothingLeavesTheNextOne) {
    bring_down();
    now += kOriginDownFirst;
    ASSERT_EQ(may_ask(), Leave::probe);
    EXPECT_EQ(ended(End::untold, Leave::probe), Change::none);
    EXPECT_EQ(may_ask(), Leave::probe);
}

TEST_F(OriginHealthTest, TimeoutsOfThoseThatWereAskedBeforeDoNotLengthenThePause) {
    bring_down();
    EXPECT_EQ(ended(End::timed_out), Change::none);
    now += kOriginDownFirst;
    EXPECT_EQ(may_ask(), Leave::probe);
}

TEST_F(OriginHealthTest, ALateAnswerToAnEarlierRequestShowsThatItIsBack) {
    bring_down();
    EXPECT_EQ(ended(End::answered), Change::came_back);
    EXPECT_EQ(may_ask(), Leave::ask);
}

TEST_F(OriginHealthTest, TheOriginsItWatchesAreLimitedAndThoseThatAreDownStay) {
    bring_down("down:80");
    for (std::size_t i = 0; i < 2 * kMaxOriginsWatched; ++i)
        ended(End::answered, Leave::ask, "o" + std::to_string(i));
    EXPECT_EQ(may_ask("down:80"), Leave::no);
    for (std::size_t i = 0; i < kMaxOriginsWatched; ++i) bring_down("d" + std::to_string(i));
    EXPECT_EQ(health.down(), kMaxOriginsWatched);
    EXPECT_EQ(may_ask("d" + std::to_string(kMaxOriginsWatched - 1)), Leave::ask);
}

}  // namespace
}  // namespace proxy
