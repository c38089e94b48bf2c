#include "base/memory/memory.hpp"

#include <gtest/gtest.h>

namespace base {
namespace memory_test {

TEST(MemoryBudget, TakesUpToItsCapAndGetsItBackWithTheCharge) {
    MemoryBudget budget(10);
    EXPECT_FALSE(budget.take(11));
    {
        ASSERT_TRUE(budget.take(10));
        Charge charge(budget, 10);
        Charge moved(std::move(charge));
        EXPECT_FALSE(budget.take(1));
    }
    EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, GivesEachWindowLessTheMoreThereAre) {
    MemoryBudget windows(1000);
    EXPECT_EQ(window_share(windows, 100), 100u);
    EXPECT_EQ(window_share(windows, 1000), 250u);
    ASSERT_TRUE(windows.take(900));
    EXPECT_EQ(window_share(windows, 100), 25u);
    windows.set_cap(800);  // a reload
    EXPECT_EQ(window_share(windows, 100), 0u);
}

TEST(MemoryBudget, LeavesHalfToWindows) {
    MemoryBudget windows(1000);
    auto room = read_ahead(windows, 400);
    ASSERT_TRUE(room);
    EXPECT_FALSE(read_ahead(windows, 101));
    room.reset();
    EXPECT_TRUE(read_ahead(windows, 101));
    EXPECT_EQ(windows.used(), 0u);
}

}  // namespace memory_test
}  // namespace base
