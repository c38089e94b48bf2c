#include <gtest/gtest.h>

#include <cmath>

#include "measure/simulate/paper_directories.hpp"
#include "measure/simulate/paper_filters.hpp"
#include "measure/simulate/squid_digests.hpp"
#include "tests/measure/simulated.hpp"

/// The schemes of others, by their own model of messages.
namespace measure {
namespace simulate_paper_test {

using namespace test;

TEST(PaperDirectories, TellEachChangeAtTheThreshold) {
    Asked asked(3);
    auto config = small(Scheme::exact_directory, 3);
    config.announce_changed = 0.5;
    asked.at(0ms).by(0, {1});  // 1 of 1: announced
    asked.at(1ms).by(0, {2});  // 1 of 2: announced
    asked.at(2ms).by(0, {3});  // 1 of 3
    asked.at(3ms).by(1, {3});  // missed; 1 of 1: announced
    asked.at(4ms).by(0, {4});  // 2 of 4: announced
    asked.at(5ms).by(2, {1, 2, 3, 4});
    // 1, 1 of 2, 1 of 3, 2 of 4)
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 4u);
    EXPECT_EQ(counts.false_misses, 1u);
    EXPECT_EQ(counts.peer_requests, 4u);
    EXPECT_EQ(counts.query_messages, 8u);  // a query and a reply each
    EXPECT_EQ(counts.query_bytes, 8u * 70);
    EXPECT_EQ(counts.announcements, 2u * (3 + 1 + 3));
    EXPECT_EQ(counts.announcement_bytes, 2u * (7 * 20 + 9 * 16));
    EXPECT_EQ(counts.snapshots, 0u);
}

TEST(PaperDirectories, ServersAreToldOnceAndStandForAllTheirUrls) {
    Asked asked(2);
    auto config = small(Scheme::server_names, 2, 3);
    config.announce_changed = 1e-6;
    asked.at(0ms).by(0, {1, 2, 11});  // two servers
    asked.at(1ms).by(1, {3});         // of the first, but not held there
    asked.at(2ms).by(1, {2, 12});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 1u);
    EXPECT_EQ(counts.false_hits_collision, 2u);
    EXPECT_EQ(counts.false_hits_evicted, 0u);
    EXPECT_EQ(counts.announcements, 2u + 2u);
    EXPECT_EQ(counts.announcement_bytes, 4u * (20 + 16));
}

TEST(PaperDirectories, AServerOfWhichNothingIsLeftIsToldToo) {
    Asked asked(2);
    auto config = small(Scheme::server_names, 2, 2);
    config.announce_changed = 1e-6;
    asked.at(0ms).by(0, {1, 11, 21});  // the first goes
    asked.at(1ms).by(1, {2, 12, 22});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_requests, 2u);
    EXPECT_EQ(counts.false_hits_collision, 2u);
}

/// Requests for an evicted object: one before the eviction is announced, one after.
SimulationCounts asked_before_and_after_it_is_announced(Scheme scheme) {
    Asked asked(3);
    auto config = small(scheme, 3, 1);
    config.announce_changed = 1e-6;
    config.load_factor = 64;
    config.network.delay = 200ms;
    asked.at(0s).by(0, {1});
    asked.at(1s).by(0, {11});  // the first goes, and its host
    asked.at(1100ms).by(1, {1});
    asked.at(2s).by(1, {21});  // and goes there, too
    asked.at(3s).by(2, {1});
    return simulate(asked.trace, config);
}

TEST(PaperFilters, AnUnannouncedEvictionIsNoCollision) {
    const auto counts = asked_before_and_after_it_is_announced(Scheme::paper_bloom);
    EXPECT_EQ(counts.false_hits_evicted, 1u);
    EXPECT_EQ(counts.false_hits_collision, 0u);
}

TEST(PaperDirectories, AnUnannouncedEvictionCountsAsEvicted) {
    for (const auto scheme : {Scheme::exact_directory, Scheme::server_names}) {
        const auto counts = asked_before_and_after_it_is_announced(scheme);
        EXPECT_EQ(counts.false_hits_evicted, 1u);
        EXPECT_EQ(counts.false_hits_collision, 0u);
    }
}

TEST(PaperFilters, TellFlipsAsRecords) {
    Asked asked(2);
    auto config = small(Scheme::paper_bloom, 2);
    config.announce_changed = 1e-6;
    config.load_factor = 32;
    asked.at(0ms).by(0, {1});
    asked.at(1ms).by(1, {1, 2, 3});
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 1u);
    EXPECT_EQ(counts.announcements, 4u);
    // Four bits each at most; some may be the same.
    EXPECT_LE(counts.announcement_bytes, 4u * (32 + 4 * 4));
    EXPECT_GE(counts.announcement_bytes, 4u * 32 + 4 * 8);
}

TEST(PaperFilters, HaveTheFalseHitsOfTheirLoad) {
    const auto trace = workload(40'000, 100'000);
    for (const auto& [load, error] : {std::pair{8u, 0.0240}, std::pair{16u, 0.00239}}) {
        auto config = small(Scheme::paper_bloom, 8);
        config.load_factor = load;
        config.warm_up = 0.9;  // the filters are nearly full
        const auto counts = simulate(trace, config);
        const auto misses = static_cast<double>(7 * (counts.requests - counts.local_hits));
        const auto false_hits = static_cast<double>(counts.false_hits_collision);
        EXPECT_LT(false_hits, 1.1 * error * misses) << load;
        EXPECT_GT(false_hits, 0.2 * error * misses) << load;
    }
}

TEST(SquidDigests, KnowOnlyWhatWasThereAtTheLastFullHour) {
    Asked asked(2);
    asked.at(0s).by(0, {1});
    asked.at(1s).by(1, {1});
    asked.at(3'601s).by(0, {2});
    asked.at(3'602s).by(0, {3}).by(1, {2});
    asked.at(7'300s).by(1, {3});
    auto config = small(Scheme::squid_digest, 2);
    const auto counts = simulate(asked.trace, config);
    EXPECT_EQ(counts.peer_hits, 1u);
    EXPECT_EQ(counts.false_misses, 2u);
    // Two hours, and five bits for each of three objects.
    EXPECT_EQ(counts.announcements, 4u);
    EXPECT_EQ(counts.announcement_bytes, 4u * (128 + 2));
    EXPECT_EQ(counts.snapshots, 4u);
}

/// A small copy of the simulation that preceded this simulator: 16 proxies, Zipf 0.8, a quarter
/// repeated by the same client, caches as the only limit.
struct SmallTable : testing::Test {
    static Trace made() {
        WorkloadOptions options;
        options.requests = 60'000;
        options.objects = 50'000;
        options.clients = 16 * 8;
        options.zipf = 0.8;
        options.again = 0.25;
        options.once = 0;
        return make_workload(options);
    }
    SimulationCounts run(Scheme scheme, double threshold = 0.01) {
        auto config = small(scheme, 16, 500);
        config.announce_changed = threshold;
        config.announce_delay = 1h;
        config.copy = proxy::CopyPolicy::always;
        config.network.delay = 0us;
        config.warm_up = 1.0 / 3;
        return simulate(trace, config);
    }

    const Trace trace = made();
};

TEST_F(SmallTable, TheSchemesStandInTheOrderThatIsKnown) {
    const auto none = run(Scheme::none), icp = run(Scheme::icp),
               exact = run(Scheme::exact_directory), bloom = run(Scheme::paper_bloom),
               ours = run(Scheme::summary), hashed = run(Scheme::consistent_hashing),
               single = run(Scheme::single_cache);
    const auto ratio = [](const SimulationCounts& counts, const SimulationCounts& of) {
        return static_cast<double>(counts.hits()) / static_cast<double>(of.hits());
    };
    EXPECT_LT(ratio(none, icp), 0.8);
    EXPECT_NEAR(ratio(exact, icp), 1, 0.004);
    EXPECT_NEAR(ratio(bloom, icp), 1, 0.004);
    EXPECT_NEAR(ratio(ours, icp), 1, 0.004);
    EXPECT_GT(ratio(hashed, icp), 1.03);  // no copies
    EXPECT_NEAR(ratio(hashed, single), 1, 0.02);
    EXPECT_LT(ours.query_messages, bloom.query_messages);
    EXPECT_LT(ours.announcement_bytes, bloom.announcement_bytes);
    EXPECT_LT(bloom.announcement_bytes, exact.announcement_bytes);
    EXPECT_GT(icp.query_messages, 50 * (ours.query_messages + ours.announcements) / 10);
}

TEST_F(SmallTable, TheLossGrowsWithTheThreshold) {
    std::uint64_t missed = 0;
    for (const auto threshold : {0.001, 0.01, 0.1}) {
        const auto counts = run(Scheme::exact_directory, threshold);
        EXPECT_GE(counts.false_misses, 3 * missed) << threshold;
        missed = counts.false_misses;
    }
    EXPECT_GT(missed, 0u);
}

}  // namespace simulate_paper_test
}  // namespace measure
