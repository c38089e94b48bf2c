#include "summary/sizing/shape.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/summary/keys.hpp"

namespace summary {
namespace shape_test {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

std::vector<std::uint64_t> list(KeyHash key, Shape shape) {
    const auto found = positions(key, shape);
    return {found.begin(), found.end()};
}

TEST(Positions, StepThroughTheRangeByTheSecondWord) {
    // mix(2^62) = 0x00aa50ea8e0fa9eb, mix(2^63) = 0x481ec0a212a9f3db
    EXPECT_EQ(list({0, kTop / 2}, {1000, 4}), (std::vector<std::uint64_t>{2, 252, 502, 752}));
    EXPECT_EQ(list({7, kTop / 2}, {1000, 4}), list({0, kTop / 2}, {1000, 4})) << "high alone";
    EXPECT_EQ(list({0, kTop}, {1000, 3}), (std::vector<std::uint64_t>{281, 781, 281}));
}

TEST(Positions, LieInsideTheShapeForExtremeWords) {
    constexpr auto kOnes = ~std::uint64_t{0};
    constexpr std::uint64_t kMixedToOnes = 0x31628af67b2131ab;
    static_assert(mix(kMixedToOnes) == kOnes);
    EXPECT_EQ(list({0, kMixedToOnes}, {kMaxBits, 1}), (std::vector<std::uint64_t>{kMaxBits - 1}));
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
    EXPECT_TRUE(is_valid(Shape{1, 1}));
    EXPECT_TRUE(is_valid(Shape{kMaxBits, kMaxHashes}));
    EXPECT_FALSE(is_valid(Shape{}));
    EXPECT_FALSE(is_valid(Shape{0, 4}));
    EXPECT_FALSE(is_valid(Shape{64, 0}));
    EXPECT_FALSE(is_valid(Shape{kMaxBits + 1, 4}));
    EXPECT_FALSE(is_valid(Shape{64, kMaxHashes + 1}));
}

}  // namespace shape_test
}  // namespace summary
