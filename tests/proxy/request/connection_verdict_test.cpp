#include "proxy/request/connection_verdict.hpp"

#include <gtest/gtest.h>

#include "proxy/request/connections_by_address.hpp"

namespace proxy {
namespace connection_verdict_test {

namespace ip = boost::asio::ip;

TEST(ConnectionVerdict, IsFreeWhileThereIsRoomForAllAndForTheAddress) {
    EXPECT_EQ(judge_connection({.open = 9, .allowed = 10, .of_address = 3, .share = 4}),
              ConnectionVerdict::free);
    EXPECT_EQ(judge_connection({.open = 10, .allowed = 10, .of_address = 3, .share = 4}),
              ConnectionVerdict::if_room_is_made);
    EXPECT_EQ(judge_connection({.open = 5, .allowed = 10, .of_address = 4, .share = 4}),
              ConnectionVerdict::if_own_address_does);
    EXPECT_EQ(judge_connection({.open = 10, .allowed = 10, .of_address = 4, .share = 4}),
              ConnectionVerdict::if_own_address_does);
}

TEST(ConnectionVerdict, IsMadeByACrowdForTheFew) {
    const ConnectionLoad load{.open = 10, .allowed = 10, .of_address = 2, .share = 8};
    const auto all = ConnectionVerdict::if_room_is_made,
               own = ConnectionVerdict::if_own_address_does;
    EXPECT_TRUE(may_make_room(all, load, 4, false));
    EXPECT_FALSE(may_make_room(all, load, 3, false)) << "it would have as many as the new one's";
    EXPECT_FALSE(may_make_room(all, load, 0, false)) << "a trusted proxy's";
    EXPECT_TRUE(may_make_room(all, load, 2, true));
    EXPECT_TRUE(may_make_room(own, load, 8, true));
    EXPECT_FALSE(may_make_room(own, load, 9, false));
}

TEST(ConnectionsByAddress, CountsAnIpv6AddressWithItsNetwork) {
    ConnectionsByAddress addresses;
    const auto take = [&](const char* text) { return addresses.take(ip::make_address(text)); };
    auto one = take("10.0.0.1");
    const auto other = take("10.0.0.2");
    const auto v6 = take("2001:db8::1"), same = take("2001:db8::ffff:2");
    const auto next = take("2001:db8:0:1::1");
    EXPECT_EQ(one.of_address(), 1u);
    EXPECT_EQ(v6.of_address(), 2u);
    EXPECT_EQ(next.of_address(), 1u);
    EXPECT_TRUE(v6.has_address_of(same));
    EXPECT_FALSE(v6.has_address_of(next));
    EXPECT_FALSE(one.has_address_of(other));
    {
        const auto again = take("10.0.0.1");
        EXPECT_EQ(one.of_address(), 2u);
        EXPECT_TRUE(again.has_address_of(one));
    }
    EXPECT_EQ(one.of_address(), 1u);
    one = {};
    EXPECT_EQ(one.of_address(), 0u);
    EXPECT_FALSE(other.has_address_of(one));
    EXPECT_TRUE(one.has_address_of({})) << "both count for nobody";
    EXPECT_EQ(take("10.0.0.1").of_address(), 1u);
}

}  // namespace connection_verdict_test
}  // namespace proxy
