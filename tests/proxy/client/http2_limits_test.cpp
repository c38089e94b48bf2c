#include <gtest/gtest.h>

#include "proxy/client/http2_limits.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;

const Http2FrameBudget::Clock::time_point kStart{std::chrono::hours(1)};

TEST(Http2FrameBudget, AFloodSpendsAll) {
    Http2FrameBudget budget;
    auto frames = 0;
    while (budget.spend(kStart)) ++frames;
    EXPECT_EQ(frames, 1000);
}

TEST(Http2FrameBudget, ASlowClientNeverDoes) {
    Http2FrameBudget budget;
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(budget.spend(kStart + i * 25ms)) << i;
}

TEST(Http2FrameBudget, AClientThatReceivesBodiesMayOpenItsWindows) {
    Http2FrameBudget budget;
    for (int i = 0; i < 100'000; ++i) {
        budget.earn();  // a DATA frame
        ASSERT_TRUE(budget.spend(kStart));
        ASSERT_TRUE(budget.spend(kStart));
    }
}

TEST(Http2FrameBudget, SmallDataMayComeFast) {
    constexpr auto kPrice = 1.0 / 32;
    Http2FrameBudget busy, steady;
    for (int i = 0; i < 25'000; ++i) ASSERT_TRUE(busy.spend(kStart + i * 200us, kPrice)) << i;
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(steady.spend(kStart + i * 1ms, kPrice)) << i;
}

TEST(Http2FrameBudget, NothingIsSavedBeyondTheMost) {
    Http2FrameBudget budget;
    for (int i = 0; i < 10'000; ++i) budget.earn();
    auto frames = 0;
    while (budget.spend(kStart)) ++frames;
    EXPECT_EQ(frames, 1000);
}

}  // namespace
}  // namespace proxy
