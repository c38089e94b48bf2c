// Peers that hold the key and still say the wrong things, seen from a healthy node.

#include "protocol/links/descriptor_allowance.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/fake_peer.hpp"

namespace protocol::test {
namespace authentic_faults_test {

// Payloads of summary/FORMAT.md, for 128 bits.
const Bytes kSnapshot = unhex("0302058704");
const Bytes kDelta = unhex("010305874402010619");

class AuthenticFaults : public ClusterTest {
protected:
    /// b publishes to a, and nobody listens at its address.
    void fake_publisher() {
        a = &add(config("a"));
        b.dial("a", address_of("a"));
        b.say(SnapshotBegin{1700, 0, 2, bloom({128, 4}), kSnapshot.size()});
        b.say(SnapshotPart{kSnapshot});
        ASSERT_TRUE(run_until([&] { return a->in_sync_with("b"); }));
    }
    void fake_subscriber() { fake_subscriber(config("a")); }
    void fake_subscriber(PeeringConfig publisher) {
        b.listen(address_of("b"));
        a = &add(std::move(publisher));
        ASSERT_TRUE(run_until([&] { return b.heard<SnapshotBegin>() == 1; }));
    }
    std::string end_of_the_link() {
        EXPECT_TRUE(run_until([&] { return b.end().has_value(); }));
        std::string reasons;
        for (const auto& [reason, count] : a->cluster->status().refusals)
            if (reason != "connection_refused") reasons += reason;  // as b listens nowhere
        return reasons;
    }

    FakePeer b{helpers_, "b", kKey};
    TestNode* a = nullptr;
};

TEST_F(AuthenticFaults, AGapIsAnsweredByARequestAndMendedByTheSnapshot) {
    fake_publisher();
    b.say(Delta{1700, 2, kDelta});
    ASSERT_TRUE(run_until([&] { return b.heard<SnapshotRequest>() == 1; }));
    EXPECT_FALSE(a->in_sync_with("b"));
    EXPECT_EQ(a->status_of("b").state, PeerState::waiting_snapshot);
    EXPECT_EQ(a->status_of("b").resyncs, 1U);
    b.say(SnapshotBegin{1700, 2, 2, bloom({128, 4}), kSnapshot.size()});
    b.say(SnapshotPart{kSnapshot});
    EXPECT_TRUE(run_until([&] { return a->in_sync_with("b"); }));
    EXPECT_EQ(a->status_of("b").generation, 2U);
}

TEST_F(AuthenticFaults, AFailedCheckIsAnsweredByARequest) {
    fake_publisher();
    b.say(CheckHash{1700, 0, 12345});
    ASSERT_TRUE(run_until([&] { return b.heard<SnapshotRequest>() == 1; }));
    EXPECT_EQ(a->status_of("b").check_failures, 1U);
}

TEST_F(AuthenticFaults, APublisherThatSpeaksAsASubscriberLosesItsLink) {
    fake_publisher();
    b.say(SnapshotRequest{});
    EXPECT_EQ(end_of_the_link(), "unexpected_frame");
    EXPECT_FALSE(a->in_sync_with("b"));
}

TEST_F(AuthenticFaults, ASummaryThatCannotBeDecodedCostsTheLink) {
    fake_publisher();
    b.say(Delta{1700, 1, kSnapshot});
    EXPECT_EQ(end_of_the_link(), "malformed_summary");
}

TEST_F(AuthenticFaults, AShapeAboveTheLimitCostsTheLinkBeforeItsBytesCome) {
    auto small = config("a");
    small.max_summary_bytes = 1000;
    a = &add(small);
    b.dial("a", address_of("a"));
    b.say(SnapshotBegin{1700, 0, 2, bloom({std::uint64_t{1} << 32, 4}), 1 << 29});
    EXPECT_EQ(end_of_the_link(), "summary_too_large");
}

TEST_F(AuthenticFaults, TwoBytesAreNotBelievedToBeALargeSummary) {
    a = &add(config("a"));
    b.dial("a", address_of("a"));
    static const Bytes nothing_set = unhex("0300");
    b.say(SnapshotBegin{1700, 0, 2, bloom({std::uint64_t{1} << 31, 4}), nothing_set.size()});
    b.say(SnapshotPart{nothing_set});
    EXPECT_EQ(end_of_the_link(), "summary_too_large");
}

TEST_F(AuthenticFaults, ManyObjectsLeaveMoreThanTwoBytes) {
    a = &add(config("a"));
    b.dial("a", address_of("a"));
    static const Bytes nothing_set = unhex("0300");
    b.say(SnapshotBegin{1700, 0, 100'000'000, bloom({std::uint64_t{1} << 31, 4}),
                        nothing_set.size()});
    EXPECT_EQ(end_of_the_link(), "summary_too_large");
}

TEST_F(AuthenticFaults, ShapesThatAlternateCostTheLinkAndReconnectingDoesNotHelp) {
    a = &add(config("a"));
    b.dial("a", address_of("a"));
    std::uint64_t epoch = 1;
    const auto alternate = [&](FakePeer& peer, std::uint64_t one, std::uint64_t other) {
        for (unsigned i = 0; i < 2 * kDescriptorsAtOnce; ++i) {
            const auto shape = bloom({i % 2 == 0 ? one : other, 4});
            peer.say(SnapshotBegin{epoch++, 0, 2, shape, kSnapshot.size()});
            peer.say(SnapshotPart{kSnapshot});
        }
    };
    alternate(b, 128, 256);
    ASSERT_TRUE(run_until([&] { return b.end().has_value(); }));
    const auto refused = a->refusals("too_many_shapes");
    EXPECT_EQ(refused, 1U);
    FakePeer again(helpers_, "b", kKey);
    again.dial("a", address_of("a"));
    alternate(again, 512, 1024);
    ASSERT_TRUE(run_until([&] { return again.end().has_value(); }));
    EXPECT_EQ(a->refusals("too_many_shapes"), refused + 1);
    EXPECT_LT(a->status_of("b").snapshots_received, 2 * kDescriptorsAtOnce) << "in two connections";
}

TEST_F(AuthenticFaults, ARequestIsAnsweredByASnapshot) {
    fake_subscriber();
    b.say(SnapshotRequest{});
    EXPECT_TRUE(run_until([&] { return b.heard<SnapshotBegin>() == 2; }));
    EXPECT_EQ(a->status_of("b").snapshots_sent, 2U);
}

TEST_F(AuthenticFaults, CheckHashesComeThoughNothingChanges) {
    fake_subscriber();
    EXPECT_TRUE(run_until([&] { return b.heard<CheckHash>() >= 1; }));
}

TEST_F(AuthenticFaults, ASubscriberThatSpeaksAsAPublisherLosesItsLink) {
    fake_subscriber();
    b.say(Goodbye{});
    EXPECT_EQ(end_of_the_link(), "unexpected_frame");
}

TEST_F(AuthenticFaults, APeerIsAliveUntilTheTimeOfItsNextHeartbeat) {
    auto hurried = config("a", 3);
    hurried.timings.gone_after = 2 * hurried.timings.heartbeat + 100ms;
    a = &add(hurried);
    FakePeer c(helpers_, "c", kKey);
    for (auto* peer : {&b, &c}) {
        peer->dial("a", address_of("a"));
        peer->say(SnapshotBegin{1700, 0, 2, bloom({128, 4}), kSnapshot.size()});
        peer->say(SnapshotPart{kSnapshot});
    }
    b.say(Heartbeat{1700, 0, 2, kMaxBeatInterval});
    c.say(Heartbeat{1700, 0, 2});
    ASSERT_TRUE(run_until([&] { return c.end().has_value(); }));
    EXPECT_EQ(a->refusals("peer_silent"), 1U);
    EXPECT_FALSE(b.end());
    EXPECT_TRUE(a->in_sync_with("b"));
    // Nor may somebody else take its name.
    FakePeer other(helpers_, "b", kKey);
    other.dial("a", address_of("a"));
    ASSERT_TRUE(run_until([&] { return other.end().has_value(); }));
    EXPECT_EQ(other.end(), Error::duplicate_id);
    EXPECT_FALSE(b.end());
}

TEST_F(AuthenticFaults, ANodeThatListensElsewherePromisesForBothLinks) {
    auto hurried = config("a");
    hurried.timings.gone_after = 2 * hurried.timings.heartbeat + 100ms;
    b.listen(address_of("b"));
    a = &add(hurried);
    b.say(Heartbeat{0, 0, kListensElsewhere, kMaxBeatInterval});
    ASSERT_TRUE(run_until([&] { return b.heard<Heartbeat>() > 10; }));
    EXPECT_FALSE(b.end());
    EXPECT_TRUE(a->status_of("b").publishing);
}

TEST_F(AuthenticFaults, ASubscriberThatSaysNothingIsGivenUp) {
    fake_subscriber(impatient(config("a")));
    EXPECT_EQ(end_of_the_link(), "peer_silent");
}

}  // namespace authentic_faults_test
}  // namespace protocol::test
