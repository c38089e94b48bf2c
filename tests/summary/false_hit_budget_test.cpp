#include "summary/sizing/false_hit_budget.hpp"

#include <gtest/gtest.h>

namespace summary {
namespace false_hit_budget_test {

TEST(ErrorPerSummary, SharesTheBudgetAmongThePeers) {
    EXPECT_DOUBLE_EQ(error_per_summary(0.004, 2), 0.002);
    EXPECT_DOUBLE_EQ(error_per_summary(0.004, 0), 0.004);
    EXPECT_DOUBLE_EQ(error_per_summary(0, 5), kMinError);
    EXPECT_DOUBLE_EQ(error_per_summary(3, 5), kMaxError);
}

}  // namespace false_hit_budget_test
}  // namespace summary
