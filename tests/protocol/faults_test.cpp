// What peers, networks and configurations do wrong, seen from healthy nodes.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "protocol/frame.hpp"
#include "protocol/subscriber_links.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace {

namespace asio = boost::asio;

using Steady = std::chrono::steady_clock;

class Faults : public ClusterTest {
protected:
    /// a publishes to b through a relay; b publishes to a directly.
    void with_relay() {
        relay = std::make_unique<Relay>(helpers_, address(200), address_of("b"));
        auto dialler = config("a");
        dialler.peers[0].link_host = address(200);
        a = &add(dialler);
        b = &add(config("b"));
        a->store("before");
        ASSERT_TRUE(run_until([&] { return all_in_step() && b->sees("a", "before"); }));
    }

    /// One frame of a given type on its way from a to b comes out as `mangle` says; b ends the link
    /// for `reason`, and then all is well again by itself.
    void expect_repaired(FrameType type, const std::string& reason, const Relay::Mangle& mangle) {
        const auto connects = a->status_of("b").connects;
        bool done = false;
        relay->from_dialler = [&, type](Bytes frame) {
            if (done || type_of_frame(frame) != static_cast<std::uint8_t>(type)) {
                return Frames{std::move(frame)};
            }
            done = true;
            return mangle(std::move(frame));
        };
        if (type == FrameType::delta) {
            for (int i = 0; i < 50; ++i) a->store("mangled " + std::to_string(i));
        }
        ASSERT_TRUE(run_until([&] { return b->refusals(reason) == 1; })) << reason;
        EXPECT_TRUE(run_until([&] {
            return a->status_of("b").connects > connects && all_in_step() &&
                   b->sees("a", "before") &&
                   (type != FrameType::delta || b->sees("a", "mangled 49"));
        }));
        EXPECT_TRUE(a->in_step_with("b"));
    }

    /// Changes what `node` stores: each time by enough for an announcement, and by so little of
    /// the whole that a delta tells it.
    void churn(TestNode& node) {
        const bool first = turns_ == 0;
        for (int i = 0; first && i < 500; ++i) node.store("stays " + std::to_string(i));
        const bool store = turns_++ % 2 == 0;
        for (int i = 0; i < 50; ++i) {
            const auto key = "comes and goes " + std::to_string(i);
            store ? node.store(key) : node.remove(key);
        }
    }

    std::unique_ptr<Relay> relay;
    TestNode* a = nullptr;
    TestNode* b = nullptr;

private:
    int turns_ = 0;
};

TEST_F(Faults, ASummaryNoLongerCountsWhenItsNodeIsKilled) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("theirs");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "theirs"); }));
    b->cluster.reset();
    turn(*b->io);
    b->paused = true;
    EXPECT_TRUE(run_until([&] { return !a->sees("b", "theirs"); }, 200ms));
    EXPECT_FALSE(a->in_step_with("b"));
    EXPECT_TRUE(a->peer("b").token.empty());
    EXPECT_EQ(a->status_of("b").state, PeerState::gone);
}

TEST_F(Faults, AStoppedPeerIsGoneAfterTheSilenceAllowedAndBackWhenItRuns) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("theirs");
    ASSERT_TRUE(run_until([&] { return all_in_step() && a->sees("b", "theirs"); }));
    b->paused = true;
    const auto stopped_at = Steady::now();
    ASSERT_TRUE(run_until([&] { return !a->sees("b", "theirs"); }));
    const auto noticed_after = Steady::now() - stopped_at;
    EXPECT_GE(noticed_after, quick().gone_after - quick().heartbeat * 2);
    EXPECT_LE(noticed_after, quick().gone_after * 2);
    EXPECT_EQ(a->status_of("b").last_error, "peer_silent");
    b->paused = false;
    EXPECT_TRUE(run_until([&] { return all_in_step() && a->sees("b", "theirs"); }));
}

TEST_F(Faults, NothingOfTheEarlierRunSurvivesARestart) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the first run");
    a->store("mine");
    ASSERT_TRUE(
        run_until([&] { return a->sees("b", "of the first run") && b->sees("a", "mine"); }));
    const auto epoch = a->status_of("b").epoch;
    b->restart();
    b->store("of the second run");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the second run"); }));
    EXPECT_FALSE(a->sees("b", "of the first run"));
    EXPECT_GT(a->status_of("b").epoch, epoch);
    EXPECT_TRUE(run_until([&] { return b->sees("a", "mine"); }));
}

TEST_F(Faults, APeerMayComeBackWithAnotherShape) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the first run");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the first run"); }));
    const auto bits = a->status_of("b").bits;
    b->config.false_hit_budget = 0.00001;
    b->restart();
    b->store("of the second run");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the second run"); }));
    EXPECT_FALSE(a->sees("b", "of the first run"));
    EXPECT_GT(a->status_of("b").bits, bits);
}

TEST_F(Faults, ARestartedPeerIsInStepBothWaysLongBeforeTwoSecondsWithDefaultTimings) {
    auto first = config("a");
    auto second = config("b");
    first.timings = second.timings = Timings();
    a = &add(first);
    b = &add(second);
    for (int i = 0; i < 20000; ++i) a->store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    b->kill();
    b->paused = true;
    ASSERT_TRUE(run_until([&] { return !a->in_step_with("b"); }));
    // Long enough away for the other side to dial at its slowest.
    ASSERT_TRUE(run_until([&, since = Steady::now()] { return Steady::now() - since > 1500ms; }));
    b->paused = false;
    const auto back_at = Steady::now();
    b->boot();
    ASSERT_TRUE(run_until([&] { return all_in_step() && b->sees("a", "http://x/19999"); }));
    const auto took = std::chrono::duration<double, std::milli>(Steady::now() - back_at).count();
    RecordProperty("milliseconds_to_in_step", std::to_string(took));
    std::cout << "in step both ways " << took << " ms after the restart\n";
    EXPECT_LT(took, 500);
}

TEST_F(Faults, AWrongKeyIsRefusedAndSaidSoOnBothSides) {
    auto stranger = config("b");
    stranger.keys = {kOtherKey};
    a = &add(config("a"));
    b = &add(stranger);
    EXPECT_TRUE(run_until([&] {
        return a->refusals("wrong_key") > 1 && b->refusals("wrong_key") > 1 &&
               a->status_of("b").last_error == "wrong_key";
    }));
    EXPECT_EQ(a->status_of("b").state, PeerState::refused);
    EXPECT_FALSE(a->in_step_with("b"));
    EXPECT_TRUE(a->peer("b").accepted[0].empty());
}

TEST_F(Faults, AReplayedHelloIsRefused) {
    relay = std::make_unique<Relay>(helpers_, address(200), address_of("b"));
    std::vector<Bytes> recorded;
    relay->from_dialler = [&](Bytes frame) {
        recorded.push_back(frame);
        return Frames{std::move(frame)};
    };
    auto dialler = config("a");
    dialler.peers[0].link_host = address(200);
    a = &add(dialler);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_step() && recorded.size() > 3; }));
    a->kill();
    a->paused = true;
    ASSERT_TRUE(run_until([&] { return b->status_of("a").state == PeerState::gone; }));

    asio::ip::tcp::socket attacker(helpers_);
    attacker.connect({asio::ip::make_address(address_of("b")), 3129});
    for (const auto& frame : recorded) asio::write(attacker, asio::buffer(frame));
    EXPECT_TRUE(run_until([&] { return b->refusals("bad_proof") == 1; }));
    EXPECT_FALSE(b->in_step_with("a"));
    EXPECT_TRUE(b->peer("a").token.empty());
}

TEST_F(Faults, OfTwoNodesWithOneIdTheSecondIsRefused) {
    a = &add(config("a"));
    b = &add(config("b"));
    b->store("of the real b");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "of the real b"); }));
    auto twin = config("b");
    twin.listen_host = address(100);
    auto& second = add(twin);
    second.store("of the twin");
    ASSERT_TRUE(run_until([&] { return a->refusals("duplicate_id") >= 3; }));
    EXPECT_TRUE(a->sees("b", "of the real b"));
    EXPECT_FALSE(a->sees("b", "of the twin"));
    EXPECT_TRUE(a->in_step_with("b"));
    EXPECT_EQ(second.status_of("a").last_error, "duplicate_id");
}

TEST_F(Faults, ANodeThatMeetsItsOwnIdElsewhereRefusesIt) {
    a = &add(config("a"));
    auto twin = config("a");
    twin.listen_host = address(100);
    twin.peers[0].link_host = address_of("a");  // believes that b is there
    auto& second = add(twin);
    EXPECT_TRUE(run_until([&] { return a->refusals("duplicate_id") >= 1; }));
    EXPECT_TRUE(run_until([&] { return second.status_of("b").last_error == "duplicate_id"; }));
}

TEST_F(Faults, ANodeThatListsItselfIgnoresThatEntry) {
    auto listed = config("a");
    listed.peers.insert(listed.peers.begin(), peer_config("a"));
    a = &add(listed);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    EXPECT_EQ(a->view->peers.size(), 1U);
    EXPECT_EQ(a->view->peers[0].node, "b");
    EXPECT_TRUE(a->cluster->status().refusals.empty() || a->refusals("own_id") == 0);
}

TEST_F(Faults, ANodeThatDialsItselfUnderAnotherNameRecognisesItself) {
    auto mirrored = config("a");
    mirrored.peers[0].link_host = address_of("a");
    a = &add(mirrored);
    EXPECT_TRUE(run_until([&] { return a->status_of("b").last_error == "own_id"; }));
    EXPECT_FALSE(a->in_step_with("b"));
}

TEST_F(Faults, ANodeNotInTheListIsRefused) {
    a = &add(config("a"));
    auto unlisted = config("z", 1);
    unlisted.listen_host = address(100);
    auto& z = add(unlisted);
    EXPECT_TRUE(run_until([&] { return z.status_of("a").last_error == "unknown_node"; }));
    EXPECT_GE(a->refusals("unknown_node"), 1U);
}

TEST_F(Faults, AnotherNodeAtTheAddressIsRefused) {
    auto astray = config("a", 3);
    astray.peers[1].link_host = address_of("b");  // c is not there
    a = &add(astray);
    b = &add(config("b", 3));
    EXPECT_TRUE(run_until([&] { return a->status_of("c").last_error == "wrong_node"; }));
    EXPECT_TRUE(run_until([&] { return b->in_step_with("a"); }));
}

TEST_F(Faults, AShapeAboveTheLimitIsRefused) {
    auto small = config("a");
    small.max_summary_bytes = 1000;
    a = &add(small);
    b = &add(config("b"));
    EXPECT_TRUE(run_until([&] { return b->status_of("a").last_error == "shape_refused"; }));
    EXPECT_TRUE(run_until([&] { return b->in_step_with("a"); }));
    EXPECT_FALSE(a->in_step_with("b"));
}

TEST_F(Faults, AShapeThatGrowsAboveTheLimitEndsTheLink) {
    auto small = config("a");
    small.max_summary_bytes = 8000;
    a = &add(small);
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    for (int i = 0; i < 20000; ++i) b->store("http://x/" + std::to_string(i));
    EXPECT_TRUE(run_until([&] { return a->refusals("summary_too_large") >= 1; }));
    EXPECT_TRUE(run_until([&] { return b->status_of("a").last_error == "shape_refused"; }));
}

TEST_F(Faults, ACutFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "connection_closed", [&](Bytes frame) {
        frame.resize(frame.size() / 2);
        asio::post(helpers_, [&] { relay->cut(); });
        return Frames{frame};
    });
}

TEST_F(Faults, AConnectionLostOnOneSideIsReplacedByTheNext) {
    with_relay();
    relay->lose_diallers();
    // b believes the first link alive still, but another of the same run is no other node.
    ASSERT_TRUE(run_until([&] { return b->refusals("superseded") == 1; }));
    a->store("after");
    EXPECT_TRUE(run_until([&] { return all_in_step() && b->sees("a", "after"); }));
    EXPECT_TRUE(b->sees("a", "before"));
    EXPECT_EQ(b->refusals("duplicate_id"), 0U);
    EXPECT_EQ(b->status_of("a").last_error, "");
}

TEST_F(Faults, ARepeatedFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_sequence", [](Bytes frame) {
        return Frames{frame, frame};
    });
}

TEST_F(Faults, ALostFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_sequence", [](const Bytes&) { return Frames(); });
}

TEST_F(Faults, ACorruptedFrameEndsTheLinkWhereverTheBitIs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_tag",
                    [](Bytes frame) { return Frames{flipped(std::move(frame), 30)}; });
    expect_repaired(FrameType::heartbeat, "wrong_version",
                    [](Bytes frame) { return Frames{flipped(std::move(frame), 4)}; });
}

TEST_F(Faults, AFrameLargerThanItsLimitEndsTheLink) {
    with_relay();
    expect_repaired(FrameType::heartbeat, "frame_too_large", [](Bytes frame) {
        frame[0] = std::byte{0x7f};
        return Frames{frame};
    });
}

TEST_F(Faults, AFrameTooShortForItsFieldsEndsTheLink) {
    with_relay();
    expect_repaired(FrameType::heartbeat, "frame_too_short", [](Bytes frame) {
        frame[3] = std::byte{1};
        return Frames{frame};
    });
}

TEST_F(Faults, AnotherVersionIsAnsweredWithARefusalItCanRead) {
    a = &add(config("a"));
    asio::ip::tcp::socket client(helpers_);
    client.connect({asio::ip::make_address(address_of("a")), 3129});
    Bytes hello;
    seal_hello(HelloMessage(Proof()), hello);
    hello[kLengthBytes] = std::byte{99};
    asio::write(client, asio::buffer(hello));
    client.non_blocking(true);
    Bytes answer(64);
    std::size_t size = 0;
    ASSERT_TRUE(run_until([&] {
        boost::system::error_code error;
        size += client.read_some(asio::buffer(answer) + size, error);
        return error == asio::error::eof;
    }));
    ASSERT_EQ(size, kLengthBytes + kHeadBytes + 1);
    const auto refusal = open_hello(ByteView(answer).subspan(kLengthBytes, kHeadBytes + 1));
    ASSERT_TRUE(refusal);
    EXPECT_EQ(*refusal, HelloMessage(Refusal{Error::wrong_version}));
}

TEST_F(Faults, AConnectionThatSaysNothingIsClosedAtTheHelloDeadline) {
    a = &add(config("a"));
    asio::ip::tcp::socket client(helpers_);
    client.connect({asio::ip::make_address(address_of("a")), 3129});
    EXPECT_TRUE(run_until([&] { return a->refusals("hello_timeout") == 1; }));
}

TEST_F(Faults, ConnectionsWithoutAHelloAreLimited) {
    a = &add(config("a"));
    std::vector<asio::ip::tcp::socket> clients;
    for (std::size_t i = 0; i < kMaxHellosAtOnce + 5; ++i) {
        clients.emplace_back(helpers_);
        clients.back().connect({asio::ip::make_address(address_of("a")), 3129});
    }
    EXPECT_TRUE(run_until([&] { return a->refusals("too_many_links") > 0; }));
    clients.clear();
    b = &add(config("b"));
    EXPECT_TRUE(run_until([&] { return all_in_step(); }));
}

TEST_F(Faults, ASubscriberThatDoesNotReadHoldsUpNobodyAndCostsBoundedMemory) {
    relay = std::make_unique<Relay>(helpers_, address(200), address_of("b"));
    auto publisher = config("a", 3);
    publisher.peers[0].link_host = address(200);
    publisher.max_queued_bytes = 20000;
    publisher.timings.gone_after = 10s;  // so that it is not simply dropped
    a = &add(publisher);
    b = &add(config("b", 3));
    auto& c = add(config("c", 3));
    b->config.timings.gone_after = 10s;
    b->restart();
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    const auto connects = a->status_of("b").connects;
    relay->deaf = true;
    ASSERT_TRUE(run_until([&] {
        churn(*a);
        return a->status_of("b").overflows > 0;
    }));
    a->store("last");
    EXPECT_TRUE(run_until([&] { return c.sees("a", "last"); }));
    EXPECT_FALSE(b->sees("a", "last"));
    relay->deaf = false;
    EXPECT_TRUE(run_until([&] { return b->in_step_with("a") && b->sees("a", "last"); }));
    EXPECT_EQ(a->status_of("b").connects, connects);  // all that on one link
}

TEST_F(Faults, APeerThatTakesNothingMoreIsDropped) {
    with_relay();
    b->config.timings.gone_after = 10s;  // so that it is a that gives up
    b->restart();
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    relay->deaf = true;
    EXPECT_TRUE(run_until([&] {
        churn(*a);
        return a->refusals("peer_not_reading") > 0;
    }));
    EXPECT_TRUE(a->in_step_with("b"));  // the other direction is another link
    relay->deaf = false;
    EXPECT_TRUE(run_until([&] { return all_in_step() && b->sees("a", "before"); }));
}

TEST_F(Faults, KeysRotateWhileTheClusterWorks) {
    const auto use = [](TestNode& node, std::vector<std::string> keys) {
        node.config.keys = std::move(keys);
        node.restart();
    };
    a = &add(config("a"));
    b = &add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_step(); }));
    use(*a, {kOtherKey, kKey});
    a->store("x");
    ASSERT_TRUE(run_until([&] { return all_in_step() && b->sees("a", "x"); }));
    use(*b, {kOtherKey, kKey});
    b->store("y");
    ASSERT_TRUE(run_until([&] { return all_in_step() && a->sees("b", "y"); }));
    use(*a, {kOtherKey});  // hashes under the new secret: not comparable until b does so too
    ASSERT_TRUE(run_until([&] { return b->refusals("other_hash_key") > 0; }));
    EXPECT_FALSE(b->in_step_with("a"));
    use(*b, {kOtherKey});
    b->store("z");
    ASSERT_TRUE(run_until([&] { return all_in_step() && a->sees("b", "z"); }));
}

}  // namespace
}  // namespace protocol::test
