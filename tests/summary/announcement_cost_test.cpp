// The cost of the announcement that one object has replaced another: the figure the project is
// measured by.

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <string>

#include "summary/coding/coding.hpp"
#include "summary/filters/counting_bloom_filter.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "summary/sizing/sizing.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace announcement_cost_test {

constexpr std::uint64_t kObjects = 200'000;

struct Cost {
    double flips = 0;    // per replaced object
    double bytes = 0;    // per replaced object, as encoded
    double entropy = 0;  // the same, by the best code there can be for these two lists
};

/// Bytes needed to say which `chosen` of `all`.
double choice_bytes(double all, double chosen) {
    return (std::lgamma(all + 1) - std::lgamma(chosen + 1) - std::lgamma(all - chosen + 1)) /
           std::log(2) / 8;
}

/// Steady state: each object stored pushes out the oldest; a delta whenever `changed` of the
/// objects were replaced.
Cost measure(Shape shape, double changed, int announcements) {
    CountingBloomFilter filter(shape);
    std::vector<Flip> flips;
    std::uint64_t next = 0;
    for (; next < kObjects; ++next) filter.insert(test::key(next), flips);
    flips.clear();
    const auto replaced = static_cast<std::uint64_t>(changed * kObjects);
    Cost cost;
    for (int i = 0; i < announcements; ++i) {
        for (std::uint64_t j = 0; j < replaced; ++j, ++next) {
            filter.insert(test::key(next), flips);
            filter.erase(test::key(next - kObjects), flips);
        }
        const auto delta = net_effect(std::exchange(flips, {}));
        Bytes payload;
        EXPECT_EQ(encode_update(delta, filter.bits(), payload), Coding::delta);
        cost.flips += static_cast<double>(delta.set.size() + delta.clear.size());
        cost.bytes += static_cast<double>(payload.size());
        cost.entropy +=
            choice_bytes(static_cast<double>(shape.bits), static_cast<double>(delta.set.size())) +
            choice_bytes(static_cast<double>(shape.bits), static_cast<double>(delta.clear.size()));
    }
    const auto all = static_cast<double>(replaced) * announcements;
    return {cost.flips / all, cost.bytes / all, cost.entropy / all};
}

Cost report(const std::string& name, Shape shape, double changed, int announcements) {
    const auto cost = measure(shape, changed, announcements);
    std::cout << name << ", " << static_cast<double>(shape.bits) / kObjects
              << " bits per object, k " << shape.hashes << ", t " << changed * 100
              << " %: " << cost.bytes << " bytes per replaced object, " << cost.flips
              << " flips, entropy " << cost.entropy << '\n';
    testing::Test::RecordProperty(name + "_bytes_per_replaced_object", std::to_string(cost.bytes));
    EXPECT_LE(cost.bytes, cost.entropy * 1.03 + 0.1) << "Golomb-Rice is close to the entropy";
    return cost;
}

TEST(AnnouncementCost, IsAThirdOfThePapersInItsSetting) {
    // The paper: 32 bits for each flip, 24.8 bytes.
    const auto cost = report("load_16", shape_for_load_factor(kObjects, 16, 4), 0.01, 10);
    EXPECT_NEAR(cost.flips, 2 * 4 * std::exp(-4.0 / 16), 0.1);
    EXPECT_LE(cost.bytes, 8.3);
}

TEST(AnnouncementCost, KeepsToTheGoalAtOurDefaults) {
    for (const std::uint64_t peers : {1, 2, 3}) {
        const auto error = error_per_summary(kDefaultFalseHitBudget, peers);
        const auto cost = report("defaults_" + std::to_string(peers) + "_peers",
                                 shape_for(kObjects, error), 0.001, 50);
        EXPECT_LE(cost.bytes, 12) << peers << " peers";
    }
}

TEST(AnnouncementCost, IsHighestJustAfterTheShapeGrew) {
    const auto error = error_per_summary(kDefaultFalseHitBudget, 2);
    const auto roomy = static_cast<std::uint64_t>(kObjects * kRoomAfterRegrow);
    const auto cost = report("just_regrown_2_peers", shape_for(roomy, error), 0.001, 50);
    EXPECT_LE(cost.bytes, 12.5);
}

TEST(AnnouncementCost, RisesWithThePeersThatShareTheErrorBudget) {
    for (const std::uint64_t peers : {7, 15, 31, 63}) {
        const auto error = error_per_summary(kDefaultFalseHitBudget, peers);
        const auto cost = report("defaults_" + std::to_string(peers) + "_peers",
                                 shape_for(kObjects, error), 0.001, 50);
        EXPECT_LE(cost.bytes, 17.5) << peers << " peers";
    }
}

}  // namespace announcement_cost_test
}  // namespace summary
