#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "summary/filters/bloom_filter.hpp"
#include "summary/sizing/sizing.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace false_positive_test {

constexpr std::uint64_t kProbes = 1'000'000;

/// Fills a filter, probes it a million times with other keys and compares with the formula.
void expect_rate_of_formula(Shape shape, std::uint64_t objects, std::uint64_t first_key) {
    BloomFilter filter(shape);
    for (std::uint64_t i = 0; i < objects; ++i) filter.insert(test::key(first_key + i));
    std::uint64_t hits = 0;
    const auto probes = first_key + objects;
    for (std::uint64_t i = 0; i < kProbes; ++i) hits += filter.contains(test::key(probes + i));

    const auto expected = test::error_of(shape, static_cast<double>(objects));
    const auto deviation = std::sqrt(kProbes * expected * (1 - expected));
    const auto off = (static_cast<double>(hits) - kProbes * expected) / deviation;
    std::cout << shape.bits << " bits, " << shape.hashes << " hashes, " << objects
              << " objects: " << static_cast<double>(hits) / kProbes << " measured, " << expected
              << " by the formula, " << off << " standard deviations\n";
    EXPECT_LE(std::abs(off), 5);
}

TEST(FalsePositives, AreAsManyAsTheFormulaSaysAtThePapersLoadFactors) {
    for (const unsigned load_factor : {8, 16, 32}) {
        for (const std::uint64_t objects : {20'000, 200'000}) {
            expect_rate_of_formula(shape_for_load_factor(objects, load_factor, 4), objects,
                                   load_factor * 10'000'000);
        }
    }
}

TEST(FalsePositives, AreAsManyAsTheFormulaSaysAtDefaultShapes) {
    for (const std::uint64_t peers : {1, 2, 7, 15, 63}) {
        const auto error = error_per_summary(kDefaultFalseHitBudget, peers);
        for (const std::uint64_t objects : {1024, 30'000, 200'000}) {
            const auto shape = shape_for(objects, error);
            const auto full = capacity(shape, error);  // where the error is worst
            expect_rate_of_formula(shape, full, peers * 100'000'000);
            EXPECT_LE(test::error_of(shape, static_cast<double>(full)), error * 1.0001);
        }
    }
}

}  // namespace false_positive_test
}  // namespace summary
