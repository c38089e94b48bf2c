#include "protocol/membership/hello_backlog.hpp"

#include <gtest/gtest.h>

#include <string>

namespace protocol::test {
namespace hello_backlog_test {

HelloBacklog::Address at(const std::string& address) {
    return boost::asio::ip::make_address(address);
}
HelloBacklog::Address stranger(unsigned number) {
    return at("10.1." + std::to_string(number / 250) + '.' + std::to_string(1 + number % 250));
}

TEST(HelloBacklog, OneAddressTakesItsShareAndThenItsOldestGives) {
    HelloBacklog hello_backlog;
    const auto first = hello_backlog.arrive(stranger(1));
    for (std::size_t i = 1; i < kMaxAtOncePerAddress; ++i) {
        EXPECT_FALSE(hello_backlog.arrive(stranger(1)).gives_way) << i;
    }
    EXPECT_EQ(hello_backlog.arrive(stranger(1)).gives_way, first.ticket);
    EXPECT_FALSE(hello_backlog.arrive(stranger(2)).gives_way);
    EXPECT_EQ(hello_backlog.size(), kMaxAtOncePerAddress + 1);
}

TEST(HelloBacklog, TheAddressWithMostConnectionsGivesWay) {
    HelloBacklog hello_backlog;
    const auto first = hello_backlog.arrive(stranger(500));
    const auto greedy = hello_backlog.arrive(stranger(0));
    hello_backlog.arrive(stranger(0));
    for (unsigned i = 1; hello_backlog.size() < kMaxStrangersAtOnce; ++i)
        hello_backlog.arrive(stranger(i));
    EXPECT_EQ(hello_backlog.arrive(stranger(600)).gives_way, greedy.ticket);
    EXPECT_EQ(hello_backlog.arrive(stranger(601)).gives_way, first.ticket)
        << "all have one: the oldest";
    EXPECT_EQ(hello_backlog.size(), kMaxStrangersAtOnce);
}

TEST(HelloBacklog, NoStrangerTakesThePlaceOfAPeer) {
    HelloBacklog hello_backlog;
    hello_backlog.expect(1, {at("10.0.0.1"), at("10.0.0.2")});
    EXPECT_TRUE(hello_backlog.expected(at("10.0.0.2")));
    EXPECT_FALSE(hello_backlog.expected(at("10.0.0.3")));
    const auto peer = hello_backlog.arrive(at("10.0.0.1"));
    for (unsigned i = 0; i < 10 * kMaxStrangersAtOnce; ++i) {
        EXPECT_NE(hello_backlog.arrive(stranger(i)).gives_way, peer.ticket);
    }
    EXPECT_FALSE(hello_backlog.arrive(at("10.0.0.2")).gives_way)
        << "there is room though all is full";
}

TEST(HelloBacklog, AnAddressHasASharePerPeerThatIsThere) {
    HelloBacklog hello_backlog;
    for (const std::size_t peer : {0, 1, 2}) hello_backlog.expect(peer, {at("10.0.0.1")});
    for (std::size_t i = 0; i < 3 * kMaxAtOncePerAddress; ++i) {
        EXPECT_FALSE(hello_backlog.arrive(at("10.0.0.1")).gives_way);
    }
    EXPECT_TRUE(hello_backlog.arrive(at("10.0.0.1")).gives_way);
}

TEST(HelloBacklog, APeerIsExpectedAgainAtItsProvenAddress) {
    HelloBacklog hello_backlog;
    hello_backlog.expect(0, {at("10.0.0.1")});
    hello_backlog.proved(0, at("::ffff:10.0.0.9"));
    EXPECT_TRUE(hello_backlog.expected(at("10.0.0.9"))) << "the same address over an IPv6 socket";
    EXPECT_TRUE(hello_backlog.expected(at("10.0.0.1")));
    hello_backlog.expect(0, {at("10.0.0.2")});
    EXPECT_FALSE(hello_backlog.expected(at("10.0.0.1")));
    EXPECT_TRUE(hello_backlog.expected(at("10.0.0.9")));
}

TEST(HelloBacklog, APeerIsKnownWhicheverInterfaceALinkLocalAddressComesBy) {
    HelloBacklog hello_backlog;
    hello_backlog.expect(0, {at("fe80::1")});
    hello_backlog.expect(1, {at("fe80::2%1")});
    EXPECT_TRUE(hello_backlog.expected(at("fe80::1%2")));
    EXPECT_TRUE(hello_backlog.expected(at("fe80::2")));
    EXPECT_FALSE(hello_backlog.expected(at("fe80::3%1")));
}

TEST(HelloBacklog, AConnectionThatHasLeftTakesNoPlace) {
    HelloBacklog hello_backlog;
    for (std::size_t i = 0; i < 3 * kMaxStrangersAtOnce; ++i) {
        const auto arrival = hello_backlog.arrive(stranger(1));
        EXPECT_FALSE(arrival.gives_way);
        hello_backlog.leave(arrival.ticket);
    }
    EXPECT_EQ(hello_backlog.size(), 0U);
}

}  // namespace hello_backlog_test
}  // namespace protocol::test
