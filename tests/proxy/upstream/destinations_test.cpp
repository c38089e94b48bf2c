#include "proxy/upstream/destinations.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace destinations_test {

boost::asio::ip::address at(const char* text) {
    return boost::asio::ip::make_address(text);
}

TEST(PublicAddresses, AreNotThoseForSpecialPurposes) {
    for (const auto* text : {"0.0.0.0",
                             "0.1.2.3",
                             "10.1.2.3",
                             "100.64.0.1",
                             "100.127.255.255",
                             "127.0.0.1",
                             "127.9.9.9",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.0.0.1",
                             "192.0.2.1",
                             "192.168.0.1",
                             "198.18.0.1",
                             "198.19.255.255",
                             "198.51.100.1",
                             "203.0.113.1",
                             "224.0.0.1",
                             "239.1.1.1",
                             "240.0.0.1",
                             "255.255.255.255",
                             "::",
                             "::1",
                             "::127.0.0.1",
                             "::8.8.8.8",
                             "::ffff:0:10.0.0.1",
                             "100::1",
                             "2001::1",
                             "2001:2::1",
                             "2001:db8::1",
                             "3fff::1",
                             "64:ff9b:1::a00:1",
                             "fc00::1",
                             "fdff::1",
                             "fe80::1",
                             "febf::1",
                             "fec0::1",
                             "ff02::1"})
        EXPECT_FALSE(is_public(at(text))) << text;
    for (const auto* text : {"1.1.1.1", "11.0.0.1", "100.63.0.1", "100.128.0.1", "172.15.0.1",
                             "172.32.0.1", "192.0.1.1", "192.167.0.1", "198.17.0.1", "198.20.0.1",
                             "223.255.255.255", "2001:200::1", "2606:4700::1", "2a00::1"})
        EXPECT_TRUE(is_public(at(text))) << text;
}

TEST(PublicAddresses, AreJudgedByTheIPv4AddressTheyStandFor) {
    for (const auto* text : {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::127.0.0.1",
                             "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "2002:7f00:1::1",
                             "2002:a00:1::", "2002:c0a8:1:2::3", "2a00::5efe:10.0.0.1"})
        EXPECT_FALSE(is_public(at(text))) << text;
    for (const auto* text : {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"})
        EXPECT_TRUE(is_public(at(text))) << text;
}

class ClientsDestinations : public ::testing::Test {
protected:
    ClientsDestinations() {
        config.listen = {"0.0.0.0", 3128};
        config.admin = AdminConfig{{"127.0.0.1", 9128}};
        config.tls = TlsConfig{{"10.0.0.1", 3443}, {}, {}};
        config.cluster.emplace();
        config.cluster->listen = {"node-a.test", 3129};
        config.cluster->peers = {{"b", {"10.0.0.2", 3128}, {"10.0.0.2", 3129}},
                                 {"c", {"c.test", 4128}, {"c-link.test", 4129}}};
        config.forward.private_destinations = Destinations::allow;
        around.own = {at("10.0.0.1"), at("2a00::1")};
        around.peers = {at("10.0.0.3")};
    }
    Destination judge(const char* address, std::uint16_t port) const {
        return judge_destination(config, around, at(address), port);
    }
    bool own(const char* address, std::uint16_t port) const {
        return judge(address, port) == Destination::own_house;
    }
    Config config;
    ClusterAddresses around;
};

TEST_F(ClientsDestinations, AreNeverTheListenersOfThisNode) {
    for (const auto* address :
         {"127.0.0.1", "127.5.5.5", "10.0.0.1", "2a00::1", "::1", "0.0.0.0",
          "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::1",
          "64:ff9b:1::10.0.0.1", "64:ff9b:1:a00:0:100::", "64:ff9b:1:a:0:1::", "::10.0.0.1",
          "64:ff9b:1:0:a:0:100::", "2001:0:808:808::f5ff:fffe", "2a00::5efe:10.0.0.1"})
        EXPECT_TRUE(own(address, 3128)) << address << ": it listens at all addresses";
    for (const auto* address : {"127.0.0.1", "10.0.0.1", "2a00::1"})
        EXPECT_TRUE(own(address, 3129)) << address << ": it listens at a name, which may be any";
    for (const auto* address : {"127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "::"})
        EXPECT_TRUE(own(address, 9128)) << address;
    EXPECT_TRUE(own("10.0.0.1", 3443));
}

TEST_F(ClientsDestinations, AreNeverThoseOfPeersEither) {
    for (const auto* address : {"10.0.0.2", "::ffff:10.0.0.2", "10.0.0.3"})
        for (const auto port : {3128, 3129, 4128, 4129})
            EXPECT_TRUE(own(address, static_cast<std::uint16_t>(port))) << address << ' ' << port;
    EXPECT_TRUE(own("10.0.0.2", 9128)) << "its admin port is probably where ours is";
    EXPECT_TRUE(own("10.0.0.2", 3443));
}

TEST_F(ClientsDestinations, AreNotWherePeersWereFoundByServiceRecords) {
    config.cluster->peers.clear();
    config.cluster->dns_peers = {{"cluster.test", 0, 0}};
    const std::vector<protocol::PeerPlace> found{
        {"10.0.0.7", 8080, 8129}, {"d.test", 8081, 8130}, {"10.0.0.8", 0, 0}};
    EXPECT_FALSE(own("10.0.0.7", 8080)) << "nothing is known of it yet";
    around.found = found;
    EXPECT_EQ(peer_names(config, found), (std::vector<std::string_view>{"d.test", "cluster.test"}));
    around.peers = {at("10.0.0.9")};  // d.test
    for (const auto* address : {"10.0.0.7", "::ffff:10.0.0.7", "10.0.0.9", "10.0.0.8"})
        for (const auto port : {8080, 8129, 8081, 8130, 9128, 3128, 3129}) {
            const auto place = static_cast<std::uint16_t>(port);
            EXPECT_TRUE(own(address, place)) << address << ' ' << port;
            EXPECT_TRUE(is_cluster_port(config, found, place)) << port;
        }
    EXPECT_EQ(judge("10.0.0.7", 80), Destination::open);
    EXPECT_EQ(judge("10.0.0.66", 8080), Destination::open);
    EXPECT_FALSE(is_cluster_port(config, found, 0));
}

TEST_F(ClientsDestinations, AreOpenAtOtherPortsAndAddressesIfTheyAreAllowed) {
    EXPECT_EQ(judge("10.0.0.1", 80), Destination::open);
    EXPECT_EQ(judge("10.0.0.2", 80), Destination::open);
    EXPECT_EQ(judge("10.0.0.9", 3128), Destination::open);
    EXPECT_EQ(judge("10.0.0.9", 9128), Destination::open);
    EXPECT_EQ(judge("127.0.0.2", 9128), Destination::open)
        << "the admin port listens at one address";
    EXPECT_EQ(judge("1.1.1.1", 3128), Destination::open);
}

TEST_F(ClientsDestinations, ArePublicOrListed) {
    config.forward.private_destinations = Destinations::deny;
    EXPECT_EQ(judge("10.1.0.9", 80), Destination::closed);
    EXPECT_EQ(judge("1.1.1.1", 80), Destination::open);
    config.forward.private_destinations = Destinations::listed;
    config.forward.private_prefixes = {"10.1.0.0/16", "fd00::/8"};
    EXPECT_EQ(judge("10.1.0.9", 80), Destination::open);
    EXPECT_EQ(judge("::ffff:10.1.0.9", 80), Destination::open);
    EXPECT_EQ(judge("64:ff9b::10.1.0.9", 80), Destination::open);
    EXPECT_EQ(judge("fd00::1", 80), Destination::open);
    EXPECT_EQ(judge("10.2.0.9", 80), Destination::closed);
    EXPECT_EQ(judge("1.1.1.1", 80), Destination::open);
    config.forward.private_prefixes = {"0.0.0.0/0", "::/0"};
    EXPECT_TRUE(own("127.0.0.1", 9128)) << "whatever is allowed";
}

TEST_F(ClientsDestinations, NeedALookAroundOnlyAtPortsOfTheHouse) {
    for (const auto port : {3128, 3129, 3443, 9128, 4128, 4129})
        EXPECT_TRUE(is_cluster_port(config, {}, static_cast<std::uint16_t>(port))) << port;
    EXPECT_FALSE(is_cluster_port(config, {}, 80));
    EXPECT_FALSE(is_cluster_port(config, {}, 443));
    EXPECT_EQ(peer_names(config, {}), (std::vector<std::string_view>{"c.test", "c-link.test"}));
}

TEST(InterfaceAddresses, AreThoseOfThisMachine) {
    const auto found = interface_addresses();
    EXPECT_NE(std::find(found.begin(), found.end(), at("127.0.0.1")), found.end());
}

}  // namespace destinations_test
}  // namespace proxy
