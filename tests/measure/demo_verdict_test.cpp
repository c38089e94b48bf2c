#include "measure/demo_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/measure/report_fixture.hpp"

namespace measure {
namespace demo_verdict_test {

using testing::HasSubstr;

/// The two proxies of the fixture, with a log whose ideal is `ideal` hits. They found 126.
Report found_126_of(std::uint64_t ideal) {
    auto report = two_proxies();
    report.ideal.total.shared_hits = ideal;
    return report;
}

/// The same with 10,000 hits more, on both sides.
Report found_10126_of(std::uint64_t ideal) {
    auto report = found_126_of(ideal);
    report.rows[0].counted->local_hit += 10'000;
    return report;
}

TEST(DemoVerdict, IsGoodWhenTheGoalIsReached) {
    EXPECT_EQ(demo_verdict(found_10126_of(10'126), true), "");
    EXPECT_EQ(demo_verdict(found_10126_of(10'200), true), "");  // 0.9927
    EXPECT_EQ(too_small_for_the_goal(found_10126_of(10'200)), "");
}

TEST(DemoVerdict, NamesTheGoalThatWasMissed) {
    EXPECT_EQ(demo_verdict(found_10126_of(10'300), true),
              "0.9831 of the ideal hits were found, the goal is 0.99");
}

TEST(DemoVerdict, DoesNotJudgeByAHandfulOfHits) {
    for (const std::uint64_t ideal : {std::uint64_t{0}, std::uint64_t{200}, kDemoLeastHits - 1}) {
        EXPECT_EQ(demo_verdict(found_126_of(ideal), true), "") << ideal;
        EXPECT_THAT(too_small_for_the_goal(found_126_of(ideal)), HasSubstr("5,000 are needed"));
    }
    EXPECT_THAT(demo_verdict(found_126_of(kDemoLeastHits), true), HasSubstr("the goal is"));
}

TEST(DemoVerdict, HasNoGoalForOtherPeoplesLogs) {  // their pace may leave no time to tell peers
    EXPECT_EQ(demo_verdict(found_126_of(200), false), "");
}

TEST(DemoVerdict, IsBadWhenTheBooksDoNotBalance) {
    auto report = found_126_of(126);
    report.rows[1].counted->peers[0].served = 15;
    EXPECT_EQ(demo_verdict(report, false), "the books do not balance");
    report.rows[1].counted.reset();
    EXPECT_EQ(demo_verdict(report, false), "the books do not balance");
}

TEST(DemoVerdict, IsBadWhenARequestFailed) {
    auto report = found_126_of(126);
    report.rows[0].seen.failures[0] = 1;
    EXPECT_EQ(demo_verdict(report, true), "1 request failed");
}

TEST(DemoVerdict, IsBadWhenItWasStopped) {
    auto report = found_126_of(126);
    report.stopped = true;
    EXPECT_THAT(demo_verdict(report, true), HasSubstr("stopped"));
}

TEST(OverTheRestart, ComparesBothPartsAndWhatWouldHaveBeenLost) {
    auto after = found_126_of(150);
    after.rows[0].objects_before = 1000;
    after.rows[1].objects_before = 234;
    EXPECT_EQ(over_the_restart(found_126_of(126), after, 75),
              "found 1.0000 of the ideal hits before the restart and 0.8400 after it (1,234 "
              "objects came back from the disks; empty caches could have found 0.5000)");
}

TEST(LoadedMachine, IsReadFromTheTimesOfAllProcessors) {
    const auto times = [](const char* text) {
        std::istringstream stat(text);
        return processor_times(stat);
    };
    const auto read = times("cpu  100 20 30 400 50 6 7 8 90 1\ncpu0 1 2 3 4 5 6 7 8\n");
    EXPECT_EQ(read.all, 621u) << "the times of guests are a part of the first";
    EXPECT_EQ(read.idle, 450u);
    EXPECT_EQ(read.stolen, 8u);
    for (const auto* other : {"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu a", "intr 1 2 3 4 5 6 7 8"})
        EXPECT_EQ(times(other).all, 0u) << other;
}

TEST(LoadedMachine, IsNamedWhenItsProcessorsWereBusyOrTaken) {
    const ProcessorTimes from{1000, 500, 40};
    EXPECT_EQ(loaded_words(from, {2000, 530, 160}, 14.24),
              "the machine was loaded: its processors were idle for 3 % of the time, other virtual "
              "machines took 12 %, and the load average was 14.2 (try an idle machine, or a lower "
              "--rate)");
    EXPECT_THAT(loaded_words(from, {2000, 900, 100}, 0.5), HasSubstr("idle for 40 %"));
    EXPECT_EQ(loaded_words(from, {2000, 600, 90}, 9), "") << "10 % idle, 5 % taken";
    EXPECT_EQ(loaded_words(from, from, 9), "") << "no time has passed";
    EXPECT_EQ(loaded_words({}, {}, 9), "") << "no /proc";
}

}  // namespace demo_verdict_test
}  // namespace measure
