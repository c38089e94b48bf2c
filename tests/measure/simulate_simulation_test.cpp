#include "measure/simulate/simulation.hpp"

#include <gtest/gtest.h>

#include <list>

#include "measure/report/ideal.hpp"
#include "tests/measure/simulated.hpp"

namespace measure {
namespace simulate_simulation_test {

using namespace test;

constexpr Scheme kSharing[] = {Scheme::icp,          Scheme::squid_digest, Scheme::exact_directory,
                               Scheme::server_names, Scheme::paper_bloom,  Scheme::summary};
constexpr Scheme kAll[] = {
    Scheme::none,         Scheme::icp,         Scheme::squid_digest, Scheme::exact_directory,
    Scheme::server_names, Scheme::paper_bloom, Scheme::summary,      Scheme::consistent_hashing,
    Scheme::single_cache};

TEST(Simulation, ProxiesThatShareNothingFetchEverythingThemselves) {
    Asked asked(2);
    asked.by(0, {1}).by(1, {1, 2});
    asked.at(1s).by(0, {1}).by(1, {1});
    auto config = small(Scheme::none, 2);
    config.network.origin = 100ms;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.requests, 5u);
    EXPECT_EQ(counts.local_hits, 2u);
    EXPECT_EQ(counts.peer_hits, 0u);
    EXPECT_EQ(counts.stored, 3u);
    EXPECT_EQ(counts.bytes, 5000u);
    EXPECT_EQ(counts.local_hit_bytes, 2000u);
    EXPECT_DOUBLE_EQ(counts.waited_ms, 300);
}

TEST(Simulation, OneCacheOfAllHasTheRoomOfAll) {
    Asked asked(2);
    asked.by(0, {1, 2}).by(1, {3, 4, 1, 2, 3, 4});
    const auto counts = simulate(asked.trace, small(Scheme::single_cache, 2, 2));
    EXPECT_EQ(counts.local_hits, 4u);
    EXPECT_EQ(counts.evicted, 0u);
}

TEST(Simulation, TheLeastRecentlyUsedObjectGoesFirst) {
    Asked asked(1);
    asked.by(0, {1, 2, 1, 3, 1, 2});  // 3 takes the place of 2
    const auto counts = simulate(asked.trace, small(Scheme::none, 1, 2));
    EXPECT_EQ(counts.local_hits, 2u);
    EXPECT_EQ(counts.evicted, 2u);
}

TEST(Simulation, IcpFindsWhatAnyOtherHolds) {
    Asked asked(3);
    asked.by(0, {1});
    asked.at(10ms).by(1, {1, 1, 2}).by(2, {1});
    const auto counts = simulate(asked.trace, small(Scheme::icp, 3));
    EXPECT_EQ(counts.local_hits, 1u);
    EXPECT_EQ(counts.peer_hits, 2u);
    EXPECT_EQ(counts.query_messages, 4u * 4);  // 4 local misses, each to two others and back
    EXPECT_EQ(counts.query_bytes, 16u * 70);
    EXPECT_EQ(counts.peer_requests, 2u);
    EXPECT_EQ(counts.false_misses, 0u);
}

TEST(Simulation, IcpWithoutLimitsReachesTheIdeal) {
    const auto trace = workload(20'000, 3000);
    SimulationConfig config;
    config.scheme = Scheme::icp;
    config.copy = proxy::CopyPolicy::always;
    config.network.origin = 0ms;
    const auto counts = simulate(trace, config);
    const auto ideal = ideal_of(trace, config.proxies, config.unknown_bytes).total;
    EXPECT_EQ(counts.requests, ideal.requests);
    EXPECT_EQ(counts.local_hits, ideal.local_hits);
    EXPECT_EQ(counts.hits(), ideal.shared_hits);
    EXPECT_EQ(counts.bytes, ideal.bytes);
    EXPECT_EQ(counts.local_hit_bytes + counts.peer_hit_bytes, ideal.shared_hit_bytes);
}

TEST(Simulation, SummariesFindWhatHasBeenAnnounced) {
    Asked asked(2);
    asked.at(0ms).by(0, {1}).by(1, {1});  // within the delay: the announcement is still on its way
    asked.at(1ms).by(0, {2});
    asked.at(2ms).by(1, {2});
    const auto counts = simulate(asked.trace, small(Scheme::summary, 2));
    EXPECT_EQ(counts.peer_hits, 1u);
    EXPECT_EQ(counts.false_misses, 1u);
    EXPECT_EQ(counts.peer_requests, 1u);
    EXPECT_EQ(counts.query_messages, 0u);
    // A snapshot each at the beginning, and four changes.
    EXPECT_EQ(counts.announcements, 2u + 4u);
    EXPECT_GE(counts.snapshots, 2u);
    EXPECT_GT(counts.announcement_bytes, 6u * 30);
}

TEST(Simulation, AnEvictionThatIsNotToldYetMakesAFalseHit) {
    Asked asked(2);
    auto config = small(Scheme::summary, 2, 4);
    config.announce_changed = 1;  // all of them
    config.announce_delay = 10s;
    asked.at(0ms).by(0, {1, 2, 3, 4});
    asked.at(20s).by(0, {5});  // in place of 1
    asked.at(29s).by(1, {1});
    asked.at(31s).by(1, {2}).by(0, {6}).by(1, {2, 4});  // 3 goes: 2 is used, if by a peer
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.false_hits_evicted, 1u);
    EXPECT_EQ(counts.false_hits_collision, 0u);
    EXPECT_EQ(counts.query_messages, 1u);
    EXPECT_EQ(counts.peer_hits, 2u);
    EXPECT_EQ(counts.peer_requests, 3u);
}

TEST(Simulation, NearbySummariesAreAsGoodAsIcp) {
    const auto trace = workload(20'000, 3000);
    for (const auto kind : summary::kKinds) {
        SimulationConfig config;
        config.kind = kind;
        config.cache_bytes = 8 << 20;
        config.network.delay = 1us;
        config.announce_changed = 1e-6;
        config.requests_per_second = 1000;
        const auto summaries = simulate(trace, config);
        config.scheme = Scheme::icp;
        const auto icp = simulate(trace, config);
        EXPECT_GT(icp.peer_hits, 1000u);
        EXPECT_GT(icp.evicted, 500u);
        // Two are asked at most, and filters of similar contents err together.
        EXPECT_LT(summaries.false_misses, 5u) << name(kind);
        EXPECT_EQ(summaries.false_hits_evicted, 0u) << name(kind);
        EXPECT_NEAR(static_cast<double>(summaries.hits()), static_cast<double>(icp.hits()), 20)
            << name(kind);
        EXPECT_LT(summaries.query_messages, icp.query_messages / 100) << name(kind);
    }
}

TEST(Simulation, FalseHitsKeepToTheBudget) {
    const auto trace = workload(50'000, 30'000);
    for (const auto kind : summary::kKinds) {
        SimulationConfig config;
        config.kind = kind;
        config.false_hit_budget = 0.05;
        config.network.delay = 1us;
        config.announce_changed = 1e-6;
        const auto counts = simulate(trace, config);
        const auto misses = static_cast<double>(counts.requests - counts.local_hits);
        EXPECT_GT(static_cast<double>(counts.false_hits_collision), 0.005 * misses) << name(kind);
        EXPECT_LT(static_cast<double>(counts.false_hits_collision), 0.06 * misses) << name(kind);
    }
}

TEST(Simulation, EachUrlHasOneHomeUnderConsistentHashing) {
    Asked asked(2);
    asked.by(0, {1, 1}).by(1, {1, 1});
    const auto counts = simulate(asked.trace, small(Scheme::consistent_hashing, 2));
    EXPECT_EQ(counts.hits(), 3u);
    EXPECT_EQ(counts.stored, 1u);
    EXPECT_EQ(counts.peer_requests, 2u);  // of the proxy that is not its home
}

TEST(Simulation, CopiesAreKeptAsThePolicySays) {
    Asked asked(2);
    asked.by(0, {1});
    for (const auto time : {10ms, 20ms, 30ms, 40ms}) asked.at(time).by(1, {1});
    auto config = small(Scheme::summary, 2);
    EXPECT_EQ(simulate(asked.trace, config).peer_hits, 1u) << "there is room";
    config.copy = proxy::CopyPolicy::always;
    EXPECT_EQ(simulate(asked.trace, config).peer_hits, 1u);
    config.copy = proxy::CopyPolicy::second_use;
    EXPECT_EQ(simulate(asked.trace, config).peer_hits, 2u);
    config.copy = proxy::CopyPolicy::never;
    EXPECT_EQ(simulate(asked.trace, config).peer_hits, 4u);
}

TEST(Simulation, CopiesAreKeptAtTheFirstUseWhileThereIsRoom) {
    Asked asked(2);
    asked.by(0, {1, 2}).by(1, {11, 12, 13});
    asked.at(10s).by(1, {1});                                      // the last of four places
    for (const auto time : {20s, 30s}) asked.at(time).by(1, {2});  // full now
    auto config = small(Scheme::summary, 2, 4);
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 3u) << "2 is passed on, and then stored";
    EXPECT_EQ(counts.evicted, 1u);
    config.copy = proxy::CopyPolicy::always;
    EXPECT_EQ(simulate(asked.trace, config).peer_hits, 2u);
}

TEST(Simulation, ARequestForAnObjectInFetchJoinsIt) {
    Asked asked(2);
    asked.by(0, {1});
    asked.at(40ms).by(0, {1});
    asked.at(60ms).by(1, {1});
    asked.at(200ms).by(0, {1});
    auto config = small(Scheme::summary, 2);
    config.network.origin = 100ms;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.local_hits, 2u);
    EXPECT_EQ(counts.joined, 1u);
    EXPECT_EQ(counts.stored, 2u) << "what is not there yet is not told to others";
    EXPECT_DOUBLE_EQ(counts.waited_ms, 100 + 60 + 100);
}

TEST(Simulation, AStaleObjectIsValidatedAtTheOrigin) {
    Asked asked(1);
    for (const auto time : {0ms, 900ms, 2000ms, 2900ms}) asked.at(time).by(0, {1});
    for (const auto scheme : {Scheme::none, Scheme::summary, Scheme::consistent_hashing}) {
        auto config = small(scheme, 1);
        config.fresh_for = 1s;
        const auto same = simulate(asked.trace, config);
        EXPECT_EQ(same.local_hits, 3u);
        EXPECT_EQ(same.validations, 1u);
        config.changes = 1;
        const auto changed = simulate(asked.trace, config);
        EXPECT_EQ(changed.local_hits, 2u);
        EXPECT_EQ(changed.validations, 0u);
    }
}

TEST(Simulation, AStaleCopyOfAPeerIsGivenWhenTheOriginConfirmsIt) {
    Asked asked(2);
    asked.by(0, {1});
    asked.at(5s).by(1, {1});
    auto config = small(Scheme::summary, 2);
    config.fresh_for = 2s;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.stale_hits, 1u);
    EXPECT_EQ(counts.validations, 1u);
    EXPECT_EQ(counts.peer_hits, 1u);
    EXPECT_EQ(counts.false_hits() + counts.false_misses, 0u);
    config.changes = 1;
    EXPECT_EQ(simulate(asked.trace, config).hits(), 0u);
}

TEST(Simulation, AnObjectIsValidatedOnceForAllThatHoldIt) {
    Asked asked(3);
    asked.by(0, {1});
    asked.at(1200ms).by(1, {1}).by(2, {1});  // copies of 0's
    asked.at(5000ms).by(1, {1});             // the origin confirms it
    asked.at(5500ms).by(0, {1}).by(2, {1});
    auto config = small(Scheme::summary, 3);
    config.fresh_for = 4s;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.validations, 1u);
    EXPECT_EQ(counts.renewals_told, 2u);
    EXPECT_EQ(counts.renewals_taken, 2u);
    EXPECT_EQ(counts.local_hits, 3u);
    EXPECT_EQ(counts.stale_hits, 0u) << "a stale copy is no reason to ask peers";
}

TEST(Simulation, ANewVersionIsTakenFromThePeerThatHasToldOfIt) {
    Asked asked(3);
    asked.by(0, {1});
    asked.at(1200ms).by(1, {1}).by(2, {1});
    asked.at(5000ms).by(1, {1});  // the origin has changed it
    asked.at(5500ms).by(0, {1});
    auto config = small(Scheme::summary, 3);
    config.fresh_for = 4s;
    config.changes = 1;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.validations, 0u);
    EXPECT_EQ(counts.renewals_taken, 0u);
    EXPECT_EQ(counts.peer_requests, 3u);
    EXPECT_EQ(counts.peer_hits, 3u);
    EXPECT_EQ(counts.stale_hits, 0u);
}

TEST(Simulation, ARenewalThatIsStillOnItsWayHelpsNobody) {
    Asked asked(2);
    asked.by(0, {1});
    asked.at(3000ms).by(1, {1});
    asked.at(5000ms).by(1, {1});  // the answer comes at 5500 ms
    asked.at(5550ms).by(0, {1});
    auto config = small(Scheme::summary, 2);
    config.fresh_for = 4s;
    config.network.origin = 500ms;
    config.network.delay = 40ms;
    EXPECT_EQ(simulate(asked.trace, config).renewals_taken, 1u);
    config.network.delay = 60ms;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.renewals_taken, 0u);
    EXPECT_EQ(counts.validations, 2u);
}

TEST(Simulation, TheOriginIsAskedBesideASlowPeerAndTheFirstAnswerCounts) {
    Asked asked(2);
    asked.by(0, {1});
    asked.at(5s).by(1, {1});
    auto config = small(Scheme::summary, 2);
    config.network.origin = 100ms;
    config.network.delay = 60ms;
    const auto slow = simulate(asked.trace, config);
    EXPECT_EQ(slow.origin_beside, 1u);
    EXPECT_EQ(slow.peer_hits, 1u) << "after 120 ms; the origin, asked after 50, takes 150";
    EXPECT_DOUBLE_EQ(slow.waited_ms, 100 + 120);
    config.network.delay = 90ms;
    const auto slower = simulate(asked.trace, config);
    EXPECT_EQ(slower.peer_hits, 0u);
    EXPECT_DOUBLE_EQ(slower.waited_ms, 100 + 150);
}

TEST(Simulation, SomeMissesArePutToPeersThatDenyThem) {
    const auto trace = workload(50'000, 30'000);
    auto config = small(Scheme::summary, 4);
    const auto counts = simulate(trace, config);
    const auto misses = static_cast<double>(counts.requests - counts.local_hits);
    EXPECT_NEAR(static_cast<double>(counts.samples), misses / 1000, misses / 2000);
    EXPECT_EQ(counts.overruled, 0u) << "announcements are in time";
}

TEST(Simulation, OnlyGetsAreStoredAndOnlyHeadsBesideThemAnswered) {
    Asked asked(2);
    asked.trace.methods.push_back("POST");
    asked.by(0, {1}, kHead).by(0, {1}, 2).by(0, {1});
    asked.at(10ms).by(0, {1}, kHead).by(0, {1}, 2);
    const auto counts = simulate(asked.trace, small(Scheme::icp, 2));
    EXPECT_EQ(counts.stored, 1u);
    EXPECT_EQ(counts.local_hits, 1u);
    EXPECT_EQ(counts.local_hit_bytes, 0u);
}

TEST(Simulation, TheWarmUpIsNotCounted) {
    const auto trace = workload(6'000, 1000);
    for (const auto scheme : kAll) {
        auto config = small(scheme, 4, 170);
        const auto whole = simulate(trace, config);
        config.warm_up = 0.5;
        const auto half = simulate(trace, config);
        EXPECT_EQ(half.requests, 3'000u);
        EXPECT_GT(half.hits(), whole.hits() / 2);
        EXPECT_LE(half.announcements, whole.announcements);
        EXPECT_LE(half.query_messages, whole.query_messages);
        EXPECT_LT(half.stored, whole.stored);
    }
}

TEST(Simulation, EqualSeedsGiveEqualCountsAndOthersNearlySo) {
    const auto trace = workload(6'000, 1000);
    for (const auto scheme : kAll) {
        auto config = small(scheme, 4, 170);
        const auto counts = simulate(trace, config);
        EXPECT_EQ(simulate(trace, config), counts);
        config.seed = 2;
        const auto others = simulate(trace, config);
        EXPECT_NEAR(static_cast<double>(others.hits()), static_cast<double>(counts.hits()),
                    0.02 * static_cast<double>(counts.requests));
    }
}

TEST(Simulation, ProgressCanEndIt) {
    const auto trace = workload(30'000, 3000);
    std::vector<double> parts;
    const auto counts = simulate(trace, small(Scheme::none, 4), [&](double part) {
        parts.push_back(part);
        return parts.size() < 3;
    });
    EXPECT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts.front(), 0);
    EXPECT_LT(parts.back(), 1);
    EXPECT_GT(counts.requests, 0u);
    EXPECT_LT(counts.requests, 30'000u);
}

TEST(Simulation, NumbersThatMakeNoSenseAreRefused) {
    const auto trace = workload(10, 10);
    const auto refused = [&](auto change) {
        SimulationConfig config;
        change(config);
        EXPECT_THROW(simulate(trace, config), std::invalid_argument);
    };
    refused([](auto& config) { config.proxies = 0; });
    refused([](auto& config) { config.proxies = 1025; });
    refused([](auto& config) { config.warm_up = 1; });
    refused([](auto& config) { config.requests_per_second = -1; });
    refused([](auto& config) { config.announce_changed = 0; });
    refused([](auto& config) { config.false_hit_budget = 0; });
    refused([](auto& config) { config.requests_per_second = 1e-300; });
    refused([](auto& config) { config.announce_delay = -1ms; });
    refused([](auto& config) { config.announce_delay = kLongestSpan + 1ms; });
    refused([](auto& config) { config.fresh_for = kLongestSpan + 1ms; });
    refused([](auto& config) { config.network.restarts = {{-1ms, 0}}; });
    refused([](auto& config) { config.network.partitions = {{-1ms, 1s, 1}}; });
    refused([](auto& config) { config.network.partitions = {{2s, 1s, 1}}; });
    refused([](auto& config) { config.network.partitions = {{0s, 1s, config.proxies}}; });
    refused([](auto& config) { config.load_factor = kLeastLoadFactor - 1; });
    refused([](auto& config) { config.load_factor = kMostLoadFactor + 1; });
    refused([](auto& config) { config.network.delay = -1us; });
    refused([](auto& config) { config.network.dropped = 1; });
}

/// A proxy far from the others is of no use to them.
TEST(Simulation, PeersFartherThanTheOriginAreNotWaitedFor) {
    const auto trace = workload(20'000, 3000);
    SimulationConfig config;
    config.network.delay = 100ms;
    config.network.origin = 20ms;
    const auto counts = simulate(trace, config);
    EXPECT_LT(counts.peer_requests, 1000u);
    EXPECT_EQ(counts.peer_hits, 0u);
    EXPECT_GT(counts.peers_too_far, 1000u);
    EXPECT_LT(counts.false_misses, counts.peers_too_far / 4) << "they are told of";
    config.network.delay = 250us;
    EXPECT_EQ(simulate(trace, config).peers_too_far, 0u);
}

TEST(Simulation, TimesThatNobodyCanCountAreRefused) {
    Asked asked(1);
    asked.at(0s).by(0, {1}).at(kLongestSpan).by(0, {1});
    EXPECT_EQ(simulate(asked.trace, small(Scheme::none, 1)).local_hits, 1u);
    asked.at(kLongestSpan + 1s).by(0, {1});
    EXPECT_THROW(simulate(asked.trace, small(Scheme::none, 1)), std::invalid_argument);
}

TEST(Simulation, EachSchemeFindsPartOfWhatIcpFinds) {
    const auto trace = workload(40'000, 3000);
    auto config = small(Scheme::icp, 8, 300);
    config.requests_per_second = 2;  // for hours
    config.announce_changed = 0.01;
    config.warm_up = 0.25;
    const auto icp = simulate(trace, config);
    for (const auto scheme : kSharing) {
        config.scheme = scheme;
        const auto counts = simulate(trace, config);
        const auto of_icp = static_cast<double>(counts.hits()) / static_cast<double>(icp.hits());
        const bool hourly = scheme == Scheme::squid_digest;
        EXPECT_GT(of_icp, hourly ? 0.8 : 0.97) << static_cast<int>(scheme);
        EXPECT_LT(of_icp, 1.01) << static_cast<int>(scheme);
        EXPECT_EQ(counts.peer_requests, counts.peer_hits + counts.false_hits())
            << static_cast<int>(scheme);
    }
}

}  // namespace simulate_simulation_test
}  // namespace measure
