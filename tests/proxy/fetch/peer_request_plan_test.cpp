#include "proxy/fetch/peer_request_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace peer_request_plan_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

RoundTrip steady(RoundTrip::Duration time) {
    RoundTrip result;
    for (int i = 0; i < 100; ++i) result.measured(time);
    return result;
}

/// Four peers in sync that can be asked, all equally near, and an origin 80 ms away.
class WhomToAskTest : public ::testing::Test {
protected:
    WhomToAskTest() : peers(4), records(4) {
        for (auto& peer : peers) {
            peer.http.host = "h";
            peer.has_feed = true;
            peer.in_sync = true;
        }
        for (std::size_t i = 0; i < records.size(); ++i) is_away(i, 1ms);
    }
    void is_away(std::size_t peer, RoundTrip::Duration time) {
        records[peer] = {};
        for (int i = 0; i < 100; ++i) records[peer].answered_after(time, kNow);
    }
    std::vector<std::size_t> asked(const PeerTurns& whom) const {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < whom.count; ++i) numbers.push_back(whom.turns[i].peer);
        return numbers;
    }
    PeerTurns whom(summary::PeerSet promised, summary::PeerSet perhaps = {},
                   SinceInvalidation invalidated = {}) const {
        protocol::PeerView::Peers view;
        view.resize(peers.size());
        for (std::size_t i = 0; i < peers.size(); ++i) view.set(i, peers[i]);
        return whom_to_ask(promised, perhaps, invalidated,
                           {view, records, bounds, origin, kNow, denying});
    }
    /// Every so manieth denial of its summary is wrong.
    void denies_wrongly(std::size_t peer, int one_in) {
        denying.insert(static_cast<unsigned>(peer));
        for (int i = 0; i < 512; ++i) records[peer].denied(i % one_in == 0);
    }

    std::vector<protocol::PeerView::Peer> peers;
    std::vector<PeerRecord> records;
    PeerTimes bounds;
    RoundTrip origin = steady(80ms);
    summary::PeerSet denying;
};

using Numbers = std::vector<std::size_t>;

TEST_F(WhomToAskTest, AsksTheNearestThatHaveIt) {
    is_away(0, 5ms);
    is_away(1, 3ms);
    is_away(3, 2ms);
    EXPECT_EQ(asked(whom({0, 1, 3})), (Numbers{3, 1})) << "two at most";
    EXPECT_EQ(asked(whom({})), Numbers{});
}

TEST_F(WhomToAskTest, AsksInSpiteOfANoWhereThatTakesLessTime) {
    denies_wrongly(2, 4);  // 80 ms in every fourth case, for 1 ms
    const auto only = whom({});
    EXPECT_EQ(asked(only), (Numbers{2}));
    EXPECT_FALSE(only.turns[0].promised);
    denies_wrongly(3, 2);
    is_away(3, 500us);
    denies_wrongly(3, 2);
    EXPECT_EQ(asked(whom({})), (Numbers{3})) << "the nearest one, and no other";
    EXPECT_EQ(asked(whom({0})), (Numbers{0})) << "not if another one has it";
    EXPECT_EQ(asked(whom({}, {}, 1s)), Numbers{});
}

TEST_F(WhomToAskTest, BelievesANoWhereAskingDoesNotPay) {
    denies_wrongly(2, 100);
    EXPECT_EQ(asked(whom({})), Numbers{}) << "seldom wrong";
    denies_wrongly(1, 4);
    EXPECT_EQ(asked(whom({})), (Numbers{1}));
    origin = steady(2ms);
    EXPECT_EQ(asked(whom({})), Numbers{}) << "the origin is near";
    origin = RoundTrip();
    EXPECT_EQ(asked(whom({})), Numbers{}) << "nothing is known of the origin";
}

TEST_F(WhomToAskTest, AsksNobodyWhoCannotBeAsked) {
    peers[0].in_sync = false;
    peers[1].has_feed = false;
    peers[2].http.host.clear();
    EXPECT_EQ(asked(whom({0, 1})), Numbers{});
    EXPECT_EQ(asked(whom({2})), Numbers{});
    EXPECT_EQ(asked(whom({0, 1, 2, 3})), (Numbers{3})) << "they are in nobody's way";
    for (int i = 0; i < 3; ++i) {
        records[3].asked();
        records[3].ended(PeerVerdict::failure, kNow);
    }
    EXPECT_EQ(asked(whom({3})), Numbers{}) << "its breaker is open";
}

TEST_F(WhomToAskTest, AsksOneThatMayHoldItAsAPartOfMore) {
    const auto only_perhaps = whom({}, {1, 2});
    ASSERT_EQ(only_perhaps.count, 1u);
    EXPECT_FALSE(only_perhaps.turns[0].promised);
    const auto both = whom({3}, {1, 2});
    ASSERT_EQ(both.count, 2u);
    EXPECT_EQ(both.turns[0], (PeerTurn{3, true})) << "who has the very key comes first";
    EXPECT_FALSE(both.turns[1].promised);
    EXPECT_EQ(asked(whom({0, 3}, {1, 2})).size(), 2u);
}

TEST_F(WhomToAskTest, AsksNobodyWhileAnInvalidationIsTooYoungToTellCopiesApart) {
    EXPECT_EQ(whom({1}, {}, kAgeGranularity - 1ms).count, 0u);
    EXPECT_EQ(whom({1}, {}, kAgeGranularity).count, 1u);
}

TEST_F(WhomToAskTest, LeavesAloneWhoIsFartherThanTheOriginByTooMuch) {
    is_away(1, 500ms);
    EXPECT_EQ(asked(whom({1, 2})), (Numbers{2}));
    EXPECT_FALSE(whom({1, 2}).too_far);
    const auto far = whom({1});
    EXPECT_EQ(far.count, 0u);
    EXPECT_TRUE(far.too_far);
}

TEST_F(WhomToAskTest, AsksWhoIsFarBesideTheOriginToKnowWhetherItStillIs) {
    is_away(1, 500ms);
    records[1].measure_from(kNow - kMeasureAgainAfter);
    const auto far = whom({1});
    EXPECT_EQ(asked(far), (Numbers{1}));
    EXPECT_TRUE(far.beside_the_origin);
    const auto perhaps = whom({}, {1});
    EXPECT_EQ(perhaps.count, 0u) << "only for what it surely has";
    EXPECT_TRUE(perhaps.too_far);
}

TEST(WantedAge, IsBoundedByTheLastInvalidation) {
    EXPECT_EQ(wanted_max_age({}), std::nullopt);
    EXPECT_EQ(wanted_max_age(10s), 8s);
    EXPECT_EQ(wanted_max_age(10s + 999ms), 8s);
    EXPECT_EQ(wanted_max_age(1s), 0s);
}

/// A copy of a given age, fresh for a minute.
class SecondPeerTest : public ::testing::Test {
protected:
    SecondPeerTest() {
        copy.status = 200;
        copy.freshness.lifetime = StoredSeconds(60);
    }
    bool is_current(SinceInvalidation invalidated = {}) const {
        return is_current_copy(directives, copy, invalidated);
    }

    StoredMetadata copy;
    RequestDirectives directives;
};

TEST_F(SecondPeerTest, DoesWhileItNeedsNoValidation) {
    EXPECT_TRUE(is_current());
    copy.freshness.initial_age = StoredSeconds(60);
    EXPECT_FALSE(is_current());
    directives.max_stale = 10s;  // RFC 9111 §5.2.1.2
    EXPECT_TRUE(is_current());
}

TEST_F(SecondPeerTest, DoesNotIfItMayHaveBeenMadeBeforeTheLastInvalidation) {
    copy.freshness.initial_age = StoredSeconds(5);
    EXPECT_TRUE(is_current(7s));
    EXPECT_FALSE(is_current(7s - 1ms)) << "its age may be two seconds too short";
}

TEST_F(SecondPeerTest, DoesNotIfNoNodeStoresWhatIsLikeIt) {
    const auto does = [this](StorageVerdict verdict) {
        return judge_copy(directives, copy, verdict, {}) == PeerVerdict::hit;
    };
    EXPECT_TRUE(does(StorageVerdict::store));
    EXPECT_TRUE(does(StorageVerdict::authorization)) << "that is this request's";
    EXPECT_FALSE(does(StorageVerdict::private_));
    EXPECT_FALSE(does(StorageVerdict::no_store));
    copy.status = 103;
    EXPECT_FALSE(does(StorageVerdict::store));
}

TEST_F(SecondPeerTest, IsAnOrdinaryNoIfItHasBecomeTooOldOnTheWay) {
    const auto judged = [this](StorageVerdict verdict = StorageVerdict::store,
                               SinceInvalidation since = {}) {
        return judge_copy(directives, copy, verdict, since);
    };
    EXPECT_EQ(judged(), PeerVerdict::hit);
    EXPECT_EQ(judged(StorageVerdict::store, 1s), PeerVerdict::too_old) << "purged here";
    copy.freshness.initial_age = StoredSeconds(60);
    EXPECT_EQ(judged(), PeerVerdict::too_old);
    EXPECT_EQ(judged(StorageVerdict::not_reusable), PeerVerdict::too_old);
    EXPECT_EQ(judged(StorageVerdict::no_store), PeerVerdict::unusable) << "other settings";
    copy.freshness.lifetime = StoredSeconds(0);
    EXPECT_EQ(judged(), PeerVerdict::unusable) << "no peer with these settings gives that";
}

Head head_of(unsigned status, Fields fields) {
    Head head;
    head.status = status;
    head.fields.assign(fields.begin(), fields.end());
    return head;
}

TEST(StaleCopyOfAPeer, IsKnownByTheValidatorsOfItsRefusal) {
    const test::Head text("ETag: \"1\"");
    const auto copy = stale_copy_at("b", head_of(504, text));
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->peer, "b");
    EXPECT_EQ(copy->validators().etag, "\"1\"");
    const test::Head none("");
    EXPECT_FALSE(stale_copy_at("b", head_of(504, none)));
}

TEST(StaleCopyOfAPeer, IsTheVeryOneThatTheOriginHasValidated) {  // RFC 9111 §4.3.4
    const StaleCopy copy{"b", "\"1\"", ""};
    const test::Head same("ETag: \"1\""), other("ETag: \"2\"");
    EXPECT_TRUE(is_that_copy(copy, head_of(200, same), false));
    EXPECT_FALSE(is_that_copy(copy, head_of(200, other), false));
    EXPECT_TRUE(is_that_copy(copy, head_of(304, same), true));
    EXPECT_FALSE(is_that_copy(copy, head_of(404, same), false));
}

/// Peers 7 and 9 have it, one after the other 2 ms away; the origin takes 80 ms.
class PeerRaceTest : public ::testing::Test {
protected:
    static PeerTurns two() {
        PeerTurns whom;
        whom.add({7, true});
        whom.add({9, true});
        return whom;
    }
    PeerRequestPlan race(const PeerTurns& whom, bool asks_origin = true) const {
        return PeerRequestPlan(whom, steady(2ms), steady(80ms), bounds, asks_origin, kNow);
    }
    static AskStep step(const PeerRequestPlan& race, PeerRequestPlan::InFlightRequests open,
                        PeerRequestPlan::Time now = kNow) {
        return race.next(open, now).step;
    }
    PeerRequestPlan::Duration budget() const {
        return peer_budget(steady(2ms), steady(80ms), bounds);
    }

    PeerTimes bounds;
};

TEST_F(PeerRaceTest, SparesTheOriginOfABodyThatTheClusterFetches) {
    auto plan = race(two()), never = race(two(), false);
    plan.spare_origin(bounds, kNow);
    never.spare_origin(bounds, kNow);
    for (auto* each : {&plan, &never}) {
        each->ask(0);
        each->asked(steady(80ms), kNow);
    }
    EXPECT_NE(step(plan, {1}, kNow + bounds.budget_most - 1ms), AskStep::ask_origin);
    EXPECT_EQ(step(plan, {1}, kNow + bounds.budget_most), AskStep::ask_origin);
    EXPECT_NE(step(never, {1}, kNow + bounds.budget_most), AskStep::ask_origin);
}

TEST_F(PeerRaceTest, AsksOneAfterTheOtherAsTheyHaveNothing) {
    auto plan = race(two());
    ASSERT_EQ(step(plan, {}), AskStep::ask_peer);
    const auto first = plan.ask(0);
    EXPECT_EQ(first.turn.peer, 7u);
    EXPECT_FALSE(first.again);
    EXPECT_EQ(first.budget, budget());
    plan.asked(steady(2ms), kNow);
    EXPECT_EQ(step(plan, {1}), AskStep::wait);
    ASSERT_EQ(step(plan, {}), AskStep::ask_peer) << "the first had nothing";
    EXPECT_EQ(plan.ask(0).turn.peer, 9u);
    plan.asked(steady(2ms), kNow);
    EXPECT_EQ(step(plan, {}), AskStep::no_peers);
}

TEST_F(PeerRaceTest, AsksTheOriginBesideThemWhenTheBudgetHasPassed) {
    auto plan = race(two());
    plan.ask(0);
    plan.asked(steady(2ms), kNow);
    const auto waits = plan.next({1}, kNow);
    EXPECT_EQ(waits.step, AskStep::wait);
    EXPECT_EQ(waits.at, kNow + budget());
    EXPECT_EQ(step(plan, {1}, kNow + budget()), AskStep::ask_origin);
    EXPECT_EQ(step(plan, {1, true}, kNow + budget()), AskStep::wait);
    plan.origin_cannot_be_asked();
    EXPECT_EQ(step(plan, {1}, kNow + 1h), AskStep::wait) << "not again";
}

TEST_F(PeerRaceTest, NeverAsksAnOriginThatItHasNot) {
    auto plan = race(two(), false);
    plan.ask(0);
    plan.asked(steady(2ms), kNow);
    EXPECT_EQ(step(plan, {1}, kNow + 1h), AskStep::wait);
}

TEST_F(PeerRaceTest, RepeatsARequestThatWasProbablyLost) {
    auto plan = race(two());
    plan.ask(0);
    plan.asked(steady(10ms), kNow);  // of 40 ms, so it is waited for 20
    EXPECT_EQ(step(plan, {1}, kNow + kRepeatAfter - 1ms), AskStep::wait);
    ASSERT_EQ(step(plan, {1}, kNow + kRepeatAfter), AskStep::ask_peer);
    const auto second = plan.ask(1);
    EXPECT_EQ(second.turn.peer, 9u);
    EXPECT_TRUE(second.again);
}

TEST_F(PeerRaceTest, PutsItTwiceToTheOnlyOneThatHasIt) {
    PeerTurns one;
    one.add({7, true});
    auto plan = race(one);
    plan.ask(0);
    plan.asked(steady(10ms), kNow);
    ASSERT_EQ(step(plan, {1}, kNow + kRepeatAfter), AskStep::ask_peer);
    EXPECT_EQ(plan.ask(1).turn.peer, 7u);
    plan.asked(steady(10ms), kNow + kRepeatAfter);
    EXPECT_EQ(step(plan, {2}, kNow + 2 * kRepeatAfter - 1ms), AskStep::wait);
    EXPECT_EQ(step(plan, {}), AskStep::no_peers) << "its answer is not asked for again";
}

TEST_F(PeerRaceTest, PutsABetterRequestToTheSamePeerBeforeTheNextOne) {
    auto plan = race(two());
    plan.ask(0);
    plan.asked(steady(10ms), kNow);
    plan.ask_again({7, true});
    for (const auto peer : {7u, 9u}) {
        ASSERT_EQ(step(plan, {}), AskStep::ask_peer);
        EXPECT_EQ(plan.ask(0).turn.peer, peer);
        plan.asked(steady(10ms), kNow);
    }
    EXPECT_EQ(step(plan, {1}, kNow + kRepeatAfter), AskStep::wait) << "two have been asked";
    EXPECT_EQ(step(plan, {}), AskStep::no_peers);
}

TEST_F(PeerRaceTest, AsksWhoIsFarAndTheOriginAtOnce) {
    PeerTurns far;
    far.add({7, true});
    far.beside_the_origin = true;
    auto plan = race(far);
    EXPECT_EQ(plan.ask(0).budget, kLatestHead) << "nobody waits for it, so it is not late";
    plan.asked(steady(500ms), kNow);
    EXPECT_EQ(step(plan, {1}), AskStep::ask_origin);
    EXPECT_EQ(step(plan, {1, true, true}), AskStep::wait) << "it may be what is left";
    EXPECT_EQ(step(plan, {0, true, true}), AskStep::no_peers);
}

constexpr summary::KeyHash kOneKey{1, 2}, kOtherKey{3, 4};

TEST(UseOfCopy, FollowsThePolicy) {
    RemoteHits lately;
    for (const auto expected : {CopyUse::passed_on_once, CopyUse::stored, CopyUse::stored})
        EXPECT_EQ(use_of_copy(CopyPolicy::second_use, {kOneKey}, lately), expected);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(use_of_copy(CopyPolicy::always, {kOtherKey}, lately), CopyUse::stored);
        EXPECT_EQ(use_of_copy(CopyPolicy::never, {kOtherKey}, lately), CopyUse::passed_on);
    }
    EXPECT_FALSE(lately.note(kOtherKey)) << "what other policies do is not noted";
}

TEST(UseOfCopy, IsStoredWhileThereIsRoomAndThenFromTheSecondUseOn) {
    RemoteHits lately;
    const auto use = [&](summary::KeyHash key, bool room) {
        return use_of_copy(CopyPolicy::while_room, {.key = key, .room = room}, lately);
    };
    EXPECT_EQ(use(kOneKey, true), CopyUse::stored);
    EXPECT_EQ(use(kOtherKey, false), CopyUse::passed_on_once);
    EXPECT_EQ(use(kOtherKey, false), CopyUse::stored);
    EXPECT_EQ(use(kOneKey, false), CopyUse::stored) << "it had gone, and comes a second time";
    const RemoteHit with_room{.key = {5, 9}, .room = true};
    EXPECT_EQ(use_of_copy(CopyPolicy::second_use, with_room, lately), CopyUse::passed_on_once);
    EXPECT_EQ(use_of_copy(CopyPolicy::never, with_room, lately), CopyUse::passed_on);
}

TEST(UseOfCopy, HasRoomUntilOneSixteenthOfTheCapIsLeft) {
    EXPECT_TRUE(base::has_room(0, 1));
    EXPECT_TRUE(base::has_room(1499, 1600));
    EXPECT_FALSE(base::has_room(1500, 1600));
    EXPECT_FALSE(base::has_room(1700, 1600)) << "the cap was lowered";
    EXPECT_FALSE(base::has_room(0, 0));
}

TEST(UseOfCopy, RenewsWhatIsStoredAlready) {
    RemoteHits lately;
    for (const auto policy : kCopyPolicies)
        EXPECT_EQ(use_of_copy(policy, {.key = kOneKey, .renews = true}, lately), CopyUse::stored);
    EXPECT_EQ(use_of_copy(CopyPolicy::second_use, {kOneKey}, lately), CopyUse::stored)
        << "a renewal is a use as well";
}

TEST(UseOfCopy, CountsWhoWaitsForTheSameAnswerAsAUse) {
    RemoteHits lately;
    const RemoteHit awaited{.key = kOneKey, .awaited = true};
    EXPECT_EQ(use_of_copy(CopyPolicy::second_use, awaited, lately), CopyUse::stored);
    EXPECT_EQ(use_of_copy(CopyPolicy::never, awaited, lately), CopyUse::passed_on);
}

}  // namespace peer_request_plan_test
}  // namespace proxy
