#include "summary/filters/aging_bloom_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>
#include <vector>

#include "summary/filters/bloom_filter.hpp"
#include "summary/sizing/sizing.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace aging_bloom_filter_test {

using Indices = std::vector<std::uint64_t>;

void insert(AgingBloomFilter& filter, std::uint64_t first, std::uint64_t count) {
    for (const auto key : test::keys(first, count)) filter.check_and_insert(key);
}

std::uint64_t remembered(const AgingBloomFilter& filter, std::uint64_t first, std::uint64_t count) {
    std::uint64_t found = 0;
    for (const auto key : test::keys(first, count)) found += filter.contains(key) ? 1 : 0;
    return found;
}

// Until the first turn it is a Bloom filter: the cities of the lecture notes.
TEST(AgingBloomFilter, FollowsTheCitiesExample) {
    AgingBloomFilter filter(Shape{10, 2}, 100);
    EXPECT_FALSE(filter.check_and_insert(Indices{7, 3}));  // Copenhagen
    EXPECT_FALSE(filter.check_and_insert(Indices{1, 3}));  // Dublin
    EXPECT_TRUE(filter.check_and_insert(Indices{7, 3}));
    EXPECT_TRUE(filter.check_and_insert(Indices{1, 7}));   // Berlin: a false positive
    EXPECT_FALSE(filter.check_and_insert(Indices{5, 6}));  // Rome
    EXPECT_EQ(filter.newest(), 3u);
}

// The same with a capacity of one key for each buffer, turn by turn.
TEST(AgingBloomFilter, ClearsTheOlderBufferAndChangesPlaces) {
    AgingBloomFilter filter(Shape{10, 2}, 1);
    const Indices copenhagen{7, 3}, dublin{1, 3}, rome{5, 6};
    EXPECT_FALSE(filter.check_and_insert(copenhagen));  // first: Copenhagen
    EXPECT_EQ(filter.turns(), 0u);
    EXPECT_FALSE(filter.check_and_insert(dublin));  // first: Dublin, second: Copenhagen
    EXPECT_EQ(filter.turns(), 1u);
    EXPECT_TRUE(filter.check_and_insert(copenhagen));  // from the second into the first
    EXPECT_EQ(filter.turns(), 2u);
    EXPECT_FALSE(filter.check_and_insert(rome));    // Dublin is forgotten ...
    EXPECT_FALSE(filter.check_and_insert(dublin));  // ... and Copenhagen now
    EXPECT_FALSE(filter.check_and_insert(copenhagen));
}

TEST(AgingBloomFilter, RemembersBetweenOnceAndTwiceItsCapacity) {
    constexpr std::uint64_t kKeys = 5'000;
    AgingBloomFilter filter({.keys = kKeys, .error = 0.0001});
    ASSERT_EQ(filter.capacity(), kKeys);
    std::uint64_t end = 0;
    for (const std::uint64_t more : {kKeys, 3 * kKeys, kKeys / 2, kKeys / 2, kKeys / 3}) {
        insert(filter, end, more);
        end += more;
        ASSERT_EQ(remembered(filter, end - kKeys, kKeys), kKeys) << end;  // never a false negative
        if (end < 3 * kKeys) continue;
        EXPECT_LE(remembered(filter, end - 3 * kKeys, kKeys), kKeys / 500) << end;
    }
}

TEST(AgingBloomFilter, KeepsWhatComesAgain) {
    AgingBloomFilter filter({.keys = 1'000, .error = 0.001});
    const auto regular = test::key(1);
    filter.check_and_insert(regular);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        insert(filter, 1'000'000 * round, 900);
        EXPECT_TRUE(filter.check_and_insert(regular)) << round;
    }
    EXPECT_GE(filter.turns(), 15u);
}

TEST(AgingBloomFilter, LeavesEverythingAsItIsWhenOnlyAsked) {
    AgingBloomFilter filter({.keys = 100, .error = 0.01});
    const auto key = test::key(1);
    EXPECT_FALSE(filter.contains(key));
    EXPECT_FALSE(filter.check_and_insert(key));
    EXPECT_TRUE(filter.contains(key));
    EXPECT_EQ(filter.newest(), 1u);
}

/// Chance of "seen" for a new key when both buffers are full.
double error_when_full(const AgingBloomFilter& filter) {
    const auto each = test::error_of(filter.shape(), static_cast<double>(filter.capacity()));
    return 1 - (1 - each) * (1 - each);
}

// 1 - (1 - f)^2 for two full buffers, by the formula and by counting.
TEST(AgingBloomFilter, ErrsAsTheFormulaSays) {
    constexpr std::uint64_t kKeys = 50'000, kAsked = 200'000;
    for (const double error : {0.10, 0.03, 0.01, 0.001}) {
        AgingBloomFilter filter({.keys = kKeys, .error = error});
        EXPECT_NEAR(error_when_full(filter) / error, 1, 0.06) << error;  // hashes are whole numbers
        insert(filter, 0, 6 * kKeys);
        EXPECT_GT(filter.newest(), kKeys / 2);
        // The errors that a first buffer avoids while it is not full are left out.
        const auto first = test::error_of(filter.shape(), static_cast<double>(filter.newest()));
        const auto second = test::error_of(filter.shape(), static_cast<double>(kKeys));
        const auto expected = 1 - (1 - first) * (1 - second);
        const auto counted = static_cast<double>(remembered(filter, 1ull << 40, kAsked)) / kAsked;
        EXPECT_NEAR(counted, expected, 5 * std::sqrt(expected / kAsked)) << error;
    }
}

TEST(AgingBloomFilter, TakesTheMemoryOfTheFormula) {
    struct Row {
        double error, bits_for_each_key;
    };
    for (const auto row : {Row{0.05, 15.3}, Row{0.03, 17.5}, Row{0.01, 22.0}}) {
        const AgingBloomFilter filter({.keys = 1'000'000, .error = row.error});
        const auto bits = 8.0 * static_cast<double>(filter.memory_bytes()) / 1'000'000;
        EXPECT_NEAR(bits, row.bits_for_each_key, 0.06) << row.error;
        const auto each = 1 - std::sqrt(1 - row.error);
        EXPECT_NEAR(bits, 2 * optimal_bits(1, each), 0.02) << row.error;
    }
}

TEST(AgingBloomFilter, IsNotLargerThanAnyFilterMayBe) {
    const AgingBloomFilter filter({.keys = std::uint64_t{1} << 40, .error = 0.03});
    EXPECT_EQ(filter.shape().bits, kMaxBits);
    EXPECT_LT(filter.capacity(), std::uint64_t{1} << 40);
    EXPECT_LE(error_when_full(filter), 0.0301);
    EXPECT_EQ(AgingBloomFilter({.keys = 0, .error = 0.03}).capacity(), 1u);
}

// A part that is noted as to be cleared reads as if it were, in every chunk and turn after turn:
// against the same with two filters that are cleared at once.
TEST(AgingBloomFilter, DoesAsIfItClearedAtOnce) {
    const Shape shape{100'003, 4};  // many chunks, the last one not whole
    constexpr std::uint64_t kCapacity = 700;
    AgingBloomFilter filter(shape, kCapacity);
    BloomFilter first(shape), second(shape);
    std::uint64_t in_first = 0;
    test::Random random(7);
    for (int i = 0; i < 30'000; ++i) {
        const auto key = test::key(random.below(3'000));
        bool expected = first.contains(key);
        if (!expected) {
            expected = second.contains(key);
            if (in_first == kCapacity) {
                second = std::move(first);
                first = BloomFilter(shape);
                in_first = 0;
            }
            first.insert(key);
            ++in_first;
        }
        ASSERT_EQ(filter.check_and_insert(key), expected) << i;
    }
    EXPECT_GE(filter.turns(), 20u);
}

// The plain use: does a request of a stream repeat a recent one?
TEST(AgingBloomFilter, FindsDuplicatesInAStreamOfRequests) {
    constexpr std::uint64_t kWindow = 2'000;
    AgingBloomFilter seen({.keys = kWindow, .error = 0.01});
    std::unordered_map<std::uint64_t, std::uint64_t> last;  // object -> request
    test::Random random(42);
    std::uint64_t missed = 0, invented = 0, first_time = 0, again = 0;
    for (std::uint64_t request = 0; request < 100'000; ++request) {
        // Half of all requests go to few objects, the others to many.
        const auto object = random.one_in(2) ? random.below(500) : 1'000 + random.below(200'000);
        const auto before = last.find(object);
        const bool duplicate = seen.check_and_insert(test::key(object));
        if (before == last.end()) {
            ++first_time;
            invented += duplicate ? 1 : 0;
        } else if (request - before->second <= kWindow) {  // at most so many different ones since
            ++again;
            missed += duplicate ? 0 : 1;
        }
        last[object] = request;
    }
    EXPECT_GT(again, 40'000u);
    EXPECT_EQ(missed, 0u);
    EXPECT_LE(static_cast<double>(invented), 0.012 * static_cast<double>(first_time));
}

}  // namespace aging_bloom_filter_test
}  // namespace summary
