#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <vector>

#include "base/tls/tls_session.hpp"
#include "protocol/links/hello.hpp"
#include "protocol/links/peering_services.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/frame.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/protocol/cluster_fixture.hpp"

namespace protocol::test {
namespace encryption_test {

namespace asio = boost::asio;

/// Links of real nodes with and without encryption.
class EncryptedLinks : public ClusterTest {
protected:
    PeeringConfig clear(PeeringConfig config) const {
        config.security.encrypt = false;
        return config;
    }
    PeeringConfig upgrading(PeeringConfig config) const {
        config.security.allow_clear = true;
        return config;
    }
    PeeringConfig with_keys(PeeringConfig config, std::vector<std::string> keys) const {
        config.security.keys = std::move(keys);
        return config;
    }
    void start(PeeringConfig first, PeeringConfig second) {
        a = &add(std::move(first));
        b = &add(std::move(second));
    }
    bool share() {
        a->store("of a");
        b->store("of b");
        return run_until(
            [&] { return all_in_sync() && b->sees("a", "of a") && a->sees("b", "of b"); });
    }
    static std::string reason(TestNode& at, const char* peer) {
        return at.status_of(peer).last_end.reason();
    }

    TestNode *a = nullptr, *b = nullptr;
};

TEST_F(EncryptedLinks, AreTheDefaultAndMakeRequestsEncrypted) {
    start(config("a"), config("b"));
    ASSERT_TRUE(share());
    EXPECT_TRUE(a->peer("b").encrypted);
    EXPECT_TRUE(b->peer("a").encrypted);
}

TEST_F(EncryptedLinks, AreOffOnlyWhereTheSettingSaysSo) {
    start(clear(config("a")), clear(config("b")));
    ASSERT_TRUE(share());
    EXPECT_FALSE(a->peer("b").encrypted);
    EXPECT_FALSE(b->peer("a").encrypted);
}

TEST_F(EncryptedLinks, WithDifferentSettingsBothNodesNameTheCause) {
    start(config("a"), clear(config("b")));
    EXPECT_TRUE(run_until(
        [&] { return reason(*a, "b") == "encrypted" && reason(*b, "a") == "not_encrypted"; }));
    EXPECT_GT(a->refusals("not_encrypted"), 0U) << "of b's own link";
    EXPECT_GT(b->refusals("encrypted"), 0U);
    EXPECT_EQ(a->status_of("b").state, PeerState::refused);
    EXPECT_FALSE(a->in_sync_with("b"));
    EXPECT_FALSE(b->in_sync_with("a"));
}

TEST_F(EncryptedLinks, DuringAnUpgradeNodesShareInTheClear) {
    start(upgrading(config("a")), clear(config("b")));
    ASSERT_TRUE(share());
    EXPECT_FALSE(a->peer("b").encrypted);
    EXPECT_FALSE(b->peer("a").encrypted);
}

TEST_F(EncryptedLinks, AnUpgradeNodeByNodeLosesNoLinkForLong) {
    start(clear(config("a")), clear(config("b")));
    ASSERT_TRUE(share());
    for (auto* const node : {a, b}) {  // the first step at each node
        node->config.security.encrypt = node->config.security.allow_clear = true;
        node->reload();
        ASSERT_TRUE(share());
    }
    ASSERT_TRUE(run_until([&] { return a->peer("b").encrypted && b->peer("a").encrypted; }));
    for (auto* const node : {a, b}) {  // the second step
        node->config.security.allow_clear = false;
        node->reload();
        ASSERT_TRUE(share());
        EXPECT_TRUE(a->peer("b").encrypted && b->peer("a").encrypted);
    }
}

TEST_F(EncryptedLinks, NodesWithOneOfTwoKeysInCommonShareWhileTheLastIsTheSame) {
    start(with_keys(config("a"), {kKey}), with_keys(config("b"), {kOtherKey, kKey}));
    ASSERT_TRUE(share());
    EXPECT_TRUE(a->peer("b").encrypted && b->peer("a").encrypted);
}

TEST_F(EncryptedLinks, AcrossTheSecondStepOfARotationTheHashKeyIsTheReason) {
    start(with_keys(config("a"), {kOtherKey}), with_keys(config("b"), {kOtherKey, kKey}));
    EXPECT_TRUE(run_until([&] {
        return reason(*a, "b") == "other_hash_key" && reason(*b, "a") == "other_hash_key";
    }));
}

TEST_F(EncryptedLinks, AHelloInTheClearGetsARefusalInTheClear) {
    a = &add(config("a"));
    const std::vector<std::string> keys{kKey};
    const KeyRing ring(keys);
    const Identity self{"b", filled<Instance>(7)};
    const PublisherHello hello(self, ring, "a", filled<Nonce>(1), bloom({128, 4}));
    Bytes frame;
    seal_hello(HelloMessage(hello.hello()), frame);
    const auto answer = answer_to("a", frame);
    ASSERT_GT(answer.size(), kLengthBytes);
    const auto refusal = open_hello(base::ByteView(answer).subspan(kLengthBytes));
    ASSERT_TRUE(refusal);
    EXPECT_EQ(*refusal, HelloMessage(Refusal{Error::not_encrypted}));
}

TEST_F(EncryptedLinks, AConnectionThatIsCutIsNoReasonToDialInTheClear) {
    asio::ip::tcp::acceptor place(helpers_, {asio::ip::make_address(address_of("b")), 3129});
    a = &add(upgrading(config("a")));
    int cuts = 0;
    for (; cuts < 4; ++cuts) {
        std::optional<asio::ip::tcp::socket> taken;
        place.async_accept([&](const auto& error, auto socket) {
            if (!error) taken = std::move(socket);
        });
        ASSERT_TRUE(run_until([&] { return taken && taken->available() > 0; }));
        char first = 0;
        asio::read(*taken, asio::buffer(&first, 1));
        EXPECT_EQ(first, base::kTlsHandshake) << "after " << cuts << " cuts";
    }
    EXPECT_TRUE(run_until([&] { return a->refusals("connection_closed") >= 3; }));
    EXPECT_EQ(a->refusals("tls_failed"), 0U);
}

TEST_F(EncryptedLinks, ADiallerThatHasLeftCostsNoHandshake) {
    a = &add(config("a"));
    asio::ip::tcp::socket client(helpers_);
    client.connect({asio::ip::make_address(address_of("a")), 3129});
    client.non_blocking(true);
    const auto psk = link_tls(a->config);
    base::TlsSession tls(psk->client(0), base::TlsSide::client, client);
    EXPECT_EQ(tls.handshake(), base::TlsSession::Step::wait_read) << "its hello is on the way";
    client.shutdown(asio::ip::tcp::socket::shutdown_send);
    std::size_t answered = 0;
    EXPECT_TRUE(run_until([&] {
        char byte = 0;
        boost::system::error_code error;
        answered += client.read_some(asio::buffer(&byte, 1), error);
        return error && error != asio::error::would_block;
    }));
    EXPECT_EQ(answered, 0U);
    EXPECT_EQ(a->refusals("connection_closed"), 1U);
}

TEST_F(EncryptedLinks, AHandshakeThatStopsEndsAtTheHelloDeadline) {
    auto settings = config("a");
    settings.timings.hello = 200ms;
    a = &add(std::move(settings));
    asio::ip::tcp::socket client(helpers_);
    client.connect({asio::ip::make_address(address_of("a")), 3129});
    asio::write(client, asio::buffer(std::string("\x16\x03\x01\x02", 4)));
    EXPECT_TRUE(run_until([&] { return a->refusals("hello_timeout") == 1; }));
}

}  // namespace encryption_test
}  // namespace protocol::test
