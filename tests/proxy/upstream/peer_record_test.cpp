#include "proxy/upstream/peer_record.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

namespace proxy {
namespace peer_record_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

void ask(PeerRecord& record, PeerVerdict verdict, std::chrono::nanoseconds round_trip = 1ms,
         PeerRecord::Time now = kNow) {
    record.asked();
    record.answered_after(round_trip, now);
    record.ended(verdict, now);
}

TEST(PeerRecord, TakesCopiesThatAreTooOldForOrdinaryAnswers) {
    PeerRecord record;
    for (int i = 0; i < 200; ++i) ask(record, PeerVerdict::too_old);
    EXPECT_TRUE(record.may_ask(kNow));
    EXPECT_EQ(record.counts().too_old, 200u);
    EXPECT_EQ(record.counts().failures, 0u);
    EXPECT_TRUE(record.last_failure().reason.empty());
}

TEST(PeerRecord, CostsABodyTheTimeAtItsRateBehindThoseUnderWay) {
    constexpr std::uint64_t kMiB = 1 << 20;
    PeerRecord record;
    ask(record, PeerVerdict::hit);
    EXPECT_NEAR(record.cost(4 * kMiB), 0.001, 1e-5) << "its rate is unknown";
    record.asked();
    EXPECT_NEAR(record.cost(4 * kMiB), 0.002 + 4 * kMiB / kUnknownRate, 1e-4);
    record.gave_body(4 * kMiB, 2s, kNow);
    record.ended(PeerVerdict::hit, kNow);
    EXPECT_NEAR(record.cost(4 * kMiB), 2.001, 0.01);
    EXPECT_NEAR(record.cost(), 0.001, 1e-5) << "a head has no body";
    record.asked();
    EXPECT_NEAR(record.cost(4 * kMiB), 4.002, 0.02);
    record.asked();
    // Two that come at a time, the second one later.
    record.gave_body(4 * kMiB, 4s, kNow + 10s);
    record.gave_body(4 * kMiB, 3s, kNow + 10s);
    EXPECT_NEAR(record.cost(4 * kMiB) / 3, 2.001, 0.01) << "12 MiB in 2 s and 4 s";
    for (int i = 1; i < 30; ++i) record.gave_body(4 * kMiB, 2s, kNow + 10s + i * 1s);
    EXPECT_NEAR(record.cost(4 * kMiB) / 3, 1.001, 0.1) << "always two, and one ends each second";
}

TEST(PeerRecord, CountsAShortBodyWithinALongOneOnce) {
    constexpr std::uint64_t kMiB = 1 << 20;
    PeerRecord record;
    ask(record, PeerVerdict::hit);
    record.gave_body(kMiB / 10, 10ms, kNow + 1s);
    record.gave_body(kMiB / 10, 10ms, kNow + 3990ms);
    record.gave_body(4 * kMiB, 4s, kNow + 4s);
    EXPECT_NEAR(record.cost(4 * kMiB), 3.8, 0.1) << "4.2 MiB in 4 s";
}

TEST(PeerRecord, IsLeftOutWhileAFasterPeerIsSoonerDoneWithAnotherBody) {
    constexpr std::uint64_t kBlock = 4 << 20;
    std::vector<PeerRecord> records(3);
    for (std::size_t i = 0; i < records.size(); ++i) {
        ask(records[i], PeerVerdict::hit);
        records[i].gave_body(kBlock, i == 2 ? 5s : 1s, kNow);
    }
    summary::PeerSet all;
    for (const unsigned peer : {0u, 1u, 2u}) all.insert(peer);
    std::vector<int> given(3);
    for (int i = 0; i < 8; ++i) {
        const auto best = choose_peers(all, records, kNow, kBlock).peers[0];
        records[best].asked();
        ++given[best];
    }
    EXPECT_EQ(given, (std::vector{4, 4, 0}));
    EXPECT_EQ(choose_peers(all, records, kNow, kBlock).peers[0], 2u) << "the others have enough";
}

TEST(PeerRecord, OfAnotherInstanceOnlyTheCountsStay) {
    PeerRecord record;
    record.belongs_to(7);
    for (int i = 0; i < 3; ++i) ask(record, PeerVerdict::failure);
    record.failed_by("connect_failed", kNow);
    ASSERT_FALSE(record.may_ask(kNow));
    record.belongs_to(7);
    EXPECT_FALSE(record.may_ask(kNow)) << "it is the same";
    EXPECT_EQ(record.last_failure().reason, "connect_failed");
    record.belongs_to(8);
    EXPECT_TRUE(record.may_ask(kNow));
    EXPECT_FALSE(record.broken());
    EXPECT_EQ(record.last_failure().reason, "");
    EXPECT_FALSE(record.round_trip().known());
    EXPECT_EQ(record.counts().failures, 3u);
    EXPECT_EQ(record.instance(), 8u);
}

TEST(PeerRecord, KnowsALinkByItsToken) {
    PeerRecord record;
    EXPECT_TRUE(record.comes_by("one"));
    EXPECT_FALSE(record.comes_by("one"));
    EXPECT_TRUE(record.comes_by("two"));
}

TEST(PeerRecord, CountsTheEndOfEachRequest) {
    PeerRecord record;
    for (const auto verdict : {PeerVerdict::hit, PeerVerdict::false_hit, PeerVerdict::stale_hit,
                               PeerVerdict::refused, PeerVerdict::timeout, PeerVerdict::failure})
        ask(record, verdict);
    const auto& counts = record.counts();
    EXPECT_EQ(counts.asked, 6u);
    EXPECT_EQ(counts.hits, 1u);
    EXPECT_EQ(counts.false_hits, 1u);
    EXPECT_EQ(counts.stale_hits, 1u);
    EXPECT_EQ(counts.refused, 1u);
    EXPECT_EQ(counts.failures, 2u);
}

TEST(PeerRecord, CountsTheWorthOfRequests) {
    PeerRecord record;
    record.false_hit_was(FalseHits::Cause::collision);
    record.false_hit_was(FalseHits::Cause::withdrawn);
    record.false_hit_was(FalseHits::Cause::withdrawn);
    for (const auto false_miss : {false, true, false}) record.sampled(false_miss);
    record.won({1500us, 0us});
    record.won({0us, 20us});
    record.won({500us, 1us});
    const auto& counts = record.counts();
    EXPECT_EQ(counts.collisions, 1u);
    EXPECT_EQ(counts.evicted, 2u);
    EXPECT_EQ(counts.sampled, 3u);
    EXPECT_EQ(counts.false_misses, 1u);
    EXPECT_EQ(counts.saved_microseconds, 2000u);
    EXPECT_EQ(counts.lost_microseconds, 21u);
    EXPECT_EQ(counts.asked, 0u) << "samples are in no books";
}

TEST(PeerRecord, SaysHowOftenItsSummaryDeniesWhatItHasOnlyWhenThatIsWellKnown) {
    PeerRecord record;
    for (int i = 1; i < kDenialsEnough; ++i) record.denied(true);
    EXPECT_EQ(record.false_miss_rate(), 0);
    record.denied(true);
    EXPECT_NEAR(record.false_miss_rate(), 1 - 2 / std::sqrt(64), 1e-9) << "on the safe side";
    PeerRecord seldom;
    for (int i = 0; i < 400; ++i) seldom.sampled(i % 100 == 0);
    EXPECT_EQ(seldom.false_miss_rate(), 0) << "four may be chance";
}

TEST(PeerRecord, ForgetsWhatItsSummaryDeniedLongAgo) {
    PeerRecord record;
    for (int i = 0; i < kDenialsRemembered; ++i) record.denied(true);
    const auto before = record.false_miss_rate();
    for (int i = 0; i < kDenialsRemembered; ++i) record.denied(false);
    EXPECT_LT(record.false_miss_rate(), before / 2);
    for (int i = 0; i < 20 * kDenialsRemembered; ++i) record.denied(false);
    EXPECT_EQ(record.false_miss_rate(), 0);
}

TEST(PeerRecord, IsNotBlamedForAnAnswerThatAnotherOneOutran) {
    PeerRecord record;
    for (unsigned i = 0; i < 2 * kBreakerFailures; ++i) ask(record, PeerVerdict::outrun);
    EXPECT_TRUE(record.may_ask(kNow));
    EXPECT_EQ(record.counts().failures, 2 * kBreakerFailures);  // what it gave was of no use
}

TEST(PeerRecord, KnowsWhenItsDistanceWasLastMeasured) {
    PeerRecord record;
    EXPECT_TRUE(record.measured_long_ago(kNow));
    record.measure_from(kNow);
    EXPECT_FALSE(record.measured_long_ago(kNow + kMeasureAgainAfter / 2));
    record.answered_after(5ms, kNow + kMeasureAgainAfter);
    EXPECT_EQ(record.round_trip().mean(), 5ms);
    EXPECT_FALSE(record.measured_long_ago(kNow + kMeasureAgainAfter * 3 / 2));
    EXPECT_TRUE(record.measured_long_ago(kNow + 2 * kMeasureAgainAfter));
}

TEST(PeerRecord, IsLeftAloneAfterFailuresInARowForLongerEachTime) {
    PeerRecord record;
    for (unsigned i = 0; i < kBreakerFailures; ++i) {
        EXPECT_TRUE(record.may_ask(kNow));
        ask(record, PeerVerdict::timeout);
    }
    EXPECT_FALSE(record.may_ask(kNow));
    EXPECT_TRUE(record.may_ask(kNow + kBreakerFirst));
    ask(record, PeerVerdict::failure, 1ms, kNow + kBreakerFirst);
    EXPECT_FALSE(record.may_ask(kNow + 2 * kBreakerFirst));
    EXPECT_TRUE(record.may_ask(kNow + 3 * kBreakerFirst));
    for (int i = 0; i < 50; ++i) ask(record, PeerVerdict::failure);
    EXPECT_TRUE(record.may_ask(kNow + kBreakerMax));  // never for ever
    ask(record, PeerVerdict::hit, 1ms, kNow + kBreakerMax);
    ask(record, PeerVerdict::failure, 1ms, kNow + kBreakerMax);
    EXPECT_TRUE(record.may_ask(kNow + kBreakerMax));  // one success closes the breaker
}

TEST(PeerRecord, IsDistrustedWhenMostAnswersWereInVain) {
    for (const auto verdict : {PeerVerdict::false_hit, PeerVerdict::unusable}) {
        PeerRecord record;
        for (unsigned i = 0; i < kDistrustAfter - 1; ++i) ask(record, verdict);
        EXPECT_TRUE(record.may_ask(kNow));
        ask(record, verdict);
        EXPECT_FALSE(record.may_ask(kNow));
        EXPECT_TRUE(record.may_ask(kNow + kDistrustFor));
        ask(record, verdict);
        EXPECT_TRUE(record.may_ask(kNow + kDistrustFor));  // a new judgement needs new evidence
    }
}

TEST(ChoosePeers, TakesTheCheapestTwoThatMayBeAsked) {
    std::vector<PeerRecord> records(5);
    const std::chrono::milliseconds times[]{9ms, 1ms, 5ms, 2ms, 7ms};
    for (std::size_t i = 0; i < records.size(); ++i)
        for (int n = 0; n < 200; ++n) ask(records[i], PeerVerdict::hit, times[i]);
    auto choice = choose_peers({0, 1, 2, 3, 4}, records, kNow);
    ASSERT_EQ(choice.count, 2u);
    EXPECT_EQ(choice.peers[0], 1u);
    EXPECT_EQ(choice.peers[1], 3u);
    for (unsigned i = 0; i < kBreakerFailures; ++i) ask(records[1], PeerVerdict::failure);
    choice = choose_peers({0, 1, 3, 4}, records, kNow);
    EXPECT_EQ(choice.peers[0], 3u);
    EXPECT_EQ(choice.peers[1], 4u);
    EXPECT_EQ(choose_peers({1}, records, kNow).count, 0u);
    EXPECT_EQ(choose_peers({}, records, kNow).count, 0u);
    EXPECT_EQ(choose_peers({63, 700}, records, kNow).count, 0u);  // no peers
}

TEST(PeersNamed, AreTheSameAfterAReloadThatReordersThem) {
    const auto view_of = [](std::initializer_list<const char*> nodes) {
        protocol::PeerView view;
        view.peers.resize(nodes.size());
        std::size_t number = 0;
        for (const auto* node : nodes) {
            protocol::PeerView::Peer peer;
            peer.node = node;
            view.peers.set(number++, peer);
        }
        return view;
    };
    const PeerNames names{"c", "a", "c"};
    EXPECT_EQ(peers_named(names, view_of({"a", "b", "c"})), (summary::PeerSet{0, 2}));
    EXPECT_EQ(peers_named(names, view_of({"b", "a", "c"})), (summary::PeerSet{1, 2}));
    EXPECT_EQ(peers_named(names, view_of({"b", "a"})), (summary::PeerSet{1}));
    EXPECT_TRUE(peers_named({}, view_of({"b", "a"})).empty());
}

TEST(ChoosePeers, PrefersThePeerWithLessUnderWay) {
    std::vector<PeerRecord> records(2);
    records[0].asked();
    EXPECT_EQ(choose_peers({0, 1}, records, kNow).peers[0], 1u);
}

/// Asking one after the other until one has it, then the origin (Cohen, Einziger, Friedman,
/// Scalosub 2021): the expected time, if a request to peer i takes cost[i] and is in vain with
/// chance vain[i].
double expected_time(const std::vector<std::size_t>& order, const std::vector<double>& cost,
                     const std::vector<double>& vain, double origin) {
    double time = 0, reached = 1;
    for (const auto peer : order) {
        time += reached * cost[peer];
        reached *= vain[peer];
    }
    return time + reached * origin;
}

TEST(PeerRecordChoice, AsksInTheOrderThatTakesTheLeastTime) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::vector<PeerRecord> records(2);
        std::vector<double> cost, vain;
        for (std::size_t i = 0; i < 2; ++i) {
            const auto time = std::chrono::milliseconds(1 + (seed * (7 + 6 * i)) % 23);
            // Not so many false hits that it is left alone.
            const auto share = (seed * (3 + 2 * i)) % 6;
            for (unsigned n = 0; n < 160; ++n)
                ask(records[i], n % 16 < share ? PeerVerdict::false_hit : PeerVerdict::hit, time);
            cost.push_back(std::chrono::duration<double>(time).count());
            vain.push_back(1 - cost.back() / records[i].cost());
        }
        const auto choice = choose_peers({0, 1}, records, kNow);
        ASSERT_EQ(choice.count, 2u);
        const std::vector<std::size_t> chosen(choice.peers.begin(), choice.peers.end());
        const std::vector<std::size_t> other(chosen.rbegin(), chosen.rend());
        for (const auto origin : {0.005, 0.08, 1.0})
            EXPECT_LE(expected_time(chosen, cost, vain, origin),
                      expected_time(other, cost, vain, origin) + 1e-9)
                << seed;
    }
}

}  // namespace peer_record_test
}  // namespace proxy
