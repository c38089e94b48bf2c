#include "base/text/lasting.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace base {
namespace lasting_test {

TEST(Lasting, TakesTheLargestUnitOfWhichThereAreTwo) {
    EXPECT_EQ(lasting(0.9), "0 s");
    EXPECT_EQ(lasting(119.9), "119 s");
    EXPECT_EQ(lasting(120), "2 m");
    EXPECT_EQ(lasting(7199), "119 m");
    EXPECT_EQ(lasting(7200), "2 h");
    EXPECT_EQ(lasting(172'799), "47 h");
    EXPECT_EQ(lasting(172'800), "2 d");
}

TEST(Lasting, TakesAnyNumber) {
    EXPECT_EQ(lasting(-5), "0 s");
    EXPECT_EQ(lasting(std::numeric_limits<double>::quiet_NaN()), "0 s");
    EXPECT_EQ(lasting(std::numeric_limits<double>::infinity()), lasting(1e15));
}

}  // namespace lasting_test
}  // namespace base
