#include "measure/run/histogram.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace histogram_test {

using namespace std::chrono_literals;

TEST(Histogram, IsZeroWhenEmpty) {
    EXPECT_EQ(Histogram().quantile(0.5), 0us);
    EXPECT_EQ(Histogram().count(), 0u);
}

TEST(Histogram, IsExactBelow32Microseconds) {
    Histogram h;
    for (int i = 1; i <= 31; ++i) h.add(std::chrono::microseconds(i));
    EXPECT_EQ(h.quantile(0), 1us);
    EXPECT_EQ(h.quantile(0.5), 16us);
    EXPECT_EQ(h.quantile(1), 31us);
}

TEST(Histogram, ErrsByAtMostAThirtySecond) {
    for (double us = 1; us < 4e9; us *= 1.0137) {
        Histogram h;
        const auto value = static_cast<std::int64_t>(us);
        h.add(std::chrono::microseconds(value));
        const auto found = static_cast<double>(h.quantile(0.5).count());
        EXPECT_NEAR(found, static_cast<double>(value), static_cast<double>(value) / 32 + 1) << us;
    }
}

TEST(Histogram, FindsQuantilesAmongMany) {
    Histogram h;
    for (int i = 0; i < 98; ++i) h.add(100us);
    h.add(5ms);
    h.add(1s);
    EXPECT_NEAR(static_cast<double>(h.quantile(0.5).count()), 100, 4);
    EXPECT_NEAR(static_cast<double>(h.quantile(0.99).count()), 5000, 160);
    EXPECT_NEAR(static_cast<double>(h.quantile(1).count()), 1e6, 32'000);
}

TEST(Histogram, AddsUp) {
    Histogram a, b;
    a.add(1us);
    b.add(9us);
    b.add(9us);
    a.add(b);
    EXPECT_EQ(a.count(), 3u);
    EXPECT_EQ(a.quantile(0.5), 9us);
}

TEST(Histogram, HoldsWhatIsOutsideItsRange) {
    Histogram h;
    h.add(-5us);
    h.add(24h);
    EXPECT_EQ(h.count(), 2u);
    EXPECT_EQ(h.quantile(0), 0us);
    EXPECT_GT(h.quantile(1), 1h);
}

}  // namespace histogram_test
}  // namespace measure
