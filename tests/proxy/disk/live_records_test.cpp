#include "proxy/disk/live_records.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace live_records_test {

using Standing = LiveRecords::Standing;

TEST(LiveRecords, TheNewestOfEachVariantCounts) {
    LiveRecords reckoning;
    reckoning.expect(10);
    EXPECT_EQ(reckoning.judge(1, false), Standing::counts);
    EXPECT_EQ(reckoning.judge(2, false), Standing::counts);
    EXPECT_EQ(reckoning.judge(1, false), Standing::superseded);
    EXPECT_EQ(reckoning.judge(1, true), Standing::purged);
}

TEST(LiveRecords, APurgedRecordHasAlsoEndedEarlierOnes) {
    LiveRecords reckoning;
    EXPECT_EQ(reckoning.judge(1, true), Standing::purged);
    EXPECT_EQ(reckoning.judge(1, false), Standing::superseded);
}

}  // namespace live_records_test
}  // namespace proxy
