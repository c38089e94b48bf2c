#include "base/tls/psk_context.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/base/psks.hpp"
#include "tests/base/tls_pair.hpp"

namespace base::test {
namespace psk_context_test {

using Step = TlsSession::Step;

const std::string kOld = "an old cluster key of the tests, 32 bytes+";
const std::string kNew = "a new cluster key of the tests, 32 bytes+";

using Pair = TlsPair;

TEST(PskContext, BothSidesAgreeByTheSameKey) {
    const PskContext one(keys_of({kOld})), other(keys_of({kOld}));
    Pair pair(one.server(), other.client());
    pair.shake_hands();
    ASSERT_TRUE(pair.agreed()) << pair.at_client->why() << ", " << pair.at_server->why();
    std::size_t bytes = 0;
    const std::string said = "something between nodes";
    ASSERT_EQ(pair.at_client->write(boost::asio::buffer(said), bytes), Step::done);
    std::string heard(100, '\0');
    auto step = Step::wait_read;
    while (waits(step)) step = pair.at_server->read(boost::asio::buffer(heard), bytes);
    EXPECT_EQ(heard.substr(0, bytes), said);
}

TEST(PskContext, NothingButTheKeyServes) {
    const PskContext one(keys_of({kOld})), other(keys_of({kNew}));
    Pair pair(one.server(), other.client());
    pair.shake_hands();
    EXPECT_EQ(pair.client, Step::failed);
    EXPECT_EQ(pair.server, Step::failed);
    EXPECT_TRUE(pair.at_client->found_nothing_in_common()) << pair.at_client->why();
    EXPECT_TRUE(pair.at_server->found_nothing_in_common()) << pair.at_server->why();
}

TEST(PskContext, AClientWithoutAnyKeyFails) {
    const PskContext context(keys_of({kOld}));
    const auto stranger = new_tls_context(TlsSide::client);
    Pair pair(context.server(), *stranger);
    pair.shake_hands();
    EXPECT_EQ(pair.client, Step::failed);
    EXPECT_EQ(pair.server, Step::failed);
}

TEST(PskContext, TheSameIdentityWithAnotherSecretFails) {
    auto forged = keys_of({kOld});
    forged[0].secret[0] ^= std::byte{1};
    const PskContext context(keys_of({kOld})), forger(std::move(forged));
    Pair pair(context.server(), forger.client());
    pair.shake_hands();
    EXPECT_EQ(pair.client, Step::failed);
    EXPECT_EQ(pair.server, Step::failed);
}

TEST(PskContext, AServerTakesEachOfItsKeysAndAClientOffersTheLast) {
    const PskContext both(keys_of({kNew, kOld})), old(keys_of({kOld})), fresh(keys_of({kNew}));
    for (const auto* other : {&old, &fresh}) {
        Pair pair(both.server(), other->client());
        pair.shake_hands();
        EXPECT_TRUE(pair.agreed());
    }
    Pair last(old.server(), both.client());
    last.shake_hands();
    EXPECT_TRUE(last.agreed());
    Pair chosen(fresh.server(), both.client(0));
    chosen.shake_hands();
    EXPECT_TRUE(chosen.agreed());
}

TEST(PskContext, BytesThatWereReadBeforeBelongToTheHandshake) {
    const PskContext context(keys_of({kOld}));
    Pair pair(context.server(), context.client());
    pair.client = pair.at_client->handshake();
    std::string first(20, '\0');
    ASSERT_EQ(pair.accepted.read_some(boost::asio::buffer(first)), first.size());
    pair.at_server.emplace(context.server(), TlsSide::server, pair.accepted, first);
    pair.shake_hands();
    EXPECT_TRUE(pair.agreed()) << pair.at_server->why();
}

}  // namespace psk_context_test
}  // namespace base::test
