#include "proxy/disk/reckoning.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace reckoning_test {

using Standing = Reckoning::Standing;

TEST(Reckoning, TheNewestOfEachVariantCounts) {
    Reckoning reckoning;
    reckoning.expect(10);
    EXPECT_EQ(reckoning.judge(1, false), Standing::counts);
    EXPECT_EQ(reckoning.judge(2, false), Standing::counts);
    EXPECT_EQ(reckoning.judge(1, false), Standing::superseded);
    EXPECT_EQ(reckoning.judge(1, true), Standing::purged);
}

TEST(Reckoning, APurgedRecordHasAlsoEndedEarlierOnes) {
    Reckoning reckoning;
    EXPECT_EQ(reckoning.judge(1, true), Standing::purged);
    EXPECT_EQ(reckoning.judge(1, false), Standing::superseded);
}

}  // namespace reckoning_test
}  // namespace proxy
