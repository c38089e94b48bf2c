#include "summary/filters/binary_fuse_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace summary {
namespace {

constexpr std::uint64_t kSeed = 20'220'101;

/// Keys from a counter, so that two sets with different beginnings have none in common.
std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = mix(first++);
    return keys;
}

template <class Filter>
Filter filter_of(std::vector<std::uint64_t> keys) {
    auto filter = Filter::build(keys, kSeed);
    EXPECT_TRUE(filter.has_value());
    return filter.value_or(Filter());
}

template <class Filter>
class BinaryFuse : public ::testing::Test {};
using Filters =
    ::testing::Types<BinaryFuseFilter<std::uint8_t, 3>, BinaryFuseFilter<std::uint8_t, 4>,
                     BinaryFuseFilter<std::uint16_t, 3>, BinaryFuseFilter<std::uint16_t, 4>>;
TYPED_TEST_SUITE(BinaryFuse, Filters);

TYPED_TEST(BinaryFuse, FindsEveryKeyOfItsSetWhateverItsSize) {
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 10, 33, 100, 1000, 4096, 50'000}) {
        const auto keys = keys_from(count, count);
        const auto filter = filter_of<TypeParam>(keys);
        EXPECT_EQ(filter.keys(), count);
        EXPECT_TRUE(std::ranges::all_of(keys, [&](auto key) { return filter.contains(key); }))
            << count;
    }
}

TYPED_TEST(BinaryFuse, FindsNothingWithoutKeys) {
    const TypeParam none, built = filter_of<TypeParam>({});
    for (const auto key : keys_from(0, 10'000)) {
        EXPECT_FALSE(none.contains(key));
        EXPECT_FALSE(built.contains(key));
    }
    EXPECT_EQ(built.bytes(), 0);
}

/// Five standard deviations of a binomial count: once in 1.7 million runs by chance, and the seeds
/// are fixed.
TYPED_TEST(BinaryFuse, FindsOtherKeysAsOftenAsTheFormulaSays) {
    const auto filter = filter_of<TypeParam>(keys_from(0, 100'000));
    const auto others = keys_from(1'000'000'000, 500'000);
    const auto found = static_cast<double>(
        std::ranges::count_if(others, [&](auto key) { return filter.contains(key); }));
    const auto tries = static_cast<double>(others.size());
    const auto expected = tries * TypeParam::kError;
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected * (1 - TypeParam::kError)));
}

/// Keys that are in order, or small numbers, are as good as random ones.
TYPED_TEST(BinaryFuse, MixesItsKeysItself) {
    std::vector<std::uint64_t> keys(100'000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
    const auto filter = filter_of<TypeParam>(keys);
    EXPECT_TRUE(std::ranges::all_of(keys, [&](auto key) { return filter.contains(key); }));
    auto found = 0;
    for (std::uint64_t key = 100'000; key < 600'000; ++key) found += filter.contains(key) ? 1 : 0;
    const auto expected = 5e5 * TypeParam::kError;
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected));
}

TYPED_TEST(BinaryFuse, TakesADuplicateForOneKey) {
    auto keys = keys_from(0, 5000);
    const auto once = keys;
    for (auto i = 0; i < 3; ++i) keys.insert(keys.end(), once.begin(), once.end());
    const auto filter = TypeParam::build(keys, kSeed);
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->keys(), once.size());
    EXPECT_TRUE(std::ranges::all_of(once, [&](auto key) { return filter->contains(key); }));
    EXPECT_EQ(filter->bytes(), filter_of<TypeParam>(once).bytes());
}

TYPED_TEST(BinaryFuse, IsTheSameForTheSameKeysAndSeed) {
    auto keys = keys_from(0, 20'000);
    const auto one = filter_of<TypeParam>(keys);
    std::ranges::reverse(keys);
    const auto other = filter_of<TypeParam>(keys);
    auto with_seed = TypeParam::build(keys, kSeed + 1);
    ASSERT_TRUE(with_seed);
    auto differs = false;
    for (const auto key : keys_from(1'000'000'000, 200'000)) {
        EXPECT_EQ(one.contains(key), other.contains(key));
        differs = differs || one.contains(key) != with_seed->contains(key);
    }
    EXPECT_TRUE(differs);
}

TYPED_TEST(BinaryFuse, SaysThatItCouldNotBeBuilt) {
    auto keys = keys_from(0, 1000);
    EXPECT_FALSE(TypeParam::build(keys, kSeed, 0));
    // Nearly all tries succeed, so the next seeds help.
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        keys = keys_from(seed << 32, 1000);
        EXPECT_TRUE(TypeParam::build(keys, seed)) << seed;
    }
}

TEST(BinaryFuseSize, IsAtMost13PercentAboveTheInformationBound) {
    for (const std::size_t count : {200'000, 312'500}) {
        const auto bound = static_cast<double>(count);  // 8 bits for an error of 1/256
        const auto bytes = [&](auto filter) { return static_cast<double>(filter.bytes()); };
        EXPECT_LE(bytes(filter_of<BinaryFuseFilter<std::uint8_t, 4>>(keys_from(0, count))),
                  1.13 * bound)
            << count;
        EXPECT_LE(bytes(filter_of<BinaryFuseFilter<std::uint16_t, 4>>(keys_from(0, count))),
                  1.13 * 2 * bound)
            << count;
    }
}

TEST(BinaryFuseSize, IsAFewSegmentsMoreForFewKeys) {
    for (std::size_t count = 1; count < 3000; count += 131) {
        const auto filter = filter_of<BinaryFuseFilter<std::uint8_t, 4>>(keys_from(0, count));
        EXPECT_LE(filter.bytes(), 2 * count + 64) << count;
    }
}

}  // namespace
}  // namespace summary
