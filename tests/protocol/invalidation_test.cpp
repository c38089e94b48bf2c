// Invalidations: what is kept for whom, and how they reach peers through real links.

#include "protocol/invalidation_log.hpp"
#include "protocol/sync_session.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/fake_peer.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace {

using summary::KeyHash;

std::vector<KeyHash> some(std::size_t count, std::uint64_t first = 1) {
    std::vector<KeyHash> hashes(count);
    for (auto& hash : hashes) hash = {first++, 7};
    return hashes;
}

constexpr Instance kRun{std::byte{1}}, kNextRun{std::byte{2}};

TEST(InvalidationLog, SendsToEachPeerWhatItHasNotConfirmed) {
    InvalidationLog log(2, 100);
    EXPECT_EQ(log.next(0), std::nullopt);
    EXPECT_EQ(log.add(some(2), some(1, 50)), 3U);
    EXPECT_EQ(log.next(0), Message(Invalidate{3, some(2), some(1, 50)}));
    EXPECT_EQ(log.next(0), std::nullopt);
    EXPECT_EQ(log.add(some(1, 9), {}), 4U);
    EXPECT_EQ(log.next(0), Message(Invalidate{4, some(1, 9), {}}));
    EXPECT_TRUE(log.confirm(0, 3));
    EXPECT_EQ(log.pending(0), 1U);
    EXPECT_EQ(log.pending(1), 4U);
    EXPECT_EQ(log.sent(0), 4U);
    EXPECT_EQ(log.next(1), Message(Invalidate{4, {{1, 7}, {2, 7}, {9, 7}}, some(1, 50)}));
}

TEST(InvalidationLog, SendsAgainAfterAReconnectWhatWasNotConfirmed) {
    InvalidationLog log(1, 100);
    log.connected(0, kRun);
    log.add(some(3), {});
    log.next(0);
    EXPECT_TRUE(log.confirm(0, 1));
    log.connected(0, kRun);
    EXPECT_EQ(log.next(0), Message(Invalidate{3, some(2, 2), {}}));
    EXPECT_TRUE(log.confirm(0, 3));
    log.connected(0, kRun);
    EXPECT_EQ(log.next(0), std::nullopt);
    EXPECT_EQ(log.pending(0), 0U);
}

TEST(InvalidationLog, SendsToANewRunAllThatIsKeptAsItHasForgotten) {
    InvalidationLog log(2, 100);
    log.add(some(3), {});
    log.next(0);
    EXPECT_TRUE(log.confirm(0, 3));  // the other peer is away, so all three are kept
    log.connected(0, kNextRun);
    EXPECT_EQ(log.pending(0), 3U);
    EXPECT_EQ(log.next(0), Message(Invalidate{3, some(3), {}}));
}

TEST(InvalidationLog, ForgetsWhatAllHaveConfirmed) {
    InvalidationLog log(2, 100);
    log.add(some(3), {});
    for (const std::size_t peer : {0, 1}) {
        log.next(peer);
        EXPECT_TRUE(log.confirm(peer, 3));
    }
    log.connected(0, kNextRun);
    EXPECT_EQ(log.next(0), std::nullopt);
}

TEST(InvalidationLog, KeepsNothingWithoutPeers) {
    InvalidationLog log(0, 1);
    EXPECT_EQ(log.add(some(5), {}), 5U);
    EXPECT_EQ(log.last(), 5U);
}

TEST(InvalidationLog, OrdersToDropEverythingInPlaceOfWhatWasTooMuchToKeep) {
    InvalidationLog log(2, 4);
    log.connected(1, kRun);
    log.add(some(2), {});
    log.next(0);
    EXPECT_TRUE(log.confirm(0, 2));
    log.add(some(4, 3), {});  // 1 and 2 are forgotten, which the second has not confirmed
    EXPECT_EQ(log.next(0), Message(Invalidate{6, some(4, 3), {}}));
    EXPECT_EQ(log.next(1), Message(InvalidateAll{6}));
    EXPECT_EQ(log.next(1), std::nullopt);
    EXPECT_TRUE(log.confirm(1, 6));
    EXPECT_EQ(log.pending(1), 0U);
    log.connected(1, kRun);
    EXPECT_EQ(log.next(1), std::nullopt);
}

TEST(InvalidationLog, TellsAPeerThatIsAwayOnceWhatWasInvalidatedAgainAndAgain) {
    InvalidationLog log(3, 3000);
    log.add(some(1, 9), {});
    EXPECT_EQ(log.next(2), Message(Invalidate{1, some(1, 9), {}}));
    log.confirm(2, 1);  // then it leaves, later than the second
    for (int i = 0; i < 10'000; ++i) {
        const auto last = log.add(some(2), some(1, 1));
        log.next(0);
        ASSERT_TRUE(log.confirm(0, last));
    }
    EXPECT_LE(log.size(), 2000U);
    EXPECT_EQ(log.pending(0), 0U);
    for (const std::size_t away : {1, 2}) {
        std::size_t keys = 0;
        std::uint64_t last = 0;
        while (const auto message = log.next(away)) {
            const auto* order = std::get_if<Invalidate>(&*message);
            ASSERT_NE(order, nullptr) << "not to drop everything";
            keys += order->keys.size();
            last = order->last;
        }
        EXPECT_LE(keys, 2000U);
        EXPECT_TRUE(log.confirm(away, last));
        EXPECT_EQ(log.pending(away), 0U);
    }
    EXPECT_EQ(log.size(), 0U);
}

TEST(InvalidationLog, SendsAgainToWhomHasHeardOfItBefore) {
    InvalidationLog log(2, 10'000);
    log.connected(0, kRun);
    log.add(some(1, 5), {});
    log.next(0);  // not confirmed
    for (std::uint64_t i = 0; i < 4000; ++i) log.add(some(1, 5), {});
    EXPECT_LE(log.size(), 1100U);
    EXPECT_EQ(log.next(0).has_value(), true) << "it may have applied the first alone";
    log.connected(0, kRun);
    std::uint64_t last = 0;
    while (const auto message = log.next(0)) last = std::get<Invalidate>(*message).last;
    EXPECT_EQ(last, 4001U);
}

TEST(InvalidationLog, KeepsWhatManyUnsafeRequestsOfALongPartitionEnded) {
    InvalidationLog log(1, ClusterConfig().max_invalidations_kept);
    auto different = some(200'000);
    for (auto& hash : different) hash.low *= 0x9e3779b97f4a7c15;  // uniform, as hashes are
    log.add(different, {});
    const auto first = log.next(0);
    EXPECT_TRUE(std::holds_alternative<Invalidate>(*first));
}

TEST(InvalidationLog, CutsALongListIntoFrames) {
    InvalidationLog log(1, 10 * kMaxInvalidatedAtOnce);
    log.add(some(kMaxInvalidatedAtOnce + 1), {});
    EXPECT_EQ(log.next(0),
              Message(Invalidate{kMaxInvalidatedAtOnce, some(kMaxInvalidatedAtOnce), {}}));
    EXPECT_EQ(log.next(0), Message(Invalidate{
                               kMaxInvalidatedAtOnce + 1, some(1, kMaxInvalidatedAtOnce + 1), {}}));
}

TEST(InvalidationLog, DoesNotBelieveAConfirmationOfWhatWasNotSent) {
    InvalidationLog log(1, 100);
    log.add(some(3), {});
    EXPECT_FALSE(log.confirm(0, 1));
    log.next(0);
    EXPECT_FALSE(log.confirm(0, 4));
    EXPECT_TRUE(log.confirm(0, 3));
    EXPECT_TRUE(log.confirm(0, 2)) << "late, but true";
    EXPECT_EQ(log.confirmed(0), 3U);
}

TEST(InvalidationLog, TakesAConfirmationOfWhatAnEarlierConnectionSent) {
    InvalidationLog log(2, 10 * kMaxInvalidatedAtOnce);
    log.connected(0, kRun);
    log.add(some(3 * kMaxInvalidatedAtOnce), {});
    while (log.next(0)) continue;
    log.connected(0, kRun);  // its confirmation was lost with the connection
    ASSERT_TRUE(log.next(0));
    EXPECT_TRUE(log.confirm(0, 3 * kMaxInvalidatedAtOnce)) << "it has applied all of it";
    EXPECT_EQ(log.next(0), std::nullopt) << "nothing is left to send again";
    EXPECT_EQ(log.pending(0), 0U);
}

TEST(InvalidationLog, ANewRunCannotConfirmWhatWasSentToTheOneBefore) {
    InvalidationLog log(2, 100);
    log.add(some(3), {});
    log.next(0);
    log.connected(0, kNextRun);
    EXPECT_FALSE(log.confirm(0, 3));
    log.next(0);
    EXPECT_TRUE(log.confirm(0, 3));
}

TEST(InvalidationLog, APeerThatIsListedAgainGoesOnFromWhatItHadConfirmed) {
    InvalidationLog log(2, 100);
    log.add(some(5), {});
    for (const std::size_t peer : {0, 1}) {
        log.next(peer);
        EXPECT_TRUE(log.confirm(peer, 5));
    }
    log.remove_peer(1);
    log.add_peer(1);
    log.came_back(
        1, {2, kRun});  // 3 to 5 were confirmed by all who were listed then, and are forgotten
    EXPECT_EQ(log.next(1), Message(InvalidateAll{5}));
    EXPECT_EQ(log.next(0), std::nullopt);
}

TEST(InvalidationLog, NothingWaitsForAPeerThatIsNoMore) {
    InvalidationLog log(2, 100);
    log.add(some(5), {});
    log.next(0);
    EXPECT_TRUE(log.confirm(0, 5));
    EXPECT_EQ(log.size(), 5U);
    log.remove_peer(1);
    EXPECT_EQ(log.size(), 0U);
    log.add(some(1, 50), {});
    EXPECT_EQ(log.size(), 1U);
    log.add_peer(7);
    EXPECT_EQ(log.pending(7), 6U);
    EXPECT_TRUE(log.confirm(0, 5));
}

TEST(InvalidationLog, TheNextRunTellsWhatWasNotConfirmed) {
    KeptInvalidations kept;
    {
        InvalidationLog log(3, 100);
        log.add(some(2), {});
        for (const std::size_t peer : {0, 1, 2}) {
            log.next(peer);
            EXPECT_TRUE(log.confirm(peer, 2));
        }
        log.add(some(1, 8), some(1, 50));
        log.next(0);
        EXPECT_TRUE(log.confirm(0, 4));
        kept = log.kept();
    }
    EXPECT_EQ(kept.gone, 2U);
    EXPECT_EQ(kept.last, 4U);
    EXPECT_EQ(kept.entries,
              (std::vector<KeptInvalidations::Entry>{{3, {8, 7}}, {4, {50, 7}, true}}));

    InvalidationLog log(0, 100);
    log.go_on_from(kept);
    EXPECT_EQ(log.kept(), kept);
    for (const std::size_t peer : {0, 1, 2, 3}) log.add_peer(peer);
    log.came_back(0, {4, kRun});
    log.came_back(1, {2, kRun});
    log.came_back(2, {99, kRun});  // more than the earlier run could keep
    for (const std::size_t peer : {0, 1, 2, 3}) log.connected(peer, kRun);
    EXPECT_EQ(log.next(0), std::nullopt);
    EXPECT_EQ(log.next(1), Message(Invalidate{4, some(1, 8), some(1, 50)}));
    EXPECT_EQ(log.next(2), std::nullopt);
    EXPECT_EQ(log.next(3), Message(InvalidateAll{4})) << "it was never met";
    EXPECT_EQ(log.add(some(1, 9), {}), 5U);
    EXPECT_EQ(log.next(2), Message(Invalidate{5, some(1, 9), {}}));
}

// A journal has what was confirmed, too, until it is written anew.
TEST(InvalidationLog, TheNextRunTellsAPeerAgainOnlyWhereThatHasForgottenAndItIsKept) {
    const KeptInvalidations::Confirmed all{3, kRun}, two{2, kRun};
    const KeptInvalidations kept{0, 3, {{1, {1, 7}}, {2, {2, 7}}, {3, {3, 7}}}, {}};
    for (const auto& other : {all, two}) {
        InvalidationLog log(0, 100);
        log.go_on_from(kept);
        for (const std::size_t peer : {0, 1, 2}) log.add_peer(peer);
        log.came_back(0, all);
        log.came_back(1, all);
        log.came_back(2, other);
        log.forget_all_confirmed();
        log.connected(0, kRun);
        EXPECT_EQ(log.next(0), std::nullopt) << "it goes on, and remembers";
        log.connected(1, kNextRun);
        if (other == all) {
            EXPECT_EQ(log.next(1), std::nullopt);
        } else {
            EXPECT_EQ(log.next(1), Message(Invalidate{3, some(1, 3), {}}))
                << "the other may still have it to give away";
        }
        EXPECT_EQ(log.standing(1), (KeptInvalidations::Confirmed{other.number, kNextRun}));
    }
}

TEST(InvalidationLog, TheNextRunForgetsAllThatIsConfirmedHoweverManyTheyAre) {
    constexpr std::uint64_t kMany = 50'000;
    InvalidationLog first(1, 2 * kMany);
    first.add(some(kMany), {});
    InvalidationLog log(0, 2 * kMany);
    log.go_on_from(first.kept());
    log.add_peer(0);
    log.came_back(0, {kMany, kRun});
    log.forget_all_confirmed();
    EXPECT_EQ(log.size(), 0U);
}

TEST(InvalidationLog, WhatTheNextRunHasNoRoomForBecomesAnOrderToDropEverything) {
    InvalidationLog first(1, 100);
    first.add(some(100), {});
    InvalidationLog next(0, 10);
    next.go_on_from(first.kept());
    EXPECT_LE(next.size(), 10U);
    next.add_peer(0);
    EXPECT_EQ(next.next(0), Message(InvalidateAll{100}));
}

TEST(InvalidationLog, WhoComesLateIsToldAllOrDropsEverything) {
    InvalidationLog log(1, 100);
    log.keep_for_newcomers(4);
    const auto told_to_all = [&](std::size_t count, std::uint64_t from) {
        log.add(some(count, from), {});
        log.next(0);
        EXPECT_TRUE(log.confirm(0, log.last()));
    };
    told_to_all(4, 10);
    log.add_peer(1);
    EXPECT_EQ(log.next(1), Message(Invalidate{4, some(4, 10), {}}));
    EXPECT_TRUE(log.confirm(1, 4));
    told_to_all(1, 50);
    EXPECT_TRUE(log.confirm(1, 4));
    log.next(1);
    EXPECT_TRUE(log.confirm(1, 5));
    EXPECT_EQ(log.size(), 4U);
    log.add_peer(2);
    EXPECT_EQ(log.next(2), Message(InvalidateAll{5}));
}

const SyncSession::TimePoint kNow{100s};

TEST(SyncSessionInvalidations, AreHandedOutOnceAndConfirmedEachTime) {
    SyncSession session({1 << 20, 500ms}, kNow);
    session.next(kNow);  // a heartbeat
    const Message order = Invalidate{2, some(1), some(1, 50)};
    EXPECT_EQ(session.on_message(order, kNow),
              SyncSession::Action(SyncSession::Drop{some(1), some(1, 50)}));
    session.kept(2);
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.next(kNow), std::nullopt);
    EXPECT_EQ(session.on_message(order, kNow), std::nullopt) << "the confirmation was lost";
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.counters().invalidations_received, 2U);
}

TEST(SyncSessionInvalidations, AreConfirmedWhenTheyAreKept) {
    SyncSession session({1 << 20, 500ms}, kNow);
    session.next(kNow);  // a heartbeat
    ASSERT_TRUE(session.on_message(Invalidate{2, some(1), some(1, 50)}, kNow));
    ASSERT_TRUE(session.on_message(Invalidate{3, some(1, 9), {}}, kNow));
    EXPECT_EQ(session.applied(), 3U);
    EXPECT_EQ(session.next(kNow), std::nullopt);
    EXPECT_GT(session.due(), kNow);
    session.kept(2);
    EXPECT_EQ(session.due(), SyncSession::TimePoint::min());
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.next(kNow), std::nullopt);
    session.kept(3);
    EXPECT_EQ(session.next(kNow), Message(Confirm{3}));
}

TEST(SyncSessionInvalidations, OverAnotherConnectionAreConfirmedWhenItHasNamedThem) {
    SyncSession session({1 << 20, 500ms}, kNow, 5, 3);
    session.next(kNow);  // a heartbeat
    session.kept(5);
    EXPECT_EQ(session.next(kNow), std::nullopt) << "the publisher may not know that it sent them";
    EXPECT_EQ(session.on_message(Invalidate{4, some(2), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{4}));
    EXPECT_EQ(session.on_message(Invalidate{5, some(1), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{5}));
}

TEST(SyncSessionInvalidations, GoOnFromWhatAnEarlierConnectionApplied) {
    SyncSession session({1 << 20, 500ms}, kNow, 5, 5);
    EXPECT_EQ(session.on_message(Invalidate{5, some(2), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{5}));
    EXPECT_EQ(session.on_message(InvalidateAll{9}, kNow),
              SyncSession::Action(SyncSession::Drop{{}, {}, true}));
    session.kept(9);
    EXPECT_EQ(session.next(kNow), Message(Confirm{9}));
}

TEST(SyncSessionInvalidations, ComeInTheMiddleOfASnapshotToo) {
    SyncSession session({1 << 20, 500ms}, kNow);
    const auto payload = unhex("0302058704");
    session.on_message(SnapshotBegin{7, 5, 9, bloom({128, 4}), payload.size()}, kNow);
    EXPECT_EQ(session.on_message(Invalidate{1, some(1), {}}, kNow),
              SyncSession::Action(SyncSession::Drop{some(1), {}}));
    EXPECT_EQ(session.on_message(SnapshotPart{payload}, kNow),
              SyncSession::Action(SyncSession::Load{}));
}

TEST(SyncSessionInvalidations, AreConfirmedByTheSubscriberAlone) {
    SyncSession session({1 << 20, 500ms}, kNow);
    EXPECT_EQ(session.on_message(Confirm{1}, kNow),
              SyncSession::Action(SyncSession::Close{Error::unexpected_frame}));
}

class Invalidations : public ClusterTest {
protected:
    void start(ClusterConfig first, ClusterConfig second) {
        a = &add(std::move(first));
        b = &add(std::move(second));
        ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    }
    void start() { start(config("a"), config("b")); }
    bool confirmed(std::uint64_t number) const {
        return a->cluster->confirmations(number).front().confirmed;
    }
    /// As after a network cable was pulled and noticed: b lives on, and nothing reaches it.
    void take_b_away() {
        b->paused = true;
        ASSERT_TRUE(
            run_until([&] { return !a->status_of("b").publishing && !a->in_sync_with("b"); }));
    }

    TestNode* a = nullptr;
    TestNode* b = nullptr;
};

TEST_F(Invalidations, ReachThePeerAndAreConfirmed) {
    start();
    const auto number = a->invalidate("one");
    EXPECT_FALSE(confirmed(number));
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_TRUE(b->has_dropped("one"));
    EXPECT_EQ(b->drops, 1U);
    EXPECT_TRUE(a->in_sync_with("b")) << "a moment is bridged by the copies' age";
    EXPECT_EQ(a->status_of("b").invalidations_sent, 1U);
    EXPECT_EQ(a->status_of("b").invalidations_confirmed, 1U);
    EXPECT_EQ(a->status_of("b").invalidations_pending, 0U);
    EXPECT_EQ(b->status_of("a").invalidations_received, 1U);
}

TEST_F(Invalidations, AreConfirmedWhenTheyAreKeptAlsoAcrossAReload) {
    start();
    b->keeps_late = true;
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return b->has_dropped("one"); }));
    b->reload();
    ASSERT_TRUE(run_until([&] { return a->status_of("b").invalidations_sent == 2; }));
    ASSERT_TRUE(run_until([&] { return b->in_sync_with("a"); }));
    EXPECT_FALSE(confirmed(number));
    EXPECT_FALSE(a->in_sync_with("b")) << "it may have been killed instead";
    EXPECT_EQ(b->drops, 1U);
    b->keep();
    ASSERT_TRUE(run_until([&] { return confirmed(number) && a->in_sync_with("b"); }));
    EXPECT_EQ(b->drops, 1U);
}

TEST_F(Invalidations, AreNotPassedOn) {
    a = &add(config("a", 3));
    b = &add(config("b", 3));
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] {
        const auto all = a->cluster->confirmations(number);
        return all[0].confirmed && all[1].confirmed;
    }));
    EXPECT_EQ(b->drops, 1U);
    EXPECT_EQ(c.drops, 1U);
    EXPECT_EQ(b->status_of("c").invalidations_sent, 0U);
}

TEST_F(Invalidations, WaitForAPeerThatIsAwayAndComeBeforeItCountsAgain) {
    start(impatient(config("a")), impatient(config("b")));
    b->store("one");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "one"); }));
    take_b_away();
    const auto number = a->invalidate("one");
    EXPECT_EQ(a->status_of("b").invalidations_pending, 1U);
    EXPECT_FALSE(a->cluster->confirmations(number).front().linked);
    b->paused = false;
    ASSERT_TRUE(run_until([&] { return !b->in_sync_with("a"); }));  // now it knows
    bool counted_too_early = false;
    ASSERT_TRUE(run_until([&] {
        counted_too_early = counted_too_early || (a->in_sync_with("b") && !confirmed(number)) ||
                            (b->in_sync_with("a") && !b->has_dropped("one"));
        return all_in_sync();
    }));
    EXPECT_FALSE(counted_too_early);
    EXPECT_TRUE(b->has_dropped("one"));
    EXPECT_EQ(b->drops, 1U);
}

TEST_F(Invalidations, APeerWhoseSummaryCameFirstDoesNotCountBeforeItHasConfirmed) {
    Relay relay(helpers_, address(200), address_of("b"));
    auto first = config("a");
    first.peers[0].link.host = address(200);
    start(first, config("b"));
    relay.from_dialler = [](Bytes frame) {  // a's invalidations are lost, and so is their link
        return type_of_frame(frame) == 24 ? Frames{} : Frames{std::move(frame)};
    };
    a->invalidate("one");
    relay.cut();
    ASSERT_TRUE(run_until([&] { return a->status_of("b").state == PeerState::lagging; }));
    EXPECT_FALSE(a->in_sync_with("b"));
    relay.from_dialler = [](Bytes frame) { return Frames{std::move(frame)}; };
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    EXPECT_TRUE(b->has_dropped("one"));
    EXPECT_EQ(a->status_of("b").state, PeerState::in_sync);
}

TEST_F(Invalidations, AreSentAgainAndAppliedOnceWhenTheConfirmationIsLost) {
    Relay relay(helpers_, address(200), address_of("b"));
    auto first = config("a");
    first.peers[0].link.host = address(200);
    start(first, config("b"));
    bool lost = false;
    relay.from_listener = [&](Bytes frame) {
        if (type_of_frame(frame) != 26) return Frames{std::move(frame)};
        lost = true;
        return Frames{};
    };
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return lost; }));
    EXPECT_FALSE(confirmed(number));
    relay.from_listener = [](Bytes frame) { return Frames{std::move(frame)}; };
    relay.cut();
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_EQ(b->drops, 1U);
    EXPECT_EQ(a->status_of("b").invalidations_sent, 2U);
}

// b has a disk: with A's end nobody would know any more what b must not serve.
TEST_F(Invalidations, APeerThatWasAwayHearsOfThemFromTheNextRunOfThisNode) {
    start(impatient(config("a")), impatient(config("b")));
    const auto first = a->invalidate("confirmed");
    ASSERT_TRUE(run_until([&] { return confirmed(first); }));
    b->kill();
    ASSERT_TRUE(run_until([&] { return !a->status_of("b").publishing; }));
    const auto number = a->invalidate("one");
    EXPECT_EQ(a->cluster->confirmed_by_node().at("b").number, first);
    a->kept = a->cluster->kept_invalidations();
    a->restart();
    EXPECT_EQ(a->cluster->last_invalidation(), number);
    EXPECT_FALSE(confirmed(number));
    b->dropped.clear();
    b->boot();
    ASSERT_TRUE(run_until([&] { return all_in_sync() && confirmed(number); }));
    EXPECT_TRUE(b->has_dropped("one"));
    EXPECT_FALSE(b->has_dropped("confirmed"));
    EXPECT_FALSE(b->dropped_all);
    EXPECT_EQ(a->cluster->kept_invalidations().entries.size(), 0U);
}

TEST_F(Invalidations, APeerThatGoesOnIsNotToldAgainByTheNextRunOfThisNode) {
    start();
    a->kept.emplace();  // as a journal that was not written anew: all that was ever added
    for (const auto* key : {"one", "two"}) {
        const auto number = a->invalidate(key);
        a->kept->entries.push_back({number, a->hash(key)});
        a->kept->last = number;
        ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    }
    a->kept->confirmed = a->cluster->confirmed_by_node();
    a->restart();
    EXPECT_EQ(a->cluster->kept_invalidations().entries.size(), 0U);
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("b") && b->in_sync_with("a"); }));
    EXPECT_EQ(a->status_of("b").invalidations_sent, 0U);
    EXPECT_EQ(b->drops, 2U);
    const auto number = a->invalidate("three");
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_EQ(b->drops, 3U);
}

TEST_F(Invalidations, ARestartedPeerIsToldAgainWhatIsKeptForAnother) {
    a = &add(config("a", 3));
    b = &add(config("b", 3));  // c never comes
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("b") && b->in_sync_with("a"); }));
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    b->restart();
    b->dropped.clear();
    EXPECT_TRUE(run_until([&] { return b->has_dropped("one") && a->in_sync_with("b"); }));
}

TEST_F(Invalidations, AReloadWhileAPeerIsAwayCostsNoHealthyPeerItsLink) {
    a = &add(config("a", 3));
    b = &add(config("b", 3));  // c comes later
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("b") && b->in_sync_with("a"); }));
    constexpr int kMany = 10 * kMaxInvalidatedAtOnce;
    std::uint64_t number = 0;
    for (int i = 0; i < kMany; ++i) number = a->invalidate(std::to_string(i));
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    const auto dropped = b->dropped.size();
    for (int i = 0; i < 3; ++i) {
        a->config.announce_changed = 0.01 * (i + 1);
        a->reload();
        ASSERT_TRUE(run_until([&] { return a->in_sync_with("b") && b->in_sync_with("a"); }));
        EXPECT_EQ(a->refusals("unexpected_frame"), 0U);
        EXPECT_TRUE(confirmed(number));
    }
    EXPECT_EQ(b->dropped.size(), dropped) << "applied twice";
    EXPECT_EQ(a->status_of("c").invalidations_pending, std::uint64_t{kMany});
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("c") && c.in_sync_with("a"); }));
    EXPECT_EQ(c.dropped.size(), std::size_t{kMany});
    EXPECT_FALSE(c.dropped_all);
}

TEST_F(Invalidations, AReloadedSubscriberDoesNotApplyAgainWhatItHasApplied) {
    Relay relay(helpers_, address(200), address_of("b"));
    auto first = config("a");
    first.peers[0].link.host = address(200);
    start(first, config("b"));
    relay.from_listener = [](Bytes frame) {  // confirmations are lost
        return type_of_frame(frame) == 26 ? Frames{} : Frames{std::move(frame)};
    };
    std::uint64_t number = 0;
    for (int i = 0; i < 3; ++i) number = a->invalidate(std::to_string(i));
    ASSERT_TRUE(run_until([&] { return b->has_dropped("2"); }));
    relay.from_listener = [](Bytes frame) { return Frames{std::move(frame)}; };
    b->config.announce_changed = 0.01;
    b->reload();
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_EQ(b->dropped.size(), 3U);
}

TEST_F(Invalidations, APeerThatIsTakenOutAndPutBackDropsWhatWasInvalidatedMeanwhile) {
    a = &add(config("a", 3));
    b = &add(config("b", 3));
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    a->config = config("a", 2);  // without c
    a->reload();
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("b"); }));
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_FALSE(c.has_dropped("one"));
    a->config = config("a", 3);
    a->reload();
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("c"); }));
    EXPECT_TRUE(c.dropped_all);
    EXPECT_FALSE(b->dropped_all);
}

TEST_F(Invalidations, WantOfMemoryForOneCostsThatPeerItsLinkAndNothingElse) {
    start();
    b->fails_to_drop = true;
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return b->refusals("out_of_memory") > 0; }));
    EXPECT_FALSE(confirmed(number));
    b->fails_to_drop = false;
    ASSERT_TRUE(run_until([&] { return confirmed(number) && all_in_sync(); }));
    EXPECT_TRUE(b->has_dropped("one"));
}

TEST_F(Invalidations, TooManyForAPeerThatIsAwayBecomeOneOrderToDropEverything) {
    auto first = impatient(config("a"));
    first.max_invalidations_kept = 10;
    start(first, config("b"));
    take_b_away();
    for (int i = 0; i < 11; ++i) a->invalidate(std::to_string(i));
    b->paused = false;
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    EXPECT_TRUE(b->dropped_all);
    EXPECT_EQ(b->drops, 1U);
    EXPECT_EQ(a->status_of("b").invalidations_pending, 0U);
}

TEST_F(Invalidations, AreNotDroppedWithAnnouncementsWhenAQueueOverflows) {
    Relay relay(helpers_, address(200), address_of("b"));
    auto first = config("a");
    first.peers[0].link.host = address(200);
    first.max_queued_bytes = 100;
    first.announce_delay = 0ms;
    start(first, config("b"));
    relay.deaf = true;
    const auto number = a->invalidate("one");
    int stored = 0;
    ASSERT_TRUE(run_until([&] {
        for (int i = 0; i < 100; ++i) a->store("http://x/" + std::to_string(stored++));
        return a->status_of("b").overflows > 0;
    }));
    a->invalidate("two");
    EXPECT_FALSE(confirmed(number));
    relay.deaf = false;
    relay.cut();
    ASSERT_TRUE(run_until([&] { return confirmed(number + 1); }));
    EXPECT_TRUE(b->has_dropped("one"));
    EXPECT_TRUE(b->has_dropped("two"));
}

TEST_F(Invalidations, ReachThePeersOfANodeThatHasSaidGoodbye) {
    start();
    a->cluster->withdraw();
    ASSERT_TRUE(run_until([&] { return b->status_of("a").state == PeerState::withdrawn; }));
    for (const auto* key : {"one", "two"}) {
        const auto number = a->invalidate(key);
        ASSERT_TRUE(run_until([&] { return confirmed(number); })) << key;
        EXPECT_TRUE(b->has_dropped(key));
        EXPECT_TRUE(run_until([&] { return b->status_of("a").state == PeerState::withdrawn; }));
    }
    EXPECT_FALSE(b->in_sync_with("a"));
}

TEST_F(Invalidations, AConfirmationOfWhatWasNotSentEndsTheLink) {
    FakePeer peer(helpers_, "b", kKey);
    peer.listen(address_of("b"));
    a = &add(config("a"));
    ASSERT_TRUE(run_until([&] { return peer.up(); }));
    peer.say(Confirm{1});
    EXPECT_TRUE(
        run_until([&] { return a->status_of("b").last_end.reason() == "unexpected_frame"; }));
}

TEST_F(Invalidations, GoOutBeforeTheSnapshot) {
    a = &add(config("a"));
    a->invalidate("one");
    bool snapshot_first = false;
    auto fake = std::make_unique<FakePeer>(helpers_, "b", kKey);
    fake->listen(address_of("b"));
    ASSERT_TRUE(run_until([&] {
        snapshot_first =
            snapshot_first || (fake->heard<SnapshotBegin>() > 0 && fake->heard<Invalidate>() == 0);
        return fake->heard<SnapshotPart>() > 0;
    }));
    EXPECT_FALSE(snapshot_first);
    EXPECT_EQ(fake->heard<Invalidate>(), 1U);
}

TEST_F(Invalidations, ThoseWhoWaitForConfirmationsWaitUntilTheirDeadlineAtMost) {
    start();
    b->paused = true;
    const auto number = a->invalidate("one");
    Pending<bool> late, in_time;
    const auto wait = [](Cluster& cluster, std::uint64_t which,
                         Clock::time_point deadline) -> awaitable<bool> {
        co_await cluster.wait_confirmed(which, deadline, Cluster::Whom::all);
        co_return true;
    };
    protocol::test::start(*a->io, wait(*a->cluster, number, Clock::now() + 20ms), late);
    protocol::test::start(*a->io, wait(*a->cluster, number, Clock::now() + 20s), in_time);
    ASSERT_TRUE(run_until([&] { return late.value.has_value(); }));
    EXPECT_FALSE(in_time.value.has_value());
    b->paused = false;
    EXPECT_TRUE(run_until([&] { return in_time.value.has_value(); }));
    EXPECT_TRUE(confirmed(number));
}

TEST_F(Invalidations, NobodyWaitsForAPeerThatIsAway) {
    start(impatient(config("a")), config("b"));
    const auto wait = [](Cluster& cluster, std::uint64_t which) -> awaitable<bool> {
        co_await cluster.wait_confirmed(which, Clock::now() + 20s, Cluster::Whom::linked);
        co_return true;
    };
    b->paused = true;
    const auto number = a->invalidate("one");
    Pending<bool> when_it_goes, afterwards;
    protocol::test::start(*a->io, wait(*a->cluster, number), when_it_goes);
    ASSERT_TRUE(run_until([&] { return when_it_goes.value.has_value(); }));
    EXPECT_FALSE(a->status_of("b").publishing);
    protocol::test::start(*a->io, wait(*a->cluster, number), afterwards);
    EXPECT_TRUE(run_until([&] { return afterwards.value.has_value(); }));
    EXPECT_FALSE(confirmed(number));
}

}  // namespace
}  // namespace protocol::test
