#include <string>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/sockets.hpp"

namespace proxy::test {
namespace encryption_test {

/// Peer requests with and without encryption, and the content that only encrypted ones carry.
class Encryption : public NodesTest {
protected:
    static constexpr const char* kSecret = "https://site.test/secret";

    std::string handshakes(const std::string& node) const {
        const auto page = admin(node, "/metrics").body;
        const std::string name = "\nhearsay_peer_handshakes_total ";
        const auto at = page.find(name);
        if (at == std::string::npos) return "none";
        const auto value = at + name.size();
        return page.substr(value, page.find('\n', value) - value);
    }
    /// The tests' clients count as a proxy that ends TLS, so they may ask for https URLs.
    Config trusting(const std::string& node) const {
        auto settings = config(node, 2);
        settings.clients.trusted_proxies = {"127.0.0.1"};
        return settings;
    }
    void start_trusting() {
        for (const auto* node : {"a", "b"}) start(trusting(node));
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    /// Node a encrypts and takes clear links; node b has encryption off.
    void start_in_the_middle_of_an_upgrade() {
        auto upgraded = trusting("a");
        upgraded.cluster->allow_clear = true;
        encrypt = false;
        start(upgraded);
        start(trusting("b"));
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
};

TEST_F(Encryption, PeerRequestsShareAConnection) {
    start_cluster(2);
    for (const auto* target : {"/1", "/2", "/3", "/4", "/5", "/6"}) {
        store("a", target);
        EXPECT_EQ(get("b", target).body, "body of " + std::string(target));
    }
    EXPECT_EQ(count("b", Outcome::peer_hit), 6u);
    // The probe makes the first. A request beside it may make another.
    const auto made = handshakes("b");
    EXPECT_TRUE(made == "1" || made == "2") << made;
}

TEST_F(Encryption, IsOffWhereTheSettingSaysSo) {
    encrypt = false;
    start_trusting();
    store("a", "/1");
    store("a", kSecret);
    EXPECT_EQ(get("b", "/1").status, 200u);
    EXPECT_EQ(get("b", kSecret).status, 200u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 2u);
    EXPECT_EQ(handshakes("b"), "0");
}

TEST_F(Encryption, ContentOfHttpsUrlsGoesToPeersEncrypted) {
    start_trusting();
    store("a", kSecret);
    EXPECT_EQ(get("b", kSecret).status, 200u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
}

TEST_F(Encryption, DuringAnUpgradeContentOfHttpsUrlsIsNotGivenInTheClear) {
    start_in_the_middle_of_an_upgrade();
    store("a", "/1");
    store("a", kSecret);
    EXPECT_EQ(get("b", "/1").status, 200u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(get("b", kSecret).status, 200u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(seen("b", "a").asked, 2u) << "a has refused the second";
    ASSERT_TRUE(eventually([&] { return seen("a", "b").served == 1; }));
}

TEST_F(Encryption, DuringAnUpgradeContentOfHttpsUrlsIsNotAskedForInTheClear) {
    start_in_the_middle_of_an_upgrade();
    store("b", "/1");
    store("b", kSecret);
    EXPECT_EQ(get("a", "/1").status, 200u);
    EXPECT_EQ(count("a", Outcome::peer_hit), 1u);
    const auto page = admin("a", "/api/v1/explain?url=https://site.test/secret").body;
    EXPECT_TRUE(contains(page, "in_the_clear")) << page;
    EXPECT_EQ(get("a", kSecret).status, 200u);
    EXPECT_EQ(count("a", Outcome::peer_hit), 1u);
    EXPECT_EQ(seen("a", "b").asked, 1u);
}

TEST_F(Encryption, ATlsClientWithoutTheKeyIsTurnedAwayAtTheClearPort) {
    start_cluster(2);
    auto client = Socket::connect(address("a"), kProxyPort);
    // The first bytes of a handshake, as a browser sends them that takes the port for https.
    client.send(std::string("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10));
    std::string answer;
    while (client.receive(answer)) continue;
    EXPECT_FALSE(contains(answer, "HTTP/1.1")) << answer;
    EXPECT_TRUE(
        contains(admin("a", "/metrics").body, "hearsay_request_refusals_total{reason=\"tls\"} 1"));
    EXPECT_EQ(get("a", "/still").status, 200u);
}

TEST_F(Encryption, OfALargeBodyEveryByteArrives) {
    const std::string body(3'000'000, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), body); });
    start_cluster(2);
    store("a", "/large");
    EXPECT_EQ(get("b", "/large").body, body);
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
}

}  // namespace encryption_test
}  // namespace proxy::test
