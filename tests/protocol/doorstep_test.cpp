#include "protocol/membership/doorstep.hpp"

#include <gtest/gtest.h>

#include <string>

namespace protocol::test {
namespace doorstep_test {

Doorstep::Address at(const std::string& address) {
    return boost::asio::ip::make_address(address);
}
Doorstep::Address stranger(unsigned number) {
    return at("10.1." + std::to_string(number / 250) + '.' + std::to_string(1 + number % 250));
}

TEST(Doorstep, OneAddressTakesItsShareAndThenItsOldestGives) {
    Doorstep doorstep;
    const auto first = doorstep.arrive(stranger(1));
    for (std::size_t i = 1; i < kMaxAtOncePerAddress; ++i) {
        EXPECT_FALSE(doorstep.arrive(stranger(1)).gives_way) << i;
    }
    EXPECT_EQ(doorstep.arrive(stranger(1)).gives_way, first.ticket);
    EXPECT_FALSE(doorstep.arrive(stranger(2)).gives_way);
    EXPECT_EQ(doorstep.size(), kMaxAtOncePerAddress + 1);
}

TEST(Doorstep, TheAddressWithMostConnectionsGivesWay) {
    Doorstep doorstep;
    const auto first = doorstep.arrive(stranger(500));
    const auto greedy = doorstep.arrive(stranger(0));
    doorstep.arrive(stranger(0));
    for (unsigned i = 1; doorstep.size() < kMaxStrangersAtOnce; ++i) doorstep.arrive(stranger(i));
    EXPECT_EQ(doorstep.arrive(stranger(600)).gives_way, greedy.ticket);
    EXPECT_EQ(doorstep.arrive(stranger(601)).gives_way, first.ticket) << "all have one: the oldest";
    EXPECT_EQ(doorstep.size(), kMaxStrangersAtOnce);
}

TEST(Doorstep, NoStrangerTakesThePlaceOfAPeer) {
    Doorstep doorstep;
    doorstep.expect(1, {at("10.0.0.1"), at("10.0.0.2")});
    EXPECT_TRUE(doorstep.expected(at("10.0.0.2")));
    EXPECT_FALSE(doorstep.expected(at("10.0.0.3")));
    const auto peer = doorstep.arrive(at("10.0.0.1"));
    for (unsigned i = 0; i < 10 * kMaxStrangersAtOnce; ++i) {
        EXPECT_NE(doorstep.arrive(stranger(i)).gives_way, peer.ticket);
    }
    EXPECT_FALSE(doorstep.arrive(at("10.0.0.2")).gives_way) << "there is room though all is full";
}

TEST(Doorstep, AnAddressHasASharePerPeerThatIsThere) {
    Doorstep doorstep;
    for (const std::size_t peer : {0, 1, 2}) doorstep.expect(peer, {at("10.0.0.1")});
    for (std::size_t i = 0; i < 3 * kMaxAtOncePerAddress; ++i) {
        EXPECT_FALSE(doorstep.arrive(at("10.0.0.1")).gives_way);
    }
    EXPECT_TRUE(doorstep.arrive(at("10.0.0.1")).gives_way);
}

TEST(Doorstep, APeerIsExpectedAgainAtItsProvenAddress) {
    Doorstep doorstep;
    doorstep.expect(0, {at("10.0.0.1")});
    doorstep.proved(0, at("::ffff:10.0.0.9"));
    EXPECT_TRUE(doorstep.expected(at("10.0.0.9"))) << "the same address over an IPv6 socket";
    EXPECT_TRUE(doorstep.expected(at("10.0.0.1")));
    doorstep.expect(0, {at("10.0.0.2")});
    EXPECT_FALSE(doorstep.expected(at("10.0.0.1")));
    EXPECT_TRUE(doorstep.expected(at("10.0.0.9")));
}

TEST(Doorstep, APeerIsKnownWhicheverInterfaceALinkLocalAddressComesBy) {
    Doorstep doorstep;
    doorstep.expect(0, {at("fe80::1")});
    doorstep.expect(1, {at("fe80::2%1")});
    EXPECT_TRUE(doorstep.expected(at("fe80::1%2")));
    EXPECT_TRUE(doorstep.expected(at("fe80::2")));
    EXPECT_FALSE(doorstep.expected(at("fe80::3%1")));
}

TEST(Doorstep, AConnectionThatHasLeftTakesNoPlace) {
    Doorstep doorstep;
    for (std::size_t i = 0; i < 3 * kMaxStrangersAtOnce; ++i) {
        const auto arrival = doorstep.arrive(stranger(1));
        EXPECT_FALSE(arrival.gives_way);
        doorstep.leave(arrival.ticket);
    }
    EXPECT_EQ(doorstep.size(), 0U);
}

}  // namespace doorstep_test
}  // namespace protocol::test
