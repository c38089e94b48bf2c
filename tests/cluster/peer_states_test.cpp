#include <string>
#include <thread>

#include "proxy/upstream/peer_probe.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/sockets.hpp"

namespace proxy::test {
namespace peer_states_test {

/// The display of a peer with which something is wrong, by the status and its metrics.
class PeerStates : public NodesTest {
protected:
    static protocol::PeerConfig& peer(Config& of) { return of.cluster->peers.front(); }
};

TEST_F(PeerStates, AWrongHttpPortIsNamedBeforeAnybodyIsAskedThere) {
    auto astray = config("a", 2);
    peer(astray).http.port = 3199;  // nobody listens there
    start(astray);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    ASSERT_TRUE(eventually([&] { return !seen("a", "b").last_http_error.empty(); }));
    EXPECT_EQ(seen("a", "b").last_http_error, "connect_failed");
    EXPECT_EQ(seen("a", "b").asked, 0u) << "a probe is in nobody's books";
    EXPECT_EQ(seen("a", "b").failures, 0u);
    const auto page = admin("a", "/api/v1/status").body;
    EXPECT_TRUE(contains(page, "\"last_http_error\": \"connect_failed\"")) << page;
    EXPECT_TRUE(contains(page, "\"state_seconds\": ")) << page;
    EXPECT_TRUE(contains(admin("a", "/metrics").body,
                         "hearsay_peer_state{peer=\"b\",state=\"in_step\"} 1"));
}

TEST_F(PeerStates, AnotherServerAtTheHttpPortIsNoPeer) {
    encrypt = false;
    origin.answers_probes = false;
    auto astray = config("a", 2);
    peer(astray).http = {"127.0.0.1", origin.port()};
    start(astray);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return !seen("a", "b").last_http_error.empty(); }));
    EXPECT_EQ(seen("a", "b").last_http_error, "not_a_peer");
}

TEST_F(PeerStates, AnotherServerInTheClearIsNoPeerOfAnEncryptedCluster) {
    const auto server = Socket::listen("127.0.0.1", 0);
    std::thread answers([&] {
        for (auto client = server.accept(); client.open(); client = server.accept()) {
            std::string hello;
            client.receive(hello);
            client.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    auto astray = config("a", 2);
    peer(astray).http = {"127.0.0.1", server.port()};
    start(astray);
    start(config("b", 2));
    EXPECT_TRUE(eventually([&] { return seen("a", "b").last_http_error == "not_a_peer"; }));
    server.shut();
    answers.join();
}

TEST_F(PeerStates, APeerThatIsAPeerForTheSecondProbeHasNoFault) {
    encrypt = false;
    origin.answers_probes = false;
    auto astray = config("a", 2);
    peer(astray).http = {"127.0.0.1", origin.port()};
    start(astray);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return !origin.heads().empty(); }));
    origin.answers_probes = true;
    ASSERT_TRUE(eventually([&] { return origin.probes() == 1; }));
    EXPECT_EQ(seen("a", "b").last_http_error, "");
}

TEST_F(PeerStates, OfAPeerThatAnswersThereIsNothingToTell) {
    start_cluster(2);
    store("b", "/one");
    EXPECT_EQ(get("a", "/one").body, "body of /one");
    ASSERT_TRUE(eventually([&] { return seen("a", "b").hits == 1; }));
    EXPECT_EQ(seen("a", "b").last_http_error, "");
    EXPECT_EQ(seen("a", "b").cause, "");
    EXPECT_EQ(seen("a", "b").asked, 1u);
}

// The link is up at the peer first; a worker here may not know its token yet.
TEST_F(PeerStates, AProbeWhoseTokenIsNotKnownYetIsNoClientsRequest) {
    start(config("a"));
    const std::string target(kProbeTarget);
    const auto answer = client("a").ask("HEAD", target, "Cache-Control: only-if-cached\r\n");
    EXPECT_GE(answer.status, 400u);
    EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_EQ(status("a").work.total(), 1u);
    EXPECT_EQ(count("a", Outcome::error), 0u);
}

}  // namespace peer_states_test
}  // namespace proxy::test
