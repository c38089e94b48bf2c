// Faults of peers and their configurations, seen from healthy nodes.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace faults_test {

namespace asio = boost::asio;

using Steady = std::chrono::steady_clock;

class Faults : public ClusterTest {
protected:
    TestNode* a = nullptr;
    TestNode* b = nullptr;
};

TEST_F(Faults, ASummaryNoLongerCountsWhenItsNodeIsKilled) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("theirs");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "theirs"); }));
    b->cluster->stop();
    b->cluster.reset();
    turn(*b->io);
    b->paused = true;
    EXPECT_TRUE(run_until([&] { return !a->sees("b", "theirs"); }));
    EXPECT_FALSE(a->in_sync_with("b"));
    EXPECT_TRUE(a->peer("b").token.empty());
    EXPECT_EQ(a->status_of("b").state, PeerState::gone);
}

TEST_F(Faults, AStoppedPeerIsGoneAfterTheSilenceAllowedAndBackWhenItRuns) {
    a = &add(impatient(config("a")));
    b = &add(config("b"));
    b->store("theirs");
    ASSERT_TRUE(run_until([&] { return all_in_sync() && a->sees("b", "theirs"); }));
    b->paused = true;
    const auto stopped_at = Steady::now();
    ASSERT_TRUE(run_until([&] { return !a->sees("b", "theirs"); }));
    const auto noticed_after = Steady::now() - stopped_at;
    EXPECT_GE(noticed_after, a->config.timings.gone_after / 2);  // the last word was before
    EXPECT_EQ(a->status_of("b").last_end.reason(), "peer_silent");
    b->paused = false;
    EXPECT_TRUE(run_until([&] { return all_in_sync() && a->sees("b", "theirs"); }));
}

TEST_F(Faults, ARestartKeepsNoStateOfTheEarlierInstance) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the first instance");
    a->store("mine");
    ASSERT_TRUE(
        run_until([&] { return a->sees("b", "of the first instance") && b->sees("a", "mine"); }));
    const auto epoch = a->status_of("b").epoch;
    b->restart();
    b->store("of the second instance");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the second instance"); }));
    EXPECT_FALSE(a->sees("b", "of the first instance"));
    EXPECT_GT(a->status_of("b").epoch, epoch);
    EXPECT_TRUE(run_until([&] { return b->sees("a", "mine"); }));
}

TEST_F(Faults, APeerMayComeBackWithAnotherShape) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the first instance");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the first instance"); }));
    const auto bits = a->status_of("b").bits;
    b->config.summary.false_hit_budget = 0.00001;
    b->restart();
    b->store("of the second instance");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the second instance"); }));
    EXPECT_FALSE(a->sees("b", "of the first instance"));
    EXPECT_GT(a->status_of("b").bits, bits);
}

TEST_F(Faults, ARestartedPeerIsInStepBothWaysAsSoonAsItIsHeardOf) {
    auto first = config("a");
    first.timings.reconnect_min = first.timings.reconnect_max = 10min;
    a = &add(first);
    b = &add(config("b"));
    for (int i = 0; i < 20000; ++i) a->store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto connects = a->status_of("b").connects;
    b->kill();
    b->paused = true;
    ASSERT_TRUE(run_until([&] { return !a->in_sync_with("b") && !a->status_of("b").publishing; }));
    b->paused = false;
    b->boot();
    // By itself, a would dial again in ten minutes.
    EXPECT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "http://x/19999"); }));
    EXPECT_EQ(a->status_of("b").connects, connects + 1);
}

TEST_F(Faults, AWrongKeyIsRefusedAndSaidSoOnBothSides) {
    auto stranger = config("b");
    stranger.security.keys = {kOtherKey};
    a = &add(config("a"));
    b = &add(stranger);
    EXPECT_TRUE(run_until([&] {
        return a->refusals("wrong_key") > 1 && b->refusals("wrong_key") > 1 &&
               a->status_of("b").last_end.reason() == "wrong_key";
    }));
    EXPECT_EQ(a->status_of("b").state, PeerState::refused);
    EXPECT_FALSE(a->in_sync_with("b"));
    EXPECT_TRUE(a->peer("b").accepted[0].empty());
}

TEST_F(Faults, AReplayedHelloIsRefused) {
    encrypt_ = false;  // for the relay
    std::vector<Bytes> recorded;
    Relay relay(helpers_, address(200), address_of("b"));
    relay.from_dialler = [&](Bytes frame) {
        recorded.push_back(frame);
        return Frames{std::move(frame)};
    };
    auto dialler = config("a");
    dialler.peers[0].link.host = address(200);
    a = &add(dialler);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync() && recorded.size() > 3; }));
    a->kill();
    a->paused = true;
    ASSERT_TRUE(run_until([&] { return b->status_of("a").state == PeerState::gone; }));

    asio::ip::tcp::socket attacker(helpers_);
    attacker.connect({asio::ip::make_address(address_of("b")), 3129});
    for (const auto& frame : recorded) asio::write(attacker, asio::buffer(frame));
    EXPECT_TRUE(run_until([&] { return b->refusals("bad_proof") == 1; }));
    EXPECT_FALSE(b->in_sync_with("a"));
    EXPECT_TRUE(b->peer("a").token.empty());
}

TEST_F(Faults, OfTwoNodesWithOneIdTheSecondIsRefused) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the real b");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the real b"); }));
    auto twin = config("b");
    twin.listen->host = address(100);
    auto& second = add(twin);
    second.store("of the twin");
    ASSERT_TRUE(run_until([&] { return a->refusals("duplicate_id") >= 3; }));
    EXPECT_TRUE(a->sees("b", "of the real b"));
    EXPECT_FALSE(a->sees("b", "of the twin"));
    EXPECT_TRUE(a->in_sync_with("b"));
    EXPECT_EQ(second.status_of("a").last_end.reason(), "duplicate_id");
}

TEST_F(Faults, ANodeThatMeetsItsOwnIdElsewhereRefusesIt) {
    a = &add(config("a"));
    auto twin = config("a");
    twin.listen->host = address(100);
    twin.peers[0].link.host = address_of("a");  // believes that b is there
    auto& second = add(twin);
    EXPECT_TRUE(run_until([&] { return a->refusals("duplicate_id") >= 1; }));
    EXPECT_TRUE(
        run_until([&] { return second.status_of("b").last_end.reason() == "duplicate_id"; }));
}

TEST_F(Faults, ANodeThatListsItselfIgnoresThatEntry) {
    auto listed = config("a");
    listed.peers.insert(listed.peers.begin(), peer_config("a"));
    a = &add(listed);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    EXPECT_EQ(a->view->peers.size(), 1U);
    EXPECT_EQ(a->view->peers[0].node, "b");
    EXPECT_TRUE(a->cluster->status().refusals.empty() || a->refusals("own_id") == 0);
}

TEST_F(Faults, ANodeThatDialsItselfUnderAnotherNameRecognisesItself) {
    auto mirrored = config("a");
    mirrored.peers[0].link.host = address_of("a");
    a = &add(mirrored);
    EXPECT_TRUE(run_until([&] { return a->status_of("b").last_end.reason() == "own_id"; }));
    EXPECT_FALSE(a->in_sync_with("b"));
}

TEST_F(Faults, ANodeNotInTheListIsRefused) {
    a = &add(config("a"));
    auto unlisted = config("z", 1);
    unlisted.listen->host = address(100);
    auto& z = add(unlisted);
    EXPECT_TRUE(run_until([&] { return z.status_of("a").last_end.reason() == "unknown_node"; }));
    EXPECT_EQ(z.status_of("a").state, PeerState::refused) << "by a, which does not dial it";
    EXPECT_GE(a->refusals("unknown_node"), 1U);
}

TEST_F(Faults, AnotherNodeAtTheAddressIsRefused) {
    auto astray = config("a", 3);
    astray.peers[1].link.host = address_of("b");  // c is not there
    a = &add(astray);
    b = &add(config("b", 3));
    EXPECT_TRUE(run_until([&] { return a->status_of("c").last_end.reason() == "wrong_node"; }));
    EXPECT_TRUE(run_until([&] { return b->in_sync_with("a"); }));
}

TEST_F(Faults, AShapeAboveTheLimitIsRefused) {
    auto small = config("a");
    small.max_summary_bytes = 1000;
    a = &add(small);
    b = &add(config("b"));
    EXPECT_TRUE(run_until([&] { return b->status_of("a").last_end.reason() == "shape_refused"; }));
    EXPECT_TRUE(run_until([&] { return b->in_sync_with("a"); }));
    EXPECT_FALSE(a->in_sync_with("b"));
}

TEST_F(Faults, AShapeThatGrowsAboveTheLimitEndsTheLink) {
    auto small = config("a");
    small.max_summary_bytes = 8000;
    a = &add(small);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    for (int i = 0; i < 20000; ++i) b->store("http://x/" + std::to_string(i));
    EXPECT_TRUE(run_until([&] { return a->refusals("summary_too_large") >= 1; }));
    EXPECT_TRUE(run_until([&] { return b->status_of("a").last_end.reason() == "shape_refused"; }));
}

TEST_F(Faults, AOneWayLinkIsExplainedAtTheEndThatMissesIt) {
    auto harmed = impatient(config("a"));
    auto astray = impatient(config("b"));
    astray.peers[0].link.port = 3130;  // nobody listens there
    a = &add(harmed);
    b = &add(astray);
    ASSERT_TRUE(run_until([&] { return a->status_of("b").state == PeerState::one_way; }));
    ASSERT_TRUE(run_until([&] {
        return a->status_of("b").cause.find("(connection_refused)") != std::string::npos;
    })) << a->status_of("b").cause;
    EXPECT_TRUE(a->status_of("b").publishing);
    EXPECT_FALSE(a->peer("b").can_be_asked());
    EXPECT_EQ(b->status_of("a").state, PeerState::in_sync) << "it shares well";
    EXPECT_NE(b->status_of("a").cause, "");
    b->config.peers[0].link.port = 3129;
    b->restart();
    EXPECT_TRUE(run_until([&] { return all_in_sync() && a->status_of("b").cause.empty(); }));
}

TEST_F(Faults, AKeyThatWasCorrectedIsNotCalledWrongAnyMore) {
    auto stranger = impatient(config("b"));
    stranger.security.keys = {kOtherKey};
    a = &add(impatient(config("a")));
    b = &add(stranger);
    ASSERT_TRUE(run_until([&] {
        return a->status_of("b").state == PeerState::refused && a->refusals("wrong_key") > 1;
    }));
    EXPECT_EQ(a->status_of("b").last_end.reason(), "wrong_key");
    b->config.security.keys = {kKey};
    b->config.peers[0].link.port = 3130;  // nobody listens there: it comes no more
    b->restart();
    ASSERT_TRUE(run_until([&] { return a->status_of("b").state == PeerState::one_way; }));
    EXPECT_EQ(a->status_of("b").last_end.reason(), "");
}

TEST_F(Faults, KeysRotateWhileTheClusterWorks) {
    const auto use = [](TestNode& node, std::vector<std::string> keys) {
        node.config.security.keys = std::move(keys);
        node.restart();
    };
    a = &add(config("a"));
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    use(*a, {kOtherKey, kKey});
    a->store("x");
    ASSERT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "x"); }));
    use(*b, {kOtherKey, kKey});
    b->store("y");
    ASSERT_TRUE(run_until([&] { return all_in_sync() && a->sees("b", "y"); }));
    use(*a, {kOtherKey});  // hashes under the new secret: not comparable until b does so too
    ASSERT_TRUE(run_until([&] { return b->refusals("other_hash_key") > 0; }));
    EXPECT_FALSE(b->in_sync_with("a"));
    use(*b, {kOtherKey});
    b->store("z");
    ASSERT_TRUE(run_until([&] { return all_in_sync() && a->sees("b", "z"); }));
}

}  // namespace faults_test
}  // namespace protocol::test
