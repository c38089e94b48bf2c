#include "base/memory/high_water_mark.hpp"

#include <gtest/gtest.h>

namespace base {
namespace high_water_mark_test {

TEST(HighWaterMark, HasFallenOnceWhenHalfOfItIsGone) {
    HighWaterMark high_water_mark;
    high_water_mark.raise_to(1000);
    high_water_mark.raise_to(600);
    EXPECT_FALSE(high_water_mark.has_fallen(501));
    EXPECT_TRUE(high_water_mark.has_fallen(500));
    EXPECT_FALSE(high_water_mark.has_fallen(500));
    EXPECT_FALSE(high_water_mark.has_fallen(251));
    EXPECT_TRUE(high_water_mark.has_fallen(250));
    EXPECT_TRUE(high_water_mark.has_fallen(0));
    EXPECT_FALSE(high_water_mark.has_fallen(0));
}

TEST(HighWaterMark, IsNoFewerThanItsLeast) {
    HighWaterMark high_water_mark;
    high_water_mark.raise_to(HighWaterMark::kLeast - 1);
    EXPECT_FALSE(high_water_mark.has_fallen(0));
    high_water_mark.raise_to(HighWaterMark::kLeast);
    EXPECT_TRUE(high_water_mark.has_fallen(0));
}

}  // namespace high_water_mark_test
}  // namespace base
