#include "summary/coding/filter.hpp"

#include <gtest/gtest.h>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace filter_test {

using test::asked;
using test::key;

constexpr Shape kShape{6400, 4};

TEST(Filter, MatchesTheKeysOfItsOwner) {
    const Filter filter = test::filter_with(0, 100, kShape);
    for (const auto hash : test::keys(0, 100)) EXPECT_TRUE(contains(filter, asked(hash)));
    EXPECT_FALSE(contains(filter, asked(key(1000))));
}

TEST(Filter, SaysOfWhatSortItIs) {
    EXPECT_EQ(descriptor_of(Filter(BloomFilter(kShape))), test::bloom(kShape));
}

TEST(Filter, HasTheCheckHashOfItsOwner) {
    const auto bloom = test::filter_with(0, 100, kShape);
    EXPECT_EQ(check_hash(bloom), bloom.bits().check_hash());
}

TEST(Filter, TakesADeltaAndSaysWhatItWas) {
    Filter filter = BloomFilter(kShape, test::bits_with({1, 12}, kShape.bits));
    const Delta delta{{3, 40, 77}, {12}};
    EXPECT_EQ(apply_delta(test::payload_of(delta, kShape.bits), filter), Change(delta));
    EXPECT_EQ(test::bits_of(filter), test::bits_with({1, 3, 40, 77}, kShape.bits));
}

TEST(Filter, IsAsItWasAfterBytesThatAreNoDeltaForIt) {
    Filter filter = BloomFilter(kShape, test::bits_with({1}, kShape.bits));
    const auto before = check_hash(filter);
    EXPECT_FALSE(apply_delta({}, filter));
    EXPECT_FALSE(apply_delta(test::payload_of({{3, 6400}, {}}, 6401), filter));
    auto longer = test::payload_of({{3}, {}}, kShape.bits);
    longer.push_back(std::byte{0});
    EXPECT_FALSE(apply_delta(longer, filter));
    EXPECT_EQ(check_hash(filter), before);
}

}  // namespace filter_test
}  // namespace summary
