#include "proxy/fetch/awaited_orders.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace awaited_orders_test {

using namespace std::chrono_literals;

constexpr AwaitedOrders::Time kStart{100h};

TEST(AwaitedOrders, ConcernWhatAnEarlierProcessStored) {
    AwaitedOrders orders;
    EXPECT_FALSE(orders.may_concern(kStart - 1s, kStart)) << "no disk, or no peers";
    orders.begin(kStart);
    EXPECT_TRUE(orders.may_concern(kStart - 1s, kStart + 1s));
    EXPECT_FALSE(orders.may_concern(kStart, kStart + 1s));
    EXPECT_FALSE(orders.may_concern(kStart - 1s, kStart + AwaitedOrders::kLongest));
    orders.end();
    EXPECT_FALSE(orders.may_concern(kStart - 1s, kStart + 1s));
    EXPECT_FALSE(orders.pending());
}

}  // namespace awaited_orders_test
}  // namespace proxy
