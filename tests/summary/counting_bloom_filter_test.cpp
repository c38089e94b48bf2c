#include "summary/filters/counting_bloom_filter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "summary/filters/bloom_filter.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace counting_bloom_filter_test {

using Indices = std::vector<std::uint64_t>;
using Flips = std::vector<Flip>;

std::string counters(const CountingBloomFilter& filter) {
    std::string text;
    for (std::uint64_t i = 0; i < filter.shape().bits; ++i) {
        text += static_cast<char>('0' + filter.counter(i));
    }
    return text;
}

/// The filter that peers see.
BloomFilter filter_of(const CountingBloomFilter& filter) {
    return {filter.shape(), filter.bits()};
}

std::string bits(const CountingBloomFilter& filter) {
    std::string text;
    for (std::uint64_t i = 0; i < filter.shape().bits; ++i)
        text += filter.bits().get(i) ? '1' : '0';
    return text;
}

// The lecture notes' script, with the indices of their hash functions.
TEST(CountingBloomFilter, FollowsTheCitiesExample) {
    const Indices copenhagen{7, 3};
    const Indices dublin{1, 3};
    const Indices berlin{1, 7};
    CountingBloomFilter filter({10, 2});
    Flips flips;
    filter.insert(copenhagen, flips);
    EXPECT_EQ(counters(filter), "0001000100");
    EXPECT_EQ(bits(filter), "0001000100");
    EXPECT_EQ(flips, (Flips{{7, true}, {3, true}}));
    flips.clear();
    filter.insert(dublin, flips);
    EXPECT_EQ(counters(filter), "0102000100");
    EXPECT_EQ(bits(filter), "0101000100");
    EXPECT_EQ(flips, (Flips{{1, true}}));
    flips.clear();
    filter.erase(copenhagen, flips);
    EXPECT_EQ(counters(filter), "0101000000");
    EXPECT_EQ(bits(filter), "0101000000");
    EXPECT_EQ(flips, (Flips{{7, false}}));
    EXPECT_TRUE(filter_of(filter).contains(dublin));
    EXPECT_FALSE(filter_of(filter).contains(copenhagen));
    EXPECT_FALSE(filter_of(filter).contains(berlin));
    EXPECT_EQ(filter.ones(), 2U);
}

TEST(CountingBloomFilter, AFullCounterSticksForEver) {
    CountingBloomFilter filter({32, 1});
    Flips flips;
    for (unsigned i = 0; i < kCounterMax + 3; ++i) filter.insert(Indices{17}, flips);
    EXPECT_EQ(filter.counter(17), kCounterMax);
    EXPECT_EQ(filter.counter(16), 0U);
    EXPECT_EQ(filter.counter(18), 0U);
    for (unsigned i = 0; i < 2 * kCounterMax; ++i) filter.erase(Indices{17}, flips);
    EXPECT_EQ(filter.counter(17), kCounterMax);
    EXPECT_TRUE(filter_of(filter).contains(Indices{17}));
    EXPECT_EQ(flips, (Flips{{17, true}}));
}

TEST(CountingBloomFilter, OneBelowFullStillCountsDown) {
    CountingBloomFilter filter({32, 1});
    Flips flips;
    for (unsigned i = 0; i < kCounterMax - 1; ++i) filter.insert(Indices{17}, flips);
    for (unsigned i = 0; i < kCounterMax - 1; ++i) filter.erase(Indices{17}, flips);
    EXPECT_FALSE(filter_of(filter).contains(Indices{17}));
    EXPECT_EQ(flips, (Flips{{17, true}, {17, false}}));
}

TEST(CountingBloomFilter, CountsBeyondWhatIsInPlace) {
    CountingBloomFilter filter({64, 1});
    Flips flips;
    for (unsigned count = 1; count < kCounterMax; ++count) {
        filter.insert(Indices{33}, flips);
        ASSERT_EQ(filter.counter(33), count);
        ASSERT_EQ(filter.counter(32), 0U);
        ASSERT_EQ(filter.counter(34), 0U);
    }
    for (unsigned count = kCounterMax - 1; count > 0; --count) {
        ASSERT_EQ(filter.counter(33), count);
        filter.erase(Indices{33}, flips);
    }
    EXPECT_EQ(filter.counter(33), 0U);
    EXPECT_EQ(flips, (Flips{{33, true}, {33, false}}));
}

TEST(CountingBloomFilter, TakesThreeBitsForEachOfItsOwn) {
    constexpr Shape kShape{1 << 20, 4};
    CountingBloomFilter filter(kShape);
    EXPECT_EQ(filter.memory_bytes(), kShape.bits * 3 / 8);
    Flips flips;
    // As full as the shape of a cluster of four: 22 bits to an object.
    for (std::uint64_t number = 0; number < kShape.bits / 22; ++number)
        filter.insert(test::key(number), flips);
    EXPECT_LT(filter.memory_bytes(), kShape.bits * 31 / 80);
}

TEST(CountingBloomFilter, AKeyThatMeetsItselfComesAndGoes) {
    CountingBloomFilter filter({95, 6});
    Flips flips;
    const Indices twice{13, 61, 9, 91, 54, 91};
    filter.insert(twice, flips);
    EXPECT_EQ(filter.counter(91), 2U);
    filter.erase(twice, flips);
    EXPECT_EQ(filter.bits(), BitArray(95));
    EXPECT_TRUE(net_effect(flips).empty());
}

TEST(CountingBloomFilter, AnEraseBelowZeroDoesNotWrapAround) {
    CountingBloomFilter filter({32, 1});
    Flips flips;
    filter.erase(Indices{3}, flips);
    EXPECT_EQ(filter.counter(3), 0U);
    EXPECT_TRUE(flips.empty());
}

TEST(CountingBloomFilter, ContainsExactlyThePresentKeysAfterRandomChurn) {
    constexpr std::uint64_t kSeed = 20260001;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    test::Random random(kSeed);
    constexpr Shape kShape{40'000, 5};
    CountingBloomFilter filter(kShape);
    BitArray followed(kShape.bits);  // what a receiver of all flips has
    std::unordered_map<std::uint64_t, bool> stored;
    for (int round = 0; round < 30'000; ++round) {
        const auto number = random.below(5000);
        Flips flips;
        stored[number] ? filter.erase(test::key(number), flips)
                       : filter.insert(test::key(number), flips);
        stored[number] = !stored[number];
        for (const auto flip : flips) {
            ASSERT_NE(followed.get(flip.position), flip.set);
            flip.set ? followed.set(flip.position) : followed.clear(flip.position);
        }
    }
    BloomFilter anew(kShape);
    const auto present = filter_of(filter);
    for (const auto& [number, there] : stored) {
        if (!there) continue;
        ASSERT_TRUE(present.contains(test::key(number)));
        anew.insert(test::key(number));
    }
    // No counter came near its limit here, so the bits are those of a filter built from scratch.
    EXPECT_EQ(filter.bits(), anew.bits());
    EXPECT_EQ(filter.bits(), followed);
    EXPECT_EQ(filter.ones(), filter.bits().count_ones());
}

}  // namespace counting_bloom_filter_test
}  // namespace summary
