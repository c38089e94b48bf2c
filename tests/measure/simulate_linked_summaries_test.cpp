#include "measure/simulate/linked_summaries.hpp"

#include <gtest/gtest.h>

#include "tests/measure/simulated.hpp"

namespace measure {
namespace simulate_linked_summaries_test {

using namespace test;

/// A network that is not even, if by as little as can be.
SimulationConfig linked(std::size_t proxies, std::uint64_t cache_objects = 0) {
    auto config = small(Scheme::summary, proxies, cache_objects);
    config.network.jitter = 1us;
    return config;
}

TEST(LinkedSummaries, SayWhatTheSharedOnesSayWhereNothingIsLost) {
    const auto trace = workload(4000, 500);
    for (const auto kind : summary::kKinds) {
        auto config = linked(4, 100);
        config.kind = kind;
        const auto linked = simulate(trace, config);
        config.network.jitter = 0us;
        const auto shared = simulate(trace, config);
        const auto requests = static_cast<double>(shared.requests);
        EXPECT_GT(shared.peer_hits, 200u);
        EXPECT_NEAR(static_cast<double>(linked.hits()), static_cast<double>(shared.hits()),
                    0.005 * requests);
        EXPECT_NEAR(static_cast<double>(linked.announcements),
                    static_cast<double>(shared.announcements), 0.02 * requests);
        EXPECT_NEAR(static_cast<double>(linked.announcement_bytes),
                    static_cast<double>(shared.announcement_bytes),
                    0.02 * static_cast<double>(shared.announcement_bytes));
        EXPECT_NEAR(static_cast<double>(linked.summary_bytes),
                    static_cast<double>(shared.summary_bytes),
                    0.02 * static_cast<double>(shared.summary_bytes));
        EXPECT_EQ(linked.failures, 0u);
    }
}

TEST(LinkedSummaries, ADroppedDeltaIsNoticedByTheNextHeartbeatAndRepaired) {
    Asked asked(2);
    auto config = linked(2);
    config.network.dropped = 0.9999;  // never so in the end: a snapshot is no delta
    asked.at(0ms).by(0, {0});
    for (unsigned i = 1; i < 50; ++i) asked.by(0, {i});
    asked.at(3s).by(1, {0, 10, 20, 30, 40, 49});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 6u);
    EXPECT_EQ(counts.false_misses, 0u);
    EXPECT_GE(counts.snapshots, 3u);
}

TEST(LinkedSummaries, ADroppedDeltaIsMissedUntilTheSnapshot) {
    Asked asked(2);
    auto config = linked(2);
    for (unsigned i = 0; i < 50; ++i) asked.by(0, {i});
    asked.at(5s).by(0, {50});
    asked.at(5001ms).by(1, {50});
    const auto without = simulate(asked.trace, config);
    EXPECT_EQ(without.peer_hits, 1u);
    config.network.dropped = 0.9999;
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.false_misses, 1u);
}

TEST(LinkedSummaries, OnePercentOfDeltasLostCostsHardlyAHit) {
    const auto trace = workload(20'000, 2000);
    auto config = linked(4, 400);
    config.requests_per_second = 500;
    config.announce_changed = 0.01;
    const auto whole = simulate(trace, config);
    config.network.dropped = 0.01;
    const auto dropped = simulate(trace, config);
    EXPECT_GT(dropped.snapshots, whole.snapshots);
    EXPECT_GT(static_cast<double>(dropped.hits()), 0.99 * static_cast<double>(whole.hits()));
}

TEST(LinkedSummaries, APartitionMakesFalseMissesAndHeals) {
    Asked asked(2);
    auto config = linked(2);
    config.network.partitions.push_back({10s, 30s, 1});
    asked.at(0s).by(0, {90});  // from then on times count
    asked.at(1s).by(0, {1, 2, 3, 4});
    asked.at(2s).by(1, {1});
    asked.at(11s).by(1, {2});  // still in the summary, but it cannot be reached
    asked.at(20s).by(1, {3});  // it has been silent for too long
    asked.at(20s).by(0, {5});
    asked.at(34s).by(1, {4, 5});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 3u);
    EXPECT_EQ(counts.failures, 1u);
    EXPECT_EQ(counts.false_misses, 2u);
}

TEST(LinkedSummaries, AShortPartitionHoldsMessagesUpAndNoMore) {
    Asked asked(2);
    auto config = linked(2);
    config.network.partitions.push_back({10s, 11s, 1});
    asked.at(0s).by(0, {90});  // from then on times count
    asked.at(1s).by(0, {1});
    asked.at(10500ms).by(0, {2}).by(1, {2});
    asked.at(11s + 1ms).by(1, {1}).by(0, {3});
    asked.at(12s).by(1, {3});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 2u);
    EXPECT_EQ(counts.false_misses, 1u);
    EXPECT_EQ(counts.failures, 0u);
    config.network.partitions.clear();
    EXPECT_EQ(counts.snapshots, simulate(asked.trace, config).snapshots);
}

TEST(LinkedSummaries, AProxyThatRestartsIsEmptyAndLearnsOfAllAgain) {
    Asked asked(3);
    auto config = linked(3);
    config.network.restarts.push_back({10s, 1});
    asked.at(0s).by(0, {90});  // from then on times count
    asked.at(1s).by(0, {1, 2}).by(1, {3, 4}).by(2, {5});
    asked.at(11s).by(0, {3});        // gone, and known to be
    asked.at(12s).by(1, {1, 5, 6});  // it hears the others
    asked.at(13s).by(2, {6});        // and is heard
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 3u);
    EXPECT_EQ(counts.peer_requests, 3u);
    EXPECT_EQ(counts.false_misses, 0u);
    EXPECT_EQ(counts.local_hits, 0u);
}

TEST(LinkedSummaries, EqualSeedsGiveEqualCountsWhateverHappens) {
    const auto trace = workload(10'000, 1000);
    auto config = linked(4, 200);
    config.requests_per_second = 500;
    config.network.jitter = 2ms;
    config.network.dropped = 0.05;
    config.network.partitions = {{3s, 4s, 1}, {6s, 12s, 2}};
    config.network.restarts = {{15s, 0}, {5s, 3}, {8s, 1}};
    const auto counts = simulate(trace, config);
    EXPECT_EQ(simulate(trace, config), counts);
    config.seed = 2;
    EXPECT_NE(simulate(trace, config), counts);
}

TEST(LinkedSummaries, AreNotForManyProxiesNorOtherSchemes) {
    const auto trace = workload(10, 10);
    EXPECT_THROW(simulate(trace, linked(65)), std::invalid_argument);
    auto config = linked(4);
    config.scheme = Scheme::paper_bloom;
    EXPECT_THROW(simulate(trace, config), std::invalid_argument);
    config.scheme = Scheme::icp;
    config.network.restarts.push_back({1s, 4});
    EXPECT_THROW(simulate(trace, config), std::invalid_argument);
    config.network.restarts.clear();
    config.network.partitions.push_back({2s, 1s, 1});
    EXPECT_THROW(simulate(trace, config), std::invalid_argument);
}

}  // namespace simulate_linked_summaries_test
}  // namespace measure
