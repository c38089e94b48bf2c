#include "summary/filters/bloom_filter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "summary/sizing/sizing.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace bloom_filter_test {

using Indices = std::vector<std::uint64_t>;

std::string bits(const BloomFilter& filter) {
    std::string text;
    for (std::uint64_t i = 0; i < filter.shape().bits; ++i)
        text += filter.bits().get(i) ? '1' : '0';
    return text;
}

// Worked examples of lecture notes and articles, with the indices of their hash functions
// (MurmurHash3 x86_32 of the quoted name with seed 42, and FNV-1a, modulo 10).
TEST(BloomFilter, FollowsTheCitiesExample) {
    const Indices copenhagen{7, 3};
    const Indices dublin{1, 3};
    const Indices rome{5, 6};
    const Indices berlin{1, 7};
    BloomFilter filter({10, 2});
    filter.insert(copenhagen);
    EXPECT_EQ(bits(filter), "0001000100");
    filter.insert(dublin);
    EXPECT_EQ(bits(filter), "0101000100");
    EXPECT_TRUE(filter.contains(copenhagen));
    EXPECT_TRUE(filter.contains(dublin));
    EXPECT_FALSE(filter.contains(rome));
    EXPECT_TRUE(filter.contains(berlin));  // a false positive, as the example has it
}

TEST(BloomFilter, FollowsTheToyExamples) {
    BloomFilter ten({10, 3});
    ten.insert(Indices{1, 4, 7});
    ten.insert(Indices{3, 5, 4});
    EXPECT_EQ(bits(ten), "0101110100");
    EXPECT_TRUE(ten.contains(Indices{1, 3, 7}));

    BloomFilter twelve({12, 3});
    twelve.insert(Indices{2, 10, 7});
    twelve.insert(Indices{4, 1, 11});
    EXPECT_EQ(bits(twelve), "011010010011");
    EXPECT_TRUE(twelve.contains(Indices{11, 7, 1}));
    EXPECT_TRUE(twelve.contains(Indices{4, 1, 11}));
    EXPECT_FALSE(twelve.contains(Indices{6, 9}));
}

TEST(BloomFilter, FollowsTheSimpleClassExample) {
    const Indices one{35, 52, 13, 26, 19, 15};
    const Indices two{13, 61, 9, 91, 54, 91};  // one position twice
    const Indices three{19, 87, 72, 5, 77, 19};
    const Indices forty_two{15, 22, 72, 64, 88, 80};
    const Indices forty_three{13, 47, 47, 11, 44, 3};
    BloomFilter filter({95, 6});
    for (const auto& indices : {one, two, forty_two}) filter.insert(indices);
    EXPECT_TRUE(filter.contains(one));
    EXPECT_TRUE(filter.contains(two));
    EXPECT_FALSE(filter.contains(three));
    EXPECT_TRUE(filter.contains(forty_two));
    EXPECT_FALSE(filter.contains(forty_three));
}

TEST(BloomFilter, HasNoFalseNegatives) {
    for (const Shape shape : {Shape{64, 1}, Shape{1000, 7}, Shape{100'003, 16}}) {
        BloomFilter filter(shape);
        EXPECT_FALSE(filter.contains(test::key(1)));
        for (const auto key : test::keys(0, 3000)) filter.insert(key);
        for (const auto key : test::keys(0, 3000)) ASSERT_TRUE(filter.contains(key));
    }
}

}  // namespace bloom_filter_test
}  // namespace summary
