#include "proxy/storage/flow_rate.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace flow_rate_test {

using namespace std::chrono_literals;

const FlowRate::Time kNow{1h};

TEST(FlowRateTest, GivesNoEstimateBeforeItIsMeasured) {
    FlowRate rate;
    EXPECT_FALSE(rate.time_for(1, kNow));
    rate.came(1000, kNow);
    EXPECT_FALSE(rate.time_for(1000, kNow + FlowRate::kKnownAfter - 1ms));
    EXPECT_FALSE(is_far_ahead(rate, 1'000'000, 0s, kNow));
    EXPECT_EQ(rate.time_for(0, kNow), FlowRate::Duration(0)) << "which is here";
}

TEST(FlowRateTest, IsThatOfTheLastSeconds) {
    FlowRate rate;
    rate.begin(kNow);
    for (int i = 1; i <= 50; ++i) rate.came(100'000, kNow + i * 100ms);  // 1 MB/s
    const auto now = kNow + 5s;
    EXPECT_GE(rate.time_for(1'000'000, now), FlowRate::Duration(900ms));
    EXPECT_LE(rate.time_for(1'000'000, now), FlowRate::Duration(1100ms));
    EXPECT_GE(rate.time_for(1'000'000, now + 10s), FlowRate::Duration(5s)) << "it has stopped";
}

TEST(FlowRateTest, KnowsRangesThatAreFarAhead) {
    FlowRate rate;
    rate.begin(kNow);
    rate.came(1'000'000, kNow + 1s);
    EXPECT_FALSE(is_far_ahead(rate, 400'000, 0s, kNow + 1s));
    EXPECT_TRUE(is_far_ahead(rate, 600'000, 0s, kNow + 1s));
    EXPECT_FALSE(is_far_ahead(rate, 600'000, 1s, kNow + 1s)) << "the origin takes longer";
    FlowRate none;
    none.begin(kNow);
    EXPECT_TRUE(is_far_ahead(none, 1, 0s, kNow + 1s)) << "nothing comes";
}

}  // namespace flow_rate_test
}  // namespace proxy
