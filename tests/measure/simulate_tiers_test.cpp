#include "measure/tiers/simulate_tiers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "measure/study/scheme_name.hpp"
#include "tests/measure/simulated.hpp"

namespace measure {
namespace simulate_tiers_test {

using namespace test;

/// Objects of one byte each, so that bytes are objects; LRU in memory.
TiersConfig tiers(std::uint64_t memory, std::uint64_t disk, proxy::DiskAdmission admission) {
    TiersConfig config;
    config.memory_bytes = memory;
    config.disk_bytes = disk;
    config.unit_objects = true;
    config.replacement = Replacement::lru;
    config.admission = admission;
    return config;
}

TEST(SimulateTiers, AnObjectThatLeftMemoryComesBackFromTheDisk) {
    Asked log(1);
    log.by(0, {0, 1, 2, 3, 0, 0});
    const auto counts = simulate_tiers(log.trace, tiers(1, 100, proxy::DiskAdmission::always));
    EXPECT_EQ(counts.requests, 6u);
    EXPECT_EQ(counts.disk_hits, 1u);
    EXPECT_EQ(counts.memory_hits, 1u);
    EXPECT_EQ(counts.admitted, 4u);
    EXPECT_EQ(counts.hit_bytes(), 2'000u);
    EXPECT_EQ(counts.bytes, 6'000u);
}

TEST(SimulateTiers, AFullDiskTakesWhatIsMissedForTheSecondTime) {
    Asked log(1);
    log.by(0, {0, 1, 2, 3, 4, 5, 6, 7, 8});  // nine tenths of the disk
    const auto config = tiers(1, 10, proxy::DiskAdmission::second_request);
    EXPECT_EQ(simulate_tiers(log.trace, config).admitted, 9u);
    log.by(0, {20, 21});
    EXPECT_EQ(simulate_tiers(log.trace, config).admitted, 9u);
    log.by(0, {20});
    EXPECT_EQ(simulate_tiers(log.trace, config).admitted, 10u);
    EXPECT_EQ(simulate_tiers(log.trace, config).hits(), 0u);
    log.by(0, {21, 20});
    EXPECT_EQ(simulate_tiers(log.trace, config).disk_hits, 1u);
}

TEST(SimulateTiers, AMemoryHitWritesWhatTheDiskLacks) {
    Asked log(1);
    log.by(0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 20, 20, 21, 20});
    const auto counts =
        simulate_tiers(log.trace, tiers(1, 10, proxy::DiskAdmission::second_request));
    EXPECT_EQ(counts.memory_hits, 1u);
    EXPECT_EQ(counts.disk_hits, 1u);
    EXPECT_EQ(counts.admitted, 10u);
}

TEST(SimulateTiers, ANodeWithoutADiskIsOneOfTheSimulatedProxies) {
    const auto trace = workload(20'000, 500);
    for (const auto replacement : {Replacement::s3_fifo, Replacement::lru, Replacement::sieve,
                                   Replacement::w_tiny_lfu, Replacement::gdsf}) {
        TiersConfig alone;
        alone.memory_bytes = 300'000;
        alone.replacement = replacement;
        auto config = small(Scheme::none, 1, 300'000);
        config.unit_objects = false;
        config.replacement = replacement;
        const auto counts = simulate_tiers(trace, alone);
        const auto expected = simulate(trace, config);
        EXPECT_GT(counts.memory_hits, 2'000u);
        EXPECT_EQ(counts.memory_hits, expected.local_hits) << name(replacement);
        EXPECT_EQ(counts.memory_hit_bytes, expected.local_hit_bytes);
        EXPECT_EQ(counts.written_bytes(), 0u);
    }
}

TEST(SimulateTiers, AnIdealDiskBehindLittleMemoryIsAsMuchMemory) {
    const auto trace = workload(20'000, 500);
    auto config = tiers(1, 100, proxy::DiskAdmission::always);
    config.disk = DiskOrder::lru;
    const auto both = simulate_tiers(trace, config);
    const auto alone = simulate_tiers(trace, tiers(100, 0, proxy::DiskAdmission::always));
    EXPECT_EQ(both.hits(), alone.hits());
    EXPECT_EQ(both.written_again_bytes, 0u);
}

TEST(SimulateTiers, AnObjectTooLargeForMemoryGoesToTheDiskAlone) {
    Trace trace;
    trace.clients = {1};
    const auto url = trace.add_url("http://h/large", 60'000);
    for (int i = 0; i < 3; ++i) trace.add({i, 0, url, kGet});
    TiersConfig config;
    config.memory_bytes = 100'000;
    config.disk_bytes = 200'000;
    EXPECT_EQ(simulate_tiers(trace, config).disk_hits, 2u);
    config.disk_bytes = 100'000;
    EXPECT_EQ(simulate_tiers(trace, config).hits(), 0u);
    config.disk_bytes = 200'000;
    config.object_max = 50'000;
    EXPECT_EQ(simulate_tiers(trace, config).hits(), 0u);
}

TEST(SimulateTiers, CountsAfterTheWarmUp) {
    auto config = tiers(1, 100, proxy::DiskAdmission::always);
    config.warm_up = 0.5;
    Asked log(1);
    log.by(0, {0, 1, 2, 0, 3, 1});
    const auto counts = simulate_tiers(log.trace, config);
    EXPECT_EQ(counts.requests, 3u);
    EXPECT_EQ(counts.disk_hits, 2u);
    EXPECT_EQ(counts.admitted, 1u);
}

TEST(SimulateTiers, EndsWhenItIsTold) {
    const auto trace = workload(20'000, 500);
    const auto counts = simulate_tiers(trace, tiers(10, 100, proxy::DiskAdmission::always),
                                       [](double part) { return part < 0.5; });
    EXPECT_LT(counts.requests, 20'000u);
    EXPECT_GT(counts.requests, 0u);
}

TEST(SimulateTiers, RefusesWhatMakesNoSense) {
    const Trace trace;
    EXPECT_THROW(simulate_tiers(trace, TiersConfig()), std::invalid_argument);
    auto config = tiers(1, 1, proxy::DiskAdmission::always);
    config.warm_up = 1;
    EXPECT_THROW(simulate_tiers(trace, config), std::invalid_argument);
}

}  // namespace simulate_tiers_test
}  // namespace measure
