#include <gtest/gtest.h>

#include <map>

#include "protocol/cluster.hpp"
#include "tests/base/dns_server.hpp"
#include "tests/protocol/cluster_fixture.hpp"

namespace protocol::test {
namespace discovery_test {

using base::test::DnsServer;

/// Nodes that list nobody, and look for one another behind the name `cluster.test`.
class Discovery : public ClusterTest {
protected:
    using Code = DnsServer::Reply::Code;

    PeeringConfig seeker(const std::string& node, const std::string& place = "") {
        auto one = config(node, 0);
        if (!place.empty()) one.listen->host = address_of(place);
        one.dns_peers = {{"cluster.test", 3128, 3129}};
        one.dns.servers = server.place();
        one.dns.search = false;
        one.timings.look_gap = 10ms;
        one.timings.forget = 200ms;
        return one;
    }
    void lead_to(const std::vector<std::string>& nodes) {
        found.addresses.clear();
        for (const auto& node : nodes) found.addresses.push_back(address_of(node));
    }
    /// Each of them has all others as peers, in sync, and nobody else.
    bool are_a_cluster(const std::vector<TestNode*>& nodes) const {
        for (const auto* node : nodes) {
            for (const auto* other : nodes)
                if (other != node && !knows(*node, other->config.node)) return false;
            const auto status = node->cluster->status();
            if (status.peers.size() != nodes.size() - 1) return false;
            for (const auto& peer : status.peers)
                if (peer.state != PeerState::in_sync || !peer.publishing) return false;
        }
        return true;
    }
    static bool knows(const TestNode& node, const std::string& other) {
        const auto& peers = node.view->peers;
        for (std::size_t i = 0; i < peers.size(); ++i)
            if (peers[i].node == other) return peers[i].in_sync;
        return false;
    }
    static bool has(const TestNode& node, const std::string& other) {
        for (const auto& peer : node.cluster->status().peers)
            if (peer.node == other) return true;
        return false;
    }

    DnsServer::Reply found;
    std::map<std::string, DnsServer::Reply> others;
    DnsServer server{helpers_, [this](const std::string& name) {
                         if (name == "cluster.test") return found;
                         const auto known = others.find(name);
                         if (known != others.end()) return known->second;
                         DnsServer::Reply nobody;
                         nobody.code = Code::no_such_name;
                         return nobody;
                     }};
};

TEST_F(Discovery, NodesBehindANameFindOneAnother) {
    lead_to({"a", "b", "c"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    auto& c = add(seeker("c"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b, &c}); }));
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/1") && c.sees("a", "http://x/1"); }));
    EXPECT_EQ(b.peer("a").http.host, address_of("a"));
    EXPECT_EQ(b.peer("a").http.port, 3128);
    EXPECT_EQ(a.view->authenticate("b", b.peer("a").token), a.index("b"));
    const auto names = a.cluster->status().names;
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].places, 3U);
    EXPECT_TRUE(names[0].answered);
}

TEST_F(Discovery, ANewcomerIsMetWhenItComesHoweverLongTheAnswerBeforeItCounts) {
    lead_to({"a"});
    auto& a = add(seeker("a"));
    found.ttl = 3600;
    ASSERT_TRUE(run_until([&] { return a.cluster->status().names[0].answered; }));
    lead_to({"a", "b"});
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    EXPECT_EQ(a.peer("b").http.host, address_of("b"));
}

TEST_F(Discovery, ANodeThatIsGoneLeavesNothingBehindButASum) {
    lead_to({"a", "b", "c"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    auto& c = add(seeker("c"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b, &c}); }));
    c.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return a.sees("c", "http://x/1"); }));
    const auto received = a.cluster->status().bytes_received;
    lead_to({"a", "b"});
    c.kill();
    c.paused = true;
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    const auto status = a.cluster->status();
    EXPECT_GE(status.bytes_received, received);
    EXPECT_EQ(status.peers_gone, 1U);
    EXPECT_GT(status.gone.bytes_received, 0U);
    EXPECT_GT(status.gone.snapshots_received, 0U);
    EXPECT_TRUE(status.unanswered.empty());
    EXPECT_FALSE(has(a, "c"));
}

TEST_F(Discovery, ANodeThatComesBackAtAnotherAddressIsTheSamePeer) {
    lead_to({"a", "b"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    lead_to({"a", "d"});
    b.config.listen->host = address_of("d");
    b.restart();
    b.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return a.sees("b", "http://x/1") && are_a_cluster({&a, &b}); }));
    EXPECT_EQ(a.peer("b").http.host, address_of("d"));
    EXPECT_EQ(a.cluster->status().peers_gone, 0U);
}

TEST_F(Discovery, ANodeThatDrainsGivesItsNameToItsReplacementAtOnce) {
    lead_to({"a", "b"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    // Start first: the replacement is there before the one that it replaces leaves.
    auto& next = add(seeker("b", "d"));
    next.store("http://x/of the next");
    lead_to({"a", "b", "d"});
    ASSERT_TRUE(run_until([&] { return a.refusals("duplicate_id") > 0; }));
    EXPECT_EQ(a.peer("b").http.host, address_of("b"));
    const auto instance_before = a.peer("b").instance;
    b.cluster->withdraw();  // and goes on to live, as for a drain
    ASSERT_TRUE(run_until([&] {
        return a.sees("b", "http://x/of the next") && are_a_cluster({&a, &next}) &&
               a.peer("b").http.host == address_of("d");
    })) << a.peer("b").http.text();
    EXPECT_TRUE(a.peer("b").can_be_asked());
    EXPECT_NE(a.peer("b").instance, instance_before);
    // It stays so as long as the one before is there.
    const auto replaced = a.refusals("replaced");
    ASSERT_TRUE(run_until([&] { return a.refusals("replaced") > replaced + 3; }));
    EXPECT_EQ(a.peer("b").http.host, address_of("d"));
    EXPECT_TRUE(are_a_cluster({&a, &next}));
    a.invalidate("http://x/gone");
    EXPECT_TRUE(run_until([&] { return next.has_dropped("http://x/gone"); }));
}

TEST_F(Discovery, ANodeThatCannotBeAskedIsNotCalledInStep) {
    lead_to({"a"});
    auto settings = seeker("a");
    settings.timings.forget = 60s;
    auto& a = add(settings);
    // It comes from behind another address, as all do here that bind none: 127.0.0.1.
    auto& b = add(seeker("b"));
    b.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return has(a, "b") && a.status_of("b").objects == 1; }));
    ASSERT_TRUE(run_until([&] { return a.status_of("b").state == PeerState::no_address; }));
    EXPECT_FALSE(a.peer("b").can_be_asked());
    ASSERT_TRUE(
        run_until([&] { return a.status_of("b").cause.find("127.0.0.1") != std::string::npos; }));
    lead_to({"a", "b"});
    EXPECT_TRUE(run_until([&] { return a.status_of("b").state == PeerState::in_sync; }));
    EXPECT_TRUE(a.peer("b").can_be_asked());
    EXPECT_EQ(a.status_of("b").cause, "");
}

TEST_F(Discovery, TheViewListsFoundPlacesWithTheirPorts) {
    others["_hearsay-link._tcp.cluster.test"].services = {{"two.test", 3130}};
    others["_hearsay-http._tcp.cluster.test"].services = {{"two.test", 8080}};
    auto one = seeker("a");
    one.dns_peers = {DnsPeers{"cluster.test"}};
    auto& a = add(one);
    const PeerPlace two{"two.test", 8080, 3130};
    EXPECT_TRUE(run_until([&] {
        return a.view && a.view->places &&
               std::count(a.view->places->begin(), a.view->places->end(), two) == 1;
    })) << "before anybody has answered there";
}

TEST_F(Discovery, AnotherNodeAtAnOldAddressIsAnotherPeer) {
    lead_to({"a", "b"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    b.kill();
    b.paused = true;
    auto& c = add(seeker("c", "b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &c}); }));
    EXPECT_EQ(a.peer("c").http.host, address_of("b"));
    EXPECT_FALSE(has(a, "b"));
}

TEST_F(Discovery, APeerWithoutRoomIsReported) {
    lead_to({"a", "b"});
    auto small = seeker("a");
    small.max_peers = 1;
    auto& a = add(small);
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    auto late = seeker("c");
    late.dns_peers.clear();
    late.peers = {peer_config("a")};
    auto& c = add(late);
    ASSERT_TRUE(run_until([&] {
        const auto peers = c.cluster->status().peers;
        return peers.size() == 1 && peers[0].last_end.reason() == "peers_full";
    }));
    EXPECT_GT(a.cluster->status().refusals["peers_full"], 0U);
    EXPECT_TRUE(has(a, "b"));
}

TEST_F(Discovery, WhileTheNameServersAreInTroubleNothingIsForgotten) {
    lead_to({"a", "b"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    found.code = Code::server_failure;
    found.addresses.clear();
    b.kill();
    const auto forgotten = std::chrono::steady_clock::now() + 1s;  // five times what is enough
    ASSERT_TRUE(run_until([&] {
        return !a.cluster->status().names[0].answered &&
               std::chrono::steady_clock::now() > forgotten;
    }));
    EXPECT_TRUE(has(a, "b"));
    EXPECT_EQ(a.cluster->status().names[0].trouble, "the name servers cannot say");
    found.code = Code::ok;
    lead_to({"a", "b"});
    b.boot();
    EXPECT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
}

TEST_F(Discovery, ServiceRecordsSayThePorts) {
    others["_hearsay-link._tcp.cluster.test"].services = {{"one.test", 3129}, {"two.test", 3130}};
    others["_hearsay-http._tcp.cluster.test"].services = {{"two.test", 8080}, {"one.test", 80}};
    const auto with_services = [&](const std::string& node, std::uint16_t port) {
        auto one = seeker(node);
        one.listen->port = port;
        one.dns_peers = {DnsPeers{"cluster.test"}};
        return one;
    };
    others["one.test"].addresses = {address_of("a")};
    others["two.test"].addresses = {address_of("b")};
    auto& a = add(with_services("a", 3129));
    auto& b = add(with_services("b", 3130));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    EXPECT_EQ(a.peer("b").http.host, "two.test");
    EXPECT_EQ(a.peer("b").http.port, 8080);
    EXPECT_EQ(b.peer("a").http.port, 80);
}

TEST_F(Discovery, AStrangerWithoutTheKeyIsNoPeer) {
    lead_to({"a"});
    auto& a = add(seeker("a"));
    auto stranger = seeker("b");
    stranger.security.keys = {kOtherKey};
    add(stranger);
    ASSERT_TRUE(run_until([&] { return a.refusals("wrong_key") > 0; }));
    EXPECT_TRUE(a.cluster->status().peers.empty());
}

TEST_F(Discovery, AForgottenPeerThatReturnsDropsInvalidatedContent) {
    lead_to({"a", "b"});
    auto& a = add(seeker("a"));
    auto& b = add(seeker("b"));
    ASSERT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
    a.invalidate("http://x/before");
    ASSERT_TRUE(run_until([&] { return b.has_dropped("http://x/before"); }));
    lead_to({"a"});
    b.paused = true;  // cut off, and with all that it holds
    a.config.timings.gone_after = 1s;
    a.reload();
    ASSERT_TRUE(run_until([&] { return !has(a, "b"); }));
    a.invalidate("http://x/meanwhile");
    b.paused = false;
    lead_to({"a", "b"});
    ASSERT_TRUE(run_until([&] { return b.dropped_all || b.has_dropped("http://x/meanwhile"); }));
    EXPECT_TRUE(run_until([&] { return are_a_cluster({&a, &b}); }));
}

TEST_F(Discovery, PeersAreAddedAndTakenAwayWhileTheOthersKeepTheirLinks) {
    auto& a = add(config("a", 2));
    auto& b = add(config("b", 2));
    auto& c = add(config("c", 2));  // lists a and b, who do not list it
    ASSERT_TRUE(run_until(
        [&] { return knows(a, "b") && knows(b, "a") && a.refusals("unknown_node") > 0; }));
    const auto connects = a.status_of("b").connects;
    a.cluster->set_peers({peer_config("b"), peer_config("c")}, {});
    ASSERT_TRUE(run_until([&] { return knows(a, "c") && knows(c, "a"); }));
    c.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return a.sees("c", "http://x/1"); }));
    EXPECT_EQ(a.status_of("b").connects, connects);
    a.cluster->set_peers({peer_config("b")}, {});
    ASSERT_TRUE(run_until([&] { return !knows(c, "a"); }));
    EXPECT_FALSE(has(a, "c"));
    EXPECT_TRUE(knows(a, "b"));
    EXPECT_EQ(a.status_of("b").connects, connects);
    EXPECT_THROW(a.cluster->set_peers({peer_config("b"), peer_config("b")}, {}),
                 std::invalid_argument);
    EXPECT_TRUE(has(a, "b"));
}

}  // namespace discovery_test
}  // namespace protocol::test
