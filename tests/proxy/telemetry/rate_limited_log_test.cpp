#include "proxy/telemetry/rate_limited_log.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace rate_limited_log_test {

using namespace std::chrono_literals;

constexpr RateLimitedLog::Time kNow{100s};
constexpr auto kPause = RateLimitedLog::kPause;

TEST(RateLimitedLog, TakesOneLineAboutEachSubjectAndCountsTheOthers) {
    RateLimitedLog log;
    EXPECT_EQ(log.admit("a", kNow), "");
    EXPECT_EQ(log.admit("a", kNow), std::nullopt);
    EXPECT_EQ(log.admit("a", kNow + kPause - 1ms), std::nullopt);
    EXPECT_EQ(log.admit("b", kNow + 1s), "");
    EXPECT_EQ(log.admit("a", kNow + kPause), " (2 more were not logged)");
    EXPECT_EQ(log.admit("a", kNow + kPause), std::nullopt);
    EXPECT_EQ(log.admit("a", kNow + 2 * kPause), " (1 more were not logged)");
    EXPECT_EQ(log.admit("a", kNow + 3 * kPause), "");
}

TEST(RateLimitedLog, LimitsTheLinesOfAllSubjectsTogether) {
    RateLimitedLog log;
    unsigned written = 0;
    for (int i = 0; i < 100; ++i)
        written += log.admit("host" + std::to_string(i), kNow).has_value();
    EXPECT_EQ(written, RateLimitedLog::kLinesAtMost);
    EXPECT_EQ(log.admit("x", kNow + kPause), " (80 about others were not logged)");
}

TEST(RateLimitedLog, ForgetsSubjectsThatRest) {
    RateLimitedLog log;
    auto now = kNow;
    for (int i = 0; i < 2000; ++i, now += 1s)
        EXPECT_TRUE(log.admit("host" + std::to_string(i), now)) << i;
}

}  // namespace rate_limited_log_test
}  // namespace proxy
