// How invalidations reach peers through real links.

#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/fake_peer.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace invalidation_test {

class Invalidations : public ClusterTest {
protected:
    void start(PeeringConfig first, PeeringConfig second) {
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
    EXPECT_EQ(a->status_of("b").invalidations.sent, 1U);
    EXPECT_EQ(a->status_of("b").invalidations.confirmed, 1U);
    EXPECT_EQ(a->status_of("b").invalidations.pending, 0U);
    EXPECT_EQ(b->status_of("a").invalidations_received, 1U);
}

TEST_F(Invalidations, AreConfirmedWhenTheyAreKeptAlsoAcrossAReload) {
    start();
    b->keeps_late = true;
    const auto number = a->invalidate("one");
    ASSERT_TRUE(run_until([&] { return b->has_dropped("one"); }));
    b->reload();
    ASSERT_TRUE(run_until([&] { return a->status_of("b").invalidations.sent == 2; }));
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
    EXPECT_EQ(b->status_of("c").invalidations.sent, 0U);
}

TEST_F(Invalidations, WaitForAPeerThatIsAwayAndComeBeforeItCountsAgain) {
    start(impatient(config("a")), impatient(config("b")));
    b->store("one");
    ASSERT_TRUE(run_until([&] { return a->sees("b", "one"); }));
    take_b_away();
    const auto number = a->invalidate("one");
    EXPECT_EQ(a->status_of("b").invalidations.pending, 1U);
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
    encrypt_ = false;  // for the relay
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
    encrypt_ = false;  // for the relay
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
    EXPECT_EQ(a->status_of("b").invalidations.sent, 2U);
}

// b has a disk: with A's end nobody would know the invalidations that b needs.
TEST_F(Invalidations, APeerThatWasAwayHearsOfThemFromTheNextInstanceOfThisNode) {
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

TEST_F(Invalidations, TheNextInstanceOfThisNodeSendsNothingAgainToAPeerThatGoesOn) {
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
    EXPECT_EQ(a->status_of("b").invalidations.sent, 0U);
    EXPECT_EQ(b->drops, 2U);
    const auto number = a->invalidate("three");
    ASSERT_TRUE(run_until([&] { return confirmed(number); }));
    EXPECT_EQ(b->drops, 3U);
}

TEST_F(Invalidations, ARestartedPeerGetsAgainTheInvalidationsKeptForAnother) {
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
        a->config.summary.announce.changed = 0.01 * (i + 1);
        a->reload();
        ASSERT_TRUE(run_until([&] { return a->in_sync_with("b") && b->in_sync_with("a"); }));
        EXPECT_EQ(a->refusals("unexpected_frame"), 0U);
        EXPECT_TRUE(confirmed(number));
    }
    EXPECT_EQ(b->dropped.size(), dropped) << "applied twice";
    EXPECT_EQ(a->status_of("c").invalidations.pending, std::uint64_t{kMany});
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return a->in_sync_with("c") && c.in_sync_with("a"); }));
    EXPECT_EQ(c.dropped.size(), std::size_t{kMany});
    EXPECT_FALSE(c.dropped_all);
}

TEST_F(Invalidations, AReloadedSubscriberDoesNotApplyAgainWhatItHasApplied) {
    encrypt_ = false;  // for the relay
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
    b->config.summary.announce.changed = 0.01;
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
    EXPECT_EQ(a->status_of("b").invalidations.pending, 0U);
}

TEST_F(Invalidations, AreNotDroppedWithAnnouncementsWhenAQueueOverflows) {
    encrypt_ = false;  // for the relay
    Relay relay(helpers_, address(200), address_of("b"));
    auto first = config("a");
    first.peers[0].link.host = address(200);
    first.max_queued_bytes = 100;
    first.summary.announce.delay = 0ms;
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
                         base::Clock::time_point deadline) -> base::awaitable<bool> {
        co_await cluster.wait_confirmed(which, deadline, Cluster::Whom::all);
        co_return true;
    };
    base::test::start(*a->io, wait(*a->cluster, number, base::Clock::now() + 20ms), late);
    base::test::start(*a->io, wait(*a->cluster, number, base::Clock::now() + 20s), in_time);
    ASSERT_TRUE(run_until([&] { return late.value.has_value(); }));
    EXPECT_FALSE(in_time.value.has_value());
    b->paused = false;
    EXPECT_TRUE(run_until([&] { return in_time.value.has_value(); }));
    EXPECT_TRUE(confirmed(number));
}

TEST_F(Invalidations, NobodyWaitsForAPeerThatIsAway) {
    start(impatient(config("a")), config("b"));
    const auto wait = [](Cluster& cluster, std::uint64_t which) -> base::awaitable<bool> {
        co_await cluster.wait_confirmed(which, base::Clock::now() + 20s, Cluster::Whom::linked);
        co_return true;
    };
    b->paused = true;
    const auto number = a->invalidate("one");
    Pending<bool> when_it_goes, afterwards;
    base::test::start(*a->io, wait(*a->cluster, number), when_it_goes);
    ASSERT_TRUE(run_until([&] { return when_it_goes.value.has_value(); }));
    EXPECT_FALSE(a->status_of("b").publishing);
    base::test::start(*a->io, wait(*a->cluster, number), afterwards);
    EXPECT_TRUE(run_until([&] { return afterwards.value.has_value(); }));
    EXPECT_FALSE(confirmed(number));
}

}  // namespace invalidation_test
}  // namespace protocol::test
