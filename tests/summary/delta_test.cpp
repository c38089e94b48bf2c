#include "summary/filters/delta.hpp"

#include <gtest/gtest.h>

namespace summary {
namespace delta_test {

constexpr bool kSet = true;
constexpr bool kClear = false;

TEST(NetEffect, SortsAndSeparatesSetsFromClears) {
    EXPECT_EQ(net_effect({{9, kSet}, {2, kClear}, {5, kSet}}), (Delta{{5, 9}, {2}}));
    EXPECT_TRUE(net_effect({}).empty());
}

TEST(NetEffect, CancelsOppositeFlips) {
    EXPECT_TRUE(net_effect({{7, kSet}, {7, kClear}}).empty());
    EXPECT_TRUE(net_effect({{7, kClear}, {3, kSet}, {7, kSet}, {3, kClear}}).empty());
    EXPECT_EQ(net_effect({{7, kSet}, {7, kClear}, {7, kSet}}), (Delta{{7}, {}}));
    EXPECT_EQ(net_effect({{7, kClear}, {7, kSet}, {7, kClear}}), (Delta{{}, {7}}));
}

TEST(LastValues, NamesBitsThatEndedAsTheyBegan) {
    EXPECT_EQ(last_values({{7, kSet}, {3, kClear}, {7, kClear}, {3, kSet}, {1, kSet}}),
              (Delta{{1, 3}, {7}}));
}

TEST(Delta, IsValidOnlyInStrictOrderInRangeAndWithoutContradiction) {
    EXPECT_TRUE(is_valid(Delta{}, 10));
    EXPECT_TRUE(is_valid(Delta{{1, 9}, {0, 5}}, 10));
    EXPECT_FALSE(is_valid(Delta{{9, 1}, {}}, 10));
    EXPECT_FALSE(is_valid(Delta{{1, 1}, {}}, 10));
    EXPECT_FALSE(is_valid(Delta{{}, {3, 2}}, 10));
    EXPECT_FALSE(is_valid(Delta{{10}, {}}, 10));
    EXPECT_FALSE(is_valid(Delta{{}, {10}}, 10));
    EXPECT_FALSE(is_valid(Delta{{1, 4, 8}, {2, 8}}, 10));
}

TEST(Delta, AppliedTwiceIsAppliedOnce) {
    BitArray bits(10);
    bits.set(4);
    const Delta delta{{1, 2}, {4, 5}};
    apply(delta, bits);
    const auto once = bits;
    EXPECT_TRUE(once.get(1) && once.get(2) && !once.get(4) && !once.get(5));
    apply(delta, bits);
    EXPECT_EQ(bits, once);
}

}  // namespace delta_test
}  // namespace summary
