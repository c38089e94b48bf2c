#include "protocol/links/subscriber_end.hpp"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>

#include "protocol/links/dial_report.hpp"
#include "tests/protocol/link_ends.hpp"

namespace protocol::test {
namespace subscriber_end_test {

/// b is dialled by a.
class SubscriberEndTest : public ::testing::Test {
protected:
    /// Another connection from a, up to where all that was to be said now is said.
    struct Connection {
        Connection(MachineNode& a, MachineNode& b, TimePoint now = kNow)
            : publishing(a, b.state.self.node, now), end(subscribing(b, now)) {
            exchange(*publishing.end, *end, now);
        }
        Publishing publishing;
        std::unique_ptr<SubscriberEnd> end;
    };
    /// Everything up to the proof of a node that dials.
    Proof proof_for(SubscriberEnd& end, Publishing& publishing) {
        end.on_hello(HelloMessage(says<Hello>(*publishing.end)), kNow);
        publishing.end->on_hello(HelloMessage(says<Challenge>(end)), kNow);
        return says<Proof>(*publishing.end);
    }

    MachineNode a{"a", "b", 1}, b{"b", "a", 2};
};

TEST_F(SubscriberEndTest, ChallengesWelcomesAndFollows) {
    Publishing publishing(a);
    const auto end = subscribing(b);
    EXPECT_FALSE(end->next(kNow)) << "who dials speaks first";
    EXPECT_EQ(end->due(), TimePoint::max());
    const auto proof = proof_for(*end, publishing);
    EXPECT_EQ(b.report().state, PeerState::connecting) << "it has proved nothing yet";
    EXPECT_EQ(b.state.hello_backlog.size(), 1U);
    EXPECT_TRUE(end->awaits_proof());
    EXPECT_FALSE(end->tags());
    end->on_hello(HelloMessage(proof), kNow);
    EXPECT_TRUE(end->tags() && end->greeted());
    EXPECT_FALSE(end->awaits_proof());
    EXPECT_EQ(b.state.hello_backlog.size(), 0U);
    EXPECT_EQ(b.times_heard_of, 1);
    EXPECT_EQ(b.report().state, PeerState::waiting_snapshot);
    publishing.end->on_message(says<Welcome>(*end), kNow);
    const auto beat = says<Heartbeat>(*end);
    EXPECT_EQ(beat.objects, kListensElsewhere);
    EXPECT_EQ(beat.features & kResumes, kResumes);
    publishing.end->on_message(beat, kNow);
    pass(*publishing.end, *end, kNow);
    EXPECT_EQ(b.times_in_sync, 1);
    EXPECT_EQ(b.report().state, PeerState::in_sync);
    EXPECT_TRUE(b.state.neighbours.take_view()->peers[0].in_sync);
}

TEST_F(SubscriberEndTest, SaysWhyItRefuses) {
    MachineNode other("a", "b", 3, "another cluster key, also 32 bytes and more");
    Publishing publishing(other);
    const auto end = subscribing(b);
    end->on_hello(HelloMessage(says<Hello>(*publishing.end)), kNow);
    EXPECT_LE(end->due(), kNow);
    EXPECT_EQ(says<Refusal>(*end).reason, Error::wrong_key);
    EXPECT_EQ(over(*end), Error::wrong_key);
    EXPECT_FALSE(end->awaits_proof());
    end->over_because(over(*end), kNow);
    EXPECT_EQ(b.report().state, PeerState::connecting) << "anybody may call himself a";
    EXPECT_EQ(b.report().last_end.reason(), "");
}

TEST_F(SubscriberEndTest, AStrangerChangesNothingOfWhatIsKnownOfAPeer) {
    {
        Connection link(a, b);
        link.publishing.end->say_goodbye();
        pass(*link.publishing.end, *link.end, kNow);
        link.end->over_because(over(*link.end), kNow);
    }
    ASSERT_EQ(b.report().state, PeerState::withdrawn);
    MachineNode stranger("a", "b", 3, "another cluster key, also 32 bytes and more");
    {
        Publishing publishing(stranger);
        const auto end = subscribing(b, kNow + 1s);
        end->on_hello(HelloMessage(says<Hello>(*publishing.end)), kNow + 1s);
        EXPECT_EQ(over(*end), Error::wrong_key);
        end->over_because(over(*end), kNow + 1s);
    }
    {  // It has seen a hello of a's, and does not know the key.
        Publishing publishing(a);
        const auto end = subscribing(b, kNow + 1s);
        auto proof = proof_for(*end, publishing);
        EXPECT_EQ(b.report().state, PeerState::withdrawn);
        proof.mac[0] ^= std::byte{1};
        end->on_hello(HelloMessage(proof), kNow + 1s);
        end->over_because(over(*end), kNow + 1s);
    }
    EXPECT_EQ(b.report().state, PeerState::withdrawn);
    EXPECT_EQ(b.report().last_end.reason(), "goodbye");
}

TEST_F(SubscriberEndTest, APeerWhoseSummaryIsOutOfLimitsIsRefusedOnceItHasProvedItself) {
    b.state.rules.max_summary_bytes = 1;
    Publishing publishing(a);
    const auto end = subscribing(b);
    const auto proof = proof_for(*end, publishing);
    end->on_hello(HelloMessage(proof), kNow);
    publishing.end->on_hello(HelloMessage(says<Refusal>(*end)), kNow);
    EXPECT_EQ(over(*publishing.end), Error::shape_refused);
    end->over_because(over(*end), kNow);
    EXPECT_EQ(b.report().state, PeerState::refused);
    EXPECT_EQ(b.report().last_end.reason(), "shape_refused");
}

TEST_F(SubscriberEndTest, AFalseProofIsRefused) {
    Publishing publishing(a);
    const auto end = subscribing(b);
    auto proof = proof_for(*end, publishing);
    proof.mac[0] ^= std::byte{1};
    end->on_hello(HelloMessage(proof), kNow);
    EXPECT_EQ(says<Refusal>(*end).reason, Error::bad_proof);
    EXPECT_EQ(over(*end), Error::bad_proof);
    EXPECT_FALSE(end->tags());
    EXPECT_EQ(b.times_heard_of, 0);
}

TEST_F(SubscriberEndTest, OfWhatIsNoHelloOnlyWhatTravelsIsSaid) {
    const auto old = subscribing(b);
    old->on_hello(make_error_code(Error::wrong_version), kNow);
    EXPECT_EQ(says<Refusal>(*old).reason, Error::wrong_version);
    const auto garbled = subscribing(b);
    garbled->on_hello(make_error_code(Error::malformed_frame), kNow);
    EXPECT_FALSE(garbled->next(kNow));
    EXPECT_EQ(over(*garbled), Error::malformed_frame);
    const auto late = subscribing(b);
    late->on_hello(HelloMessage(Proof{}), kNow);  // without a hello
    EXPECT_EQ(over(*late), Error::unexpected_frame);
}

TEST_F(SubscriberEndTest, TheHelloHasItsTimeFromTheConnectionOn) {
    Publishing publishing(a);
    const auto end = subscribing(b);
    const auto limit = kNow + b.state.config.timings.hello;
    proof_for(*end, publishing);
    EXPECT_FALSE(end->over(limit - 1ns));
    EXPECT_EQ(over(*end, limit), Error::hello_timeout);
}

TEST_F(SubscriberEndTest, AnotherConnectionOfTheSameRunTakesThePlaceOfTheFirst) {
    Connection first(a, b);
    Connection second(a, b);
    EXPECT_EQ(over(*first.end), Error::superseded);
    EXPECT_TRUE(first.end->closed());
    EXPECT_FALSE(second.end->over(kNow));
    EXPECT_EQ(b.times_left, 1);
    first.end->over_because(make_error_code(Error::superseded), kNow);
    first.end.reset();
    EXPECT_EQ(b.report().state, PeerState::in_sync) << "the end of the first is not the peer's";
    EXPECT_EQ(b.report().last_end.reason(), "");
    EXPECT_EQ(b.report().snapshots_received, 1U) << "the second went on from the first";
}

TEST_F(SubscriberEndTest, AnotherInstanceTakesThePlaceOnlyOfOneThatIsNotPlainlyAlive) {
    Connection first(a, b);
    MachineNode twin("a", "b", 9);
    Publishing dials(twin);
    const auto end = subscribing(b);
    const auto proof = proof_for(*end, dials);
    end->on_hello(HelloMessage(proof), kNow + 1s);
    EXPECT_EQ(says<Refusal>(*end).reason, Error::duplicate_id);
    EXPECT_FALSE(first.end->over(kNow + 1s));

    Publishing again(twin);
    const auto later = subscribing(b);
    const auto second_proof = proof_for(*later, again);
    later->on_hello(HelloMessage(second_proof), kNow + 1min);
    says<Welcome>(*later, kNow + 1min);
    EXPECT_EQ(over(*first.end), Error::superseded);
}

TEST_F(SubscriberEndTest, MessagesOfAReplacedLinkDoNotCount) {
    Connection first(a, b);
    Connection second(a, b);
    a.invalidate(7);
    first.end->on_message(Invalidate{1, {summary::KeyHash{7, 7}}, {}}, kNow);
    EXPECT_TRUE(b.dropped.keys.empty());
    EXPECT_FALSE(first.end->next(kNow + 1h)) << "nor is it confirmed";
}

TEST_F(SubscriberEndTest, ConfirmsWhatHasBeenDroppedAheadOfAllElse) {
    Connection link(a, b);
    link.end->on_message(Invalidate{1, {summary::KeyHash{7, 7}}, {}}, kNow + 10s);
    EXPECT_EQ(b.dropped.keys.size(), 1U);
    EXPECT_EQ(says<Confirm>(*link.end, kNow + 10s).last, 1U);
    says<Heartbeat>(*link.end, kNow + 10s);
    // Over the next connection of the same instance it is confirmed again, and not done again.
    Connection next(a, b);
    next.end->on_message(Invalidate{1, {summary::KeyHash{7, 7}}, {}}, kNow + 10s);
    EXPECT_EQ(b.dropped.keys.size(), 1U);
    EXPECT_EQ(says<Confirm>(*next.end, kNow + 10s).last, 1U);
}

TEST_F(SubscriberEndTest, ConfirmsWhatIsKeptAndNotWhatIsHeard) {
    b.keeps_late = true;
    Connection link(a, b);
    a.invalidate(7);
    a.invalidate(8);
    exchange(*link.publishing.end, *link.end);
    EXPECT_EQ(b.dropped.keys.size(), 2U);
    EXPECT_EQ(a.state.invalidations.pending(0), 2U);
    ASSERT_EQ(b.to_keep.size(), 1U) << "both came in one message";
    b.to_keep[0]();
    EXPECT_LE(link.end->due(), kNow);
    exchange(*link.publishing.end, *link.end);
    EXPECT_EQ(a.state.invalidations.pending(0), 0U);
    EXPECT_EQ(link.publishing.owner.confirmations, 1);
}

TEST_F(SubscriberEndTest, TheNextLinkConfirmsInvalidationsKeptAfterTheLast) {
    b.keeps_late = true;
    {
        Connection link(a, b);
        a.invalidate(7);
        exchange(*link.publishing.end, *link.end);
    }
    Connection next(a, b);
    EXPECT_EQ(b.dropped.keys.size(), 1U) << "it has been sent again, and is not done again";
    EXPECT_EQ(a.state.invalidations.pending(0), 1U);
    b.to_keep[0]();
    exchange(*next.publishing.end, *next.end);
    EXPECT_EQ(a.state.invalidations.pending(0), 0U);
}

TEST_F(SubscriberEndTest, AnInvalidationKeptBetweenTwoLinksIsConfirmedWhenItIsSentAgain) {
    b.keeps_late = true;
    {
        Connection link(a, b);
        a.invalidate(7);
        exchange(*link.publishing.end, *link.end);
    }
    b.to_keep[0]();
    Connection next(a, b);
    EXPECT_EQ(b.dropped.keys.size(), 1U);
    EXPECT_EQ(a.state.invalidations.pending(0), 0U);
}

TEST_F(SubscriberEndTest, ConfirmationsForAnEarlierInstanceOfThePublisherSkipTheNextOne) {
    b.keeps_late = true;
    Connection link(a, b);
    a.invalidate(7);
    exchange(*link.publishing.end, *link.end);
    MachineNode again("a", "b", 3);
    again.invalidate(8);
    Connection next(again, b, kNow + 1min);
    EXPECT_EQ(b.dropped.keys.size(), 2U);
    b.to_keep[0]();
    exchange(*next.publishing.end, *next.end, kNow + 1min);
    EXPECT_EQ(again.state.invalidations.pending(0), 1U);
    b.to_keep[1]();
    exchange(*next.publishing.end, *next.end, kNow + 1min);
    EXPECT_EQ(again.state.invalidations.pending(0), 0U);
}

TEST_F(SubscriberEndTest, AnInvalidationWithoutARecipientStaysUnconfirmed) {
    Connection link(a, b);
    b.feeds.close();
    link.end->on_message(Invalidate{1, {summary::KeyHash{7, 7}}, {}}, kNow);
    EXPECT_TRUE(b.dropped.keys.empty());
    EXPECT_EQ(over(*link.end), boost::asio::error::operation_aborted);
    EXPECT_FALSE(link.end->next(kNow));
}

TEST_F(SubscriberEndTest, SilenceIsTheEndAndWhatWasSaidOnTheOtherLinkDoesNotCountHere) {
    Connection link(a, b);
    const auto limit = kNow + b.state.silence_limit(0);
    EXPECT_FALSE(link.end->over(limit - 1ns));
    EXPECT_EQ(over(*link.end, limit), Error::peer_silent);
    link.end->on_message(Heartbeat{}, limit - 1ns);
    EXPECT_FALSE(link.end->over(limit));
}

TEST_F(SubscriberEndTest, BeatsOnceAndThenOnlyIfItIsNotHeardElsewhere) {
    Connection link(a, b);
    auto due = link.end->due();
    says<Heartbeat>(*link.end, due);
    b.state.pulse(0).listens_elsewhere = true;
    due = link.end->due();
    EXPECT_FALSE(link.end->next(due));
    EXPECT_EQ(link.end->due(), TimePoint::max());
    b.state.pulse(0).listens_elsewhere = false;
    says<Heartbeat>(*link.end, due + b.state.beat_interval);
}

TEST_F(SubscriberEndTest, WakesItsLinkWhenItIsHeardElsewhereNoMore) {
    struct Wakes final : LinkEnd::Driver {
        void woken() override { ++times; }
        int times = 0;
    } wakes;
    Connection link(a, b);
    link.end->set_driver(&wakes);
    Publishing back(b, "a");
    const auto end = subscribing(a);
    exchange(*back.end, *end);
    EXPECT_TRUE(b.state.pulse(0).listens_elsewhere);
    wakes.times = 0;
    back.end->leave();
    EXPECT_EQ(wakes.times, 1);
    link.end->set_driver(nullptr);
}

TEST_F(SubscriberEndTest, AGoodbyeAndABreakLeadToDifferentStates) {
    Connection link(a, b);
    link.publishing.end->say_goodbye();
    pass(*link.publishing.end, *link.end, kNow);
    EXPECT_EQ(over(*link.end), Error::goodbye);
    link.end->over_because(over(*link.end), kNow);
    EXPECT_EQ(b.report().state, PeerState::withdrawn);
    EXPECT_EQ(b.times_left, 1);
    EXPECT_EQ(b.state.neighbours.take_view()->peers[0].token, "");

    Connection broken(a, b);
    broken.end->over_because(make_error_code(Error::connection_closed), kNow);
    EXPECT_EQ(b.report().state, PeerState::gone);
    EXPECT_EQ(b.report().last_end.reason(), "connection_closed");
}

TEST_F(SubscriberEndTest, APeerThatHasLeftIsKnownToHaveUntilItIsBack) {
    {
        Connection link(a, b);
        link.publishing.end->say_goodbye();
        pass(*link.publishing.end, *link.end, kNow);
        link.end->over_because(over(*link.end), kNow);
        EXPECT_TRUE(b.state.pulse(0).said_goodbye);
    }
    Connection back(a, b);
    EXPECT_FALSE(b.state.pulse(0).said_goodbye);
    back.end->over_because(make_error_code(Error::connection_closed), kNow);
    EXPECT_FALSE(b.state.pulse(0).said_goodbye) << "its link broke";
}

TEST_F(SubscriberEndTest, ALinkWithTheKeyDisprovesWhatWasSaidOfKeysBefore) {
    const auto after = [&](const boost::system::error_code& error, TimePoint at) {
        ClusterStatus::Peer peer;
        peer.last_end = {error, at};
        b.feeds.add_to(0, kNow + 1min, peer);
        return peer.last_end.reason();
    };
    EXPECT_EQ(after(Error::wrong_key, kNow - 1s), "wrong_key");
    Connection link(a, b);
    EXPECT_EQ(after(Error::wrong_key, kNow - 1s), "");
    EXPECT_EQ(after(Error::other_hash_key, kNow - 1s), "");
    EXPECT_EQ(after(Error::wrong_key, kNow + 1s), "wrong_key") << "it is newer";
    EXPECT_EQ(after(Error::unknown_node, kNow - 1s), "unknown_node") << "that is no matter of keys";
    EXPECT_EQ(after(base::Error::connect_timeout, kNow - 1s), "connect_timeout");
}

TEST_F(SubscriberEndTest, APeerThatHasLeftStaysLeftWhateverItsPlaceAnswers) {
    {
        Connection link(a, b);
        link.publishing.end->say_goodbye();
        pass(*link.publishing.end, *link.end, kNow);
        link.end->over_because(over(*link.end), kNow + 1s);
    }
    ClusterStatus::Peer peer;
    peer.last_end = {make_error_code(base::Error::connect_timeout), kNow + 10s};
    b.feeds.add_to(0, kNow + 1min, peer);
    EXPECT_EQ(peer.last_end.reason(), "goodbye");
    EXPECT_EQ(peer.last_end.at, kNow + 1s);
}

TEST_F(SubscriberEndTest, APeerThatCannotBeAskedIsNotInStep) {
    Connection link(a, b);
    EXPECT_EQ(b.report().state, PeerState::in_sync);
    EXPECT_TRUE(b.state.neighbours.can_be_asked(0));
    b.state.neighbours.place(0, {});
    EXPECT_FALSE(b.state.neighbours.can_be_asked(0));
    EXPECT_EQ(b.report().state, PeerState::no_address);
    EXPECT_FALSE(b.state.neighbours.take_view()->peers[0].can_be_asked());
}

/// A link from a to b, with a thousand objects at a, breaks.
class SubscriberEndResuming : public SubscriberEndTest {
protected:
    SubscriberEndResuming() {
        for (std::uint64_t i = 0; i < 1000; ++i) store(i);
        a.state.publisher.announce(kNow);
        break_link(kNow);
    }
    static summary::KeyHash key(std::uint64_t i) {
        return {i * 0x9e3779b97f4a7c15, i * 0xd1342543de82ef95};
    }
    void store(std::uint64_t i) { a.state.publisher.stored(key(i), kNow); }
    void break_link(TimePoint now) {
        Connection link(a, b, now);
        EXPECT_EQ(b.report().state, PeerState::in_sync);
        link.end->over_because(make_error_code(Error::connection_closed), now);
    }
    bool sees(std::uint64_t i) {
        if (auto next = b.state.neighbours.take_view()) view = std::move(next);
        return view->directory->candidates({key(i), {}}).contains(0);
    }
    bool is_asked() {
        if (auto next = b.state.neighbours.take_view()) view = std::move(next);
        return view->peers[0].in_sync;
    }
    /// The snapshots that the next link needs, after which b sees the key.
    std::uint64_t snapshots(std::uint64_t seen = 1, TimePoint now = kNow + 1s) {
        const auto before = b.report().snapshots_received;
        Connection link(a, b, now);
        EXPECT_EQ(b.report().state, PeerState::in_sync);
        EXPECT_TRUE(is_asked());
        EXPECT_TRUE(sees(1));
        EXPECT_TRUE(sees(seen));
        return b.report().snapshots_received - before;
    }
    std::shared_ptr<const PeerView> view;
};

TEST_F(SubscriberEndResuming, APeerThatIsAwayDoesNotCount) {
    EXPECT_FALSE(is_asked());
    EXPECT_FALSE(sees(1));
    EXPECT_EQ(view->peers[0].token, "");
}

TEST_F(SubscriberEndResuming, GoesOnWithWhatChangedMeanwhile) {
    store(5000);
    a.state.publisher.announce(kNow);
    const auto bytes = b.report().announcement_bytes_received;
    EXPECT_EQ(snapshots(5000), 0U);
    EXPECT_LT(b.report().announcement_bytes_received - bytes, 100U);
    EXPECT_EQ(b.report().resyncs, 0U);
    EXPECT_EQ(b.times_in_sync, 2) << "each link says once that it is in step";
}

TEST_F(SubscriberEndResuming, GoesOnWhenNothingChanged) {
    EXPECT_EQ(snapshots(), 0U);
}

TEST_F(SubscriberEndResuming, GoesOnAfterAnyNumberOfLinks) {
    for (std::uint64_t i = 0; i < 5; ++i) {
        store(5000 + i);
        a.state.publisher.announce(kNow + 10s);
        EXPECT_EQ(snapshots(5000 + i), 0U);
    }
}

TEST_F(SubscriberEndResuming, APeerIsNotAskedWhileItsDeltasAreUnderWay) {
    store(5000);
    a.state.publisher.announce(kNow);
    Publishing publishing(a);
    const auto end = subscribing(b);
    const auto proof = proof_for(*end, publishing);
    end->on_hello(HelloMessage(proof), kNow);
    publishing.end->on_message(says<Welcome>(*end), kNow);
    publishing.end->on_message(says<Heartbeat>(*end), kNow);
    end->on_message(says<Delta>(*publishing.end), kNow);
    EXPECT_FALSE(is_asked());
    EXPECT_EQ(b.report().state, PeerState::waiting_snapshot);
    end->on_message(says<Heartbeat>(*publishing.end), kNow);
    EXPECT_TRUE(is_asked());
    EXPECT_TRUE(sees(5000));
    const auto& own = a.state.publisher.own();
    end->on_message(CheckHash{own.epoch(), own.generation(), own.check_hash()}, kNow);
    EXPECT_EQ(b.report().state, PeerState::in_sync);
    EXPECT_EQ(b.report().check_failures, 0U);
}

TEST_F(SubscriberEndResuming, AfterTooManyChangesASnapshotComes) {
    for (std::uint64_t i = 0; i < 900; ++i) {
        a.state.publisher.removed(key(i + 50), kNow);
        store(5000 + i);
        if (i % 100 == 0) a.state.publisher.announce(kNow + 10s);
    }
    EXPECT_EQ(snapshots(5000), 1U);
}

TEST_F(SubscriberEndResuming, AnotherSizeIsASnapshot) {
    for (std::uint64_t i = 0; i < 20'000; ++i) store(5000 + i);
    a.state.publisher.announce(kNow + 10s);
    while (a.state.publisher.busy()) a.state.publisher.work();
    EXPECT_EQ(snapshots(24'999), 1U);
}

TEST_F(SubscriberEndResuming, AnotherInstanceIsASnapshot) {
    MachineNode restarted("a", "b", 9);
    restarted.state.publisher.stored(key(7777), kNow);
    restarted.state.publisher.announce(kNow);
    Connection link(restarted, b, kNow + 1min);
    EXPECT_EQ(b.report().snapshots_received, 2U);
    EXPECT_TRUE(sees(7777));
    EXPECT_FALSE(sees(1));
}

TEST_F(SubscriberEndResuming, AGoodbyeLeavesNothing) {
    {
        Connection link(a, b);
        link.publishing.end->say_goodbye();
        pass(*link.publishing.end, *link.end, kNow);
        link.end->over_because(over(*link.end), kNow);
    }
    EXPECT_EQ(snapshots(), 1U);
}

TEST_F(SubscriberEndResuming, AReplicaThatFailedItsCheckIsNotKept) {
    {
        Connection link(a, b);
        const auto& own = a.state.publisher.own();
        link.end->on_message(CheckHash{own.epoch(), own.generation(), 1}, kNow);
        EXPECT_EQ(b.report().check_failures, 1U);
        link.end->over_because(make_error_code(Error::connection_closed), kNow);
    }
    EXPECT_EQ(snapshots(), 1U);
}

TEST_F(SubscriberEndResuming, ASnapshotThatIsCutLeavesTheReplicaBeforeIt) {
    {
        Connection link(a, b);
        const auto& own = a.state.publisher.own();
        link.end->on_message(
            SnapshotBegin{own.epoch(), own.generation(), 1000, own.descriptor(), 1000}, kNow);
        link.end->on_message(SnapshotPart{base::ByteView()}, kNow);
        link.end->over_because(make_error_code(Error::connection_closed), kNow);
    }
    EXPECT_EQ(snapshots(), 0U);
}

TEST_F(SubscriberEndResuming, APeerThatStaysAwayIsForgotten) {
    b.feeds.tidy(kNow + 9min);
    EXPECT_EQ(snapshots(1, kNow + 9min), 0U);
    break_link(kNow + 9min);
    b.feeds.tidy(kNow + 20min);
    EXPECT_EQ(snapshots(1, kNow + 20min), 1U);
}

TEST_F(SubscriberEndResuming, APeerThatIsRemovedIsForgotten) {
    b.feeds.remove_peer(0);
    b.state.neighbours.remove_peer(0);
    b.state.neighbours.add_peer(0, "a");
    b.state.neighbours.place(0, {"127.0.0.1", 3128});
    b.feeds.add_peer(0, kNow);
    EXPECT_EQ(snapshots(), 1U);
}

TEST_F(SubscriberEndTest, ReportsToThePublisherWhyItsOwnLinkFails) {
    Connection link(a, b);
    auto now = link.end->due();
    says<Heartbeat>(*link.end, now);
    b.state.pulse(0).cannot_dial =
        dial_report(boost::asio::error::make_error_code(boost::asio::error::connection_refused));
    now = link.end->due();
    exchange(*link.publishing.end, *link.end, now);
    EXPECT_EQ(reason_in(a.state.pulse(0).it_cannot_dial), "connection_refused");
    EXPECT_FALSE(a.state.pulse(0).listens_elsewhere) << "as a node does that knows no reports";
    EXPECT_FALSE(a.state.pulse(0).said_goodbye);
    b.state.pulse(0).cannot_dial = kHasLeftReport;
    now = link.end->due();
    exchange(*link.publishing.end, *link.end, now);
    EXPECT_TRUE(a.state.pulse(0).said_goodbye) << "a has come while b drains";
    // Once the link is there, that is said even if nothing else need be.
    b.state.pulse(0).cannot_dial = 0;
    b.state.pulse(0).listens_elsewhere = true;
    now = link.end->due();
    exchange(*link.publishing.end, *link.end, now);
    EXPECT_EQ(a.state.pulse(0).it_cannot_dial, 0U);
    EXPECT_TRUE(a.state.pulse(0).listens_elsewhere);
    EXPECT_EQ(link.end->due(), TimePoint::max()) << "it is heard elsewhere";
}

TEST_F(SubscriberEndTest, AnInstanceThatHasBeenReplacedStillSendsItsInvalidations) {
    {
        Connection link(a, b);
        link.publishing.end->say_goodbye();
        pass(*link.publishing.end, *link.end, kNow);
        link.end->over_because(over(*link.end), kNow);
    }
    MachineNode next("a", "b", 9);
    Connection link(next, b);
    ASSERT_EQ(b.report().state, PeerState::in_sync);
    a.invalidate(7);
    Publishing again(a);
    again.kept.leaving = true;
    {
        const auto end = subscribing(b);
        exchange(*again.end, *end);
        EXPECT_EQ(b.dropped.keys.size(), 1U);
        EXPECT_EQ(a.state.invalidations.pending(0), 0U);
        EXPECT_EQ(over(*end), Error::goodbye);
        end->over_because(over(*end), kNow);
    }
    // The one that has the name notices nothing.
    EXPECT_EQ(b.report().state, PeerState::in_sync);
    EXPECT_EQ(b.report().last_end.reason(), "");
    EXPECT_FALSE(link.end->over(kNow));
    EXPECT_EQ(b.times_heard_of, 2);
    next.invalidate(8);
    exchange(*link.publishing.end, *link.end);
    EXPECT_EQ(b.dropped.keys.size(), 2U);
    EXPECT_EQ(next.state.invalidations.pending(0), 0U);
}

TEST_F(SubscriberEndTest, ARefusedNodeHasNamedItselfAndTheNodeItLooksFor) {
    MachineNode other("z", "b", 3);
    Publishing publishing(other);
    const auto end = subscribing(b);
    EXPECT_EQ(end->caller().name, "");
    end->on_hello(HelloMessage(says<Hello>(*publishing.end)), kNow);
    EXPECT_EQ(over(*end), Error::unknown_node);
    EXPECT_EQ(end->caller().name, "z");
    EXPECT_EQ(end->caller().looks_for, "b");
    EXPECT_FALSE(end->peer());
}

TEST_F(SubscriberEndTest, HoweverItGoesItsPlaceIsFree) {
    { Connection link(a, b); }  // nobody has said why
    EXPECT_EQ(b.report().state, PeerState::gone);
    EXPECT_EQ(b.times_left, 1);
    { const auto end = subscribing(b); }
    EXPECT_EQ(b.state.hello_backlog.size(), 0U);
}

TEST_F(SubscriberEndTest, APeerThatIsRemovedLosesItsLink) {
    Connection link(a, b);
    b.feeds.remove_peer(0);
    EXPECT_EQ(over(*link.end), Error::no_peer_any_more);
    EXPECT_TRUE(link.end->closed());
    EXPECT_EQ(b.times_left, 1);
}

TEST_F(SubscriberEndTest, AStrangersOldestHelloMakesRoom) {
    std::vector<std::unique_ptr<SubscriberEnd>> hellos;
    for (std::size_t i = 0; i < kMaxAtOncePerAddress; ++i)
        hellos.push_back(subscribing(b, kNow, "10.0.0.1"));
    EXPECT_FALSE(hellos.front()->ended());
    hellos.push_back(subscribing(b, kNow, "10.0.0.1"));
    EXPECT_EQ(over(*hellos[0]), Error::too_many_links);
    EXPECT_TRUE(hellos[0]->closed());
    EXPECT_FALSE(hellos[1]->ended());
    EXPECT_EQ(b.state.hello_backlog.size(), kMaxAtOncePerAddress);
}

/// Both nodes with both links, in virtual time, as a simulator has them.
TEST_F(SubscriberEndTest, TwoNodesStayInStepForAnHourInVirtualTimeAndNoticeACut) {
    Connection to_b(a, b), to_a(b, a);
    const std::vector<std::pair<LinkEnd*, LinkEnd*>> links{{&*to_b.publishing.end, to_b.end.get()},
                                                           {&*to_a.publishing.end, to_a.end.get()}};
    const auto due = [&] {
        auto next = TimePoint::max();
        for (const auto& [one, other] : links)
            for (const auto* end : {one, other})
                next = std::min({next, end->due(), end->limit().at});
        return next;
    };
    auto now = kNow;
    for (; now < kNow + 1h; now = std::max(now, due())) {
        for (const auto& [one, other] : links) {
            exchange(*one, *other, now);
            ASSERT_FALSE(one->over(now) || other->over(now)) << (now - kNow) / 1s << " s";
        }
    }
    EXPECT_EQ(a.report(now).state, PeerState::in_sync);
    EXPECT_EQ(b.report(now).state, PeerState::in_sync);
    // One beat a second each way on the links of the publishers, none from the subscribers.
    EXPECT_NEAR(static_cast<double>(b.report(now).heartbeats_received), 3600, 600);

    const auto cut = now;
    for (; !to_b.end->over(now) && now < cut + 1min; now += 10ms)
        for (const auto& [one, other] : links)
            for (auto* end : {one, other})
                while (end->next(now)) continue;  // lost
    EXPECT_EQ(over(*to_b.end, now), Error::peer_silent);
    EXPECT_LE(now - cut, b.state.silence_limit(0) + 1s);
}

}  // namespace subscriber_end_test
}  // namespace protocol::test
