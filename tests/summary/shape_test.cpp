#include "summary/shape.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/summary/keys.hpp"

namespace summary {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

std::vector<std::uint64_t> list(KeyHash key, Shape shape) {
    const auto found = positions(key, shape);
    return {found.begin(), found.end()};
}

TEST(Positions, StepThroughTheRangeByTheSecondWord) {
    EXPECT_EQ(list({0, kTop / 2}, {1000, 4}), (std::vector<std::uint64_t>{0, 250, 500, 750}));
    EXPECT_EQ(list({kTop, kTop}, {1000, 3}), (std::vector<std::uint64_t>{500, 0, 500}));
}

TEST(Positions, LieInsideTheShapeForExtremeWords) {
    constexpr auto kOnes = ~std::uint64_t{0};
    EXPECT_EQ(list({kOnes, 0}, {kMaxBits, 2}),
              (std::vector<std::uint64_t>{kMaxBits - 1, kMaxBits - 1}));
    EXPECT_EQ(list({0, kOnes}, {1, kMaxHashes}), std::vector<std::uint64_t>(kMaxHashes, 0));
}

TEST(Positions, SpreadEvenly) {
    constexpr std::uint64_t kCells = 10;
    constexpr std::uint64_t kKeys = 100'000;
    std::vector<double> hits(kCells);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        for (const auto position : positions(test::key(i), {kCells, 5})) ++hits[position];
    }
    double chi_squared = 0;
    const double expected = kKeys * 5.0 / kCells;
    for (const auto count : hits) chi_squared += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_squared, 60);  // 9 degrees of freedom, positions of one key not quite independent
}

TEST(Shape, LimitsHold) {
    EXPECT_TRUE(is_valid({1, 1}));
    EXPECT_TRUE(is_valid({kMaxBits, kMaxHashes}));
    EXPECT_FALSE(is_valid({}));
    EXPECT_FALSE(is_valid({0, 4}));
    EXPECT_FALSE(is_valid({64, 0}));
    EXPECT_FALSE(is_valid({kMaxBits + 1, 4}));
    EXPECT_FALSE(is_valid({64, kMaxHashes + 1}));
}

}  // namespace
}  // namespace summary
