#include "proxy/http/arrival.hpp"

#include <gtest/gtest.h>

#include "proxy/http/freshness.hpp"

namespace proxy {
namespace arrival_test {

using namespace std::chrono_literals;

constexpr WallTime kDay = std::chrono::sys_days(2026y / 11 / 20);
/// A process that began a minute after its machine.
constexpr ClockReading kNow{Arrival::Steady(60s), kDay};

Freshness fresh_for(std::chrono::seconds lifetime) {
    Freshness freshness;
    freshness.lifetime = saturate(lifetime);
    return freshness;
}

TEST(Arrival, CountsWholeSecondsOnTheSteadyClock) {  // RFC 9111 §4.2.3
    const Arrival arrival{kNow.steady, kDay};
    EXPECT_EQ(arrival.residence(kNow.steady), 0s);
    EXPECT_EQ(arrival.residence(kNow.steady + 1999ms), 1s);
}

TEST(Arrival, GoesOnCountingWhereTheProcessBeforeEnded) {
    const auto restored = Arrival::in_earlier_process(kDay - 1h, kNow);
    EXPECT_EQ(restored.residence(kNow.steady), 1h);
    EXPECT_EQ(restored.residence(kNow.steady + 5s), 1h + 5s);
    EXPECT_EQ(restored.wall, kDay - 1h) << "for the process after this one";
}

TEST(Arrival, IsNeverYoungerThanItWas) {
    // It came just after a full second, and is asked for just before one.
    const auto restored = Arrival::in_earlier_process(kDay, {kNow.steady, kDay + 9999ms});
    EXPECT_EQ(restored.residence(kNow.steady), 10s);
    const auto at_once = Arrival::in_earlier_process(kDay, {kNow.steady, kDay + 1ms});
    EXPECT_EQ(at_once.residence(kNow.steady), 1s);
}

TEST(Arrival, IsAsLongAgoAsCanBeWhenTheClockWasSetBackBetweenProcesses) {
    const auto restored = Arrival::in_earlier_process(kDay + 1s, kNow);
    EXPECT_FALSE(is_fresh(fresh_for(kMaxDelta), restored.residence(kNow.steady)));
}

TEST(Arrival, LimitsTheAgeOfVeryOldResponses) {  // RFC 9111 §1.2.2
    const auto restored = Arrival::in_earlier_process(WallTime(0s), kNow);
    EXPECT_EQ(current_age(fresh_for(0s), restored.residence(kNow.steady)),
              std::min<std::chrono::seconds>(kDay.time_since_epoch(), kMaxDelta));
}

}  // namespace arrival_test
}  // namespace proxy
