#include "summary/filters/cuckoo_filter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "tests/summary/keys.hpp"
#include "tests/summary/known_answers.hpp"

namespace summary {
namespace cuckoo_filter_test {

using test::key;
using test::Random;

// Example 2.12 of the lecture notes: ten buckets of one, where a tag's two buckets do not lead to
// each other; it ends with a false negative. Its hashes are right.
TEST(CuckooFilterKnownAnswers, HashesOfTheExampleWithTenBuckets) {
    struct Row {
        const char* key;
        std::uint32_t tag, bucket, tag_hash, other;
    };
    const Row rows[] = {{"Copenhagen", 49615, 7, 34475545, 0},
                        {"Athens", 27356, 0, 1404961617, 7},
                        {"Lisbon", 16431, 7, 60876020, 9},
                        {"Helsinki", 15377, 7, 633506194, 7},
                        {"Oslo", 53104, 0, 1692881986, 6}};
    for (const auto& row : rows) {
        const auto hash = test::notes_hash(row.key);
        EXPECT_EQ(hash % 65536, row.tag) << row.key;
        EXPECT_EQ(hash % 10, row.bucket) << row.key;
        EXPECT_EQ(test::notes_hash(row.tag), row.tag_hash) << row.key;
        EXPECT_EQ((row.bucket ^ row.tag_hash) % 10, row.other) << row.key;
    }
}

TEST(CuckooFilterKnownAnswers, ItsKeysAreFoundWhereBucketsAreAPowerOfTwo) {
    const CuckooShape shape{1, 16};  // two buckets: each tag can go to either
    CuckooFilter filter(shape);
    const auto of = [&](const char* text) {
        const auto hash = test::notes_hash(text);
        return std::uint64_t{hash / 65536 % 2} << 16 | hash % 65536;
    };
    for (const auto* text : {"Copenhagen", "Athens", "Lisbon", "Helsinki"}) {
        EXPECT_TRUE(filter.insert(of(text)));
    }
    for (const auto* text : {"Copenhagen", "Athens", "Lisbon", "Helsinki"}) {
        EXPECT_TRUE(filter.contains(of(text))) << text;
    }
    EXPECT_FALSE(filter.contains(of("Oslo")));
}

TEST(CuckooFilterKnownAnswers, FalsePositiveRates) {
    EXPECT_NEAR(cuckoo_false_positive_rate(8, 4), 0.015533685451373458, 1e-15);
    EXPECT_NEAR(cuckoo_false_positive_rate(8, 8), 0.030826075519044704, 1e-15);
    EXPECT_NEAR(cuckoo_false_positive_rate(12, 8), 0.001951456884604852, 1e-15);
    EXPECT_NEAR(cuckoo_false_positive_rate(16, 8), 0.00012206379344092966, 1e-15);
}

TEST(CuckooFilter, SizesByObjectsAndError) {
    const auto shape = cuckoo_shape(900'000, std::exp2(-12));
    EXPECT_EQ(shape, (CuckooShape{18, 15}));
    EXPECT_EQ(capacity(shape), 996'147U);
    EXPECT_EQ(cuckoo_shape(1'000'000, std::exp2(-12)).buckets_log2, 19U) << "a power of two";
    EXPECT_LE(cuckoo_false_positive_rate(15, 8 * kMaxCuckooLoad), std::exp2(-12));
    EXPECT_EQ(cuckoo_shape(1'000, 1e-9).tag_bits, kMaxTagBits);
    EXPECT_TRUE(is_valid(cuckoo_shape(std::uint64_t{1} << 40, 1e-9)));
    EXPECT_FALSE(is_valid(CuckooShape{29, 8}));
    EXPECT_FALSE(is_valid(CuckooShape{26, 15})) << "beyond kMaxUniverse";
    EXPECT_FALSE(is_valid(CuckooShape{10, 3}));
    EXPECT_FALSE(is_valid(CuckooShape{10, 17}));
}

TEST(CuckooFilter, FingerprintsAscendWithKeysAndNoTagIsZero) {
    const CuckooShape shape{10, 12};
    std::map<std::uint64_t, std::uint64_t> by_key;
    for (std::uint64_t i = 0; i < 5'000; ++i) {
        const auto fingerprint = cuckoo_fingerprint(key(i), shape);
        ASSERT_TRUE(is_fingerprint(fingerprint, shape));
        by_key[key(i).high] = fingerprint;
    }
    std::uint64_t before = 0;
    for (const auto& [high, fingerprint] : by_key) {
        ASSERT_GE(fingerprint, before);
        before = fingerprint;
    }
    EXPECT_FALSE(is_fingerprint(5 << 12, shape));
    EXPECT_FALSE(is_fingerprint(1 << 22 | 1, shape));
}

class CuckooFilterOfTagBits : public testing::TestWithParam<unsigned> {};

TEST_P(CuckooFilterOfTagBits, ContainsTheInsertedFingerprintsUpToItsLoad) {
    const CuckooShape shape{9, GetParam()};
    CuckooFilter filter(shape);
    std::multimap<std::uint64_t, int> all;
    Random random(6);
    const auto check = [&] {
        std::uint64_t sum = 0;
        for (const auto& [fingerprint, _] : all) {
            ASSERT_TRUE(filter.contains(fingerprint));
            sum += check_term(fingerprint);
        }
        ASSERT_EQ(filter.size(), all.size());
        ASSERT_EQ(filter.check_hash(), sum);
    };
    std::uint64_t next = 0;
    for (int round = 0; round < 4; ++round) {
        while (filter.size() < capacity(shape)) {
            const auto fingerprint = cuckoo_fingerprint(key(next++), shape);
            if (!filter.insert(fingerprint)) {
                // With short tags many lead to the same places.
                ASSERT_LE(GetParam(), 8U) << filter.size();
                continue;
            }
            all.emplace(fingerprint, 0);
        }
        check();
        for (auto i = capacity(shape) / 2; i > 0; --i) {
            auto gone = all.lower_bound(random.below(universe(shape)));
            if (gone == all.end()) gone = all.begin();
            ASSERT_TRUE(filter.erase(gone->first));
            all.erase(gone);
        }
        check();
    }
    for (const auto& [fingerprint, _] : all) ASSERT_TRUE(filter.erase(fingerprint));
    EXPECT_EQ(filter.size(), 0U);
    EXPECT_EQ(filter.check_hash(), 0U);
    EXPECT_FALSE(filter.contains(cuckoo_fingerprint(key(1), shape)));
    EXPECT_FALSE(filter.erase(cuckoo_fingerprint(key(1), shape)));
}

// Buckets of 24 to 64 bits: across words, and not.
INSTANTIATE_TEST_SUITE_P(Tags, CuckooFilterOfTagBits, testing::Values(6, 8, 11, 12, 13, 15, 16));

TEST(CuckooFilter, SaysThatItIsFullAndLosesNothing) {
    const CuckooShape shape{6, 14};
    CuckooFilter filter(shape);
    std::vector<std::uint64_t> taken;
    unsigned refused = 0;
    for (std::uint64_t i = 0; refused < 100; ++i) {
        const auto fingerprint = cuckoo_fingerprint(key(i), shape);
        if (filter.insert(fingerprint)) {
            taken.push_back(fingerprint);
        } else {
            ++refused;
        }
    }
    EXPECT_GE(taken.size(), capacity(shape));
    EXPECT_EQ(filter.size(), taken.size());
    for (const auto fingerprint : taken) EXPECT_TRUE(filter.contains(fingerprint));
    for (const auto fingerprint : taken) EXPECT_TRUE(filter.erase(fingerprint));
    EXPECT_EQ(filter.size(), 0U);
}

TEST(CuckooFilter, IsAsWrongAsItSays) {
    const auto shape = cuckoo_shape(capacity({13, 12}), cuckoo_false_positive_rate(12, 7.6) * 1.01);
    ASSERT_EQ(shape, (CuckooShape{13, 12}));
    CuckooFilter filter(shape);
    for (std::uint64_t i = 0; i < capacity(shape); ++i) {
        ASSERT_TRUE(filter.insert(cuckoo_fingerprint(key(i), shape)));
    }
    constexpr std::uint64_t kAbsent = 400'000;
    std::uint64_t false_hits = 0;
    for (std::uint64_t i = 0; i < kAbsent; ++i) {
        if (filter.contains(cuckoo_fingerprint(key(1'000'000 + i), shape))) ++false_hits;
    }
    const auto expected = cuckoo_false_positive_rate(12, 7.6) * kAbsent;
    EXPECT_NEAR(static_cast<double>(false_hits), expected, 5 * std::sqrt(expected));
}

/// A full filter, where almost every tag that comes moves others.
TEST(CuckooFilter, IsReadByAnotherThreadWhileTagsMove) {
    const CuckooShape shape{8, 15};
    CuckooFilter filter(shape);
    const auto stay = capacity(shape) / 2;
    const auto of = [&](std::uint64_t i) { return cuckoo_fingerprint(key(i), shape); };
    for (std::uint64_t i = 0; i < stay; ++i) ASSERT_TRUE(filter.insert(of(i)));

    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        Random random(7);
        while (!done) {
            if (!filter.contains(of(random.below(stay)))) ++missed;
            filter.contains(of(stay + random()));
            ++looked;
        }
    });
    for (std::uint64_t round = 0; round < 100 || looked < 20'000; ++round) {
        std::vector<std::uint64_t> come;
        for (auto i = (round + 1) * 1'000; filter.size() < capacity(shape); ++i) {
            if (filter.insert(of(i))) come.push_back(of(i));
        }
        for (const auto fingerprint : come) ASSERT_TRUE(filter.erase(fingerprint));
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
    EXPECT_EQ(filter.size(), stay);
}

}  // namespace cuckoo_filter_test
}  // namespace summary
