#include "measure/run/client_order.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace client_order_test {

/// A log in which these clients ask, in this order.
Trace log_of(std::initializer_list<std::uint32_t> clients) {
    Trace trace;
    for (const auto client : clients) {
        while (trace.clients.size() <= client) trace.clients.push_back(trace.clients.size() + 1);
        trace.add({0, client, trace.add_url("http://a/", 1), kGet});
    }
    return trace;
}

TEST(ClientOrder, HoldsARequestBackWhileAnotherOfItsClientIsUnderWay) {
    const Trace trace = log_of({0, 1, 0, 0});
    ClientOrder order(trace);
    EXPECT_TRUE(order.release(0));
    EXPECT_TRUE(order.release(1));
    EXPECT_FALSE(order.release(2));
    EXPECT_FALSE(order.release(3));
    EXPECT_EQ(order.finished(1), std::nullopt);
    EXPECT_EQ(order.finished(0), 2u);
    EXPECT_EQ(order.finished(2), 3u);
    EXPECT_EQ(order.finished(3), std::nullopt);
}

TEST(ClientOrder, LetsAClientGoOnAfterAPause) {
    const Trace trace = log_of({0, 0});
    ClientOrder order(trace);
    EXPECT_TRUE(order.release(0));
    EXPECT_EQ(order.finished(0), std::nullopt);
    EXPECT_TRUE(order.release(1));
    EXPECT_EQ(order.finished(1), std::nullopt);
}

TEST(ClientOrder, StartsNothingThatWasNotReleased) {
    const Trace trace = log_of({0, 0, 0});
    ClientOrder order(trace);
    EXPECT_TRUE(order.release(0));
    EXPECT_FALSE(order.release(1));
    EXPECT_EQ(order.finished(0), 1u);
    EXPECT_EQ(order.finished(1), std::nullopt);  // the third one's time has not come
    EXPECT_TRUE(order.release(2));
}

}  // namespace client_order_test
}  // namespace measure
