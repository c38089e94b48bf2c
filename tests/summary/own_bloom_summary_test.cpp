#include "summary/own/own_bloom_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "summary/sizing/sizing.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace own_bloom_summary_test {

constexpr double kError = 0.002;

OwnBloomSummary empty(std::uint64_t expected_objects = 0) {
    return OwnBloomSummary({kError, 10, expected_objects});
}

void store(OwnBloomSummary& own, std::uint64_t first, std::uint64_t count) {
    for (const auto key : test::keys(first, count)) ASSERT_TRUE(own.stored(key));
}

void remove(OwnBloomSummary& own, std::uint64_t first, std::uint64_t count) {
    for (const auto key : test::keys(first, count)) ASSERT_TRUE(own.removed(key));
}

TEST(OwnBloomSummary, AnnouncesStoredKeysAsBitsToSet) {
    auto own = empty();
    EXPECT_TRUE(own.stored(test::key(1)));
    EXPECT_EQ(own.objects(), 1U);
    const auto delta = own.take_delta(test::kNoLimit);
    ASSERT_TRUE(delta);
    EXPECT_EQ(delta->set.size(), own.shape().hashes);
    EXPECT_TRUE(delta->clear.empty());
    EXPECT_EQ(own.generation(), 1U);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)->empty());
    EXPECT_EQ(own.generation(), 2U);
}

TEST(OwnBloomSummary, IgnoresKeysStoredTwiceAndKeysThatAreNotThere) {
    auto own = empty();
    EXPECT_TRUE(own.stored(test::key(1)));
    const auto before = test::bits_of(own);
    EXPECT_FALSE(own.stored(test::key(1)));
    EXPECT_FALSE(own.removed(test::key(2)));
    EXPECT_EQ(test::bits_of(own), before);
    EXPECT_EQ(own.changed_since_announced(), 1U);
    EXPECT_TRUE(own.removed(test::key(1)));
    EXPECT_FALSE(own.removed(test::key(1)));
    EXPECT_EQ(test::bits_of(own).count_ones(), 0U);
}

TEST(OwnBloomSummary, GoesOnWithTheKeysOfAnotherInANewEpoch) {
    auto earlier = empty();
    store(earlier, 0, 1000);
    OwnBloomSummary own({kError / 4, 20, 0}, std::move(earlier));
    EXPECT_EQ(own.objects(), 1000U);
    EXPECT_EQ(own.epoch(), 21U);
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_EQ(own.fit(), Fit::fits);
    EXPECT_LE(own.expected_false_hit(), kError / 4);
    EXPECT_FALSE(own.stored(test::key(1)));
    remove(own, 0, 1000);
    own.take_delta(test::kNoLimit);
    EXPECT_EQ(own.fill_ratio(), 0);
}

TEST(OwnBloomSummary, CountsAReplacedObjectOnce) {
    auto own = empty();
    store(own, 0, 10);
    EXPECT_EQ(own.changed_since_announced(), 10U);
    own.take_delta(test::kNoLimit);
    EXPECT_EQ(own.changed_since_announced(), 0U);
    store(own, 10, 3);
    remove(own, 0, 3);
    EXPECT_EQ(own.changed_since_announced(), 3U);
    remove(own, 3, 2);
    EXPECT_EQ(own.changed_since_announced(), 5U);
}

TEST(OwnBloomSummary, SaysNothingOfWhatCameAndWent) {
    auto own = empty();
    store(own, 0, 5);
    remove(own, 0, 5);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)->empty());
}

TEST(OwnBloomSummary, AnnouncesAgainTheChangesThatASnapshotMayContain) {
    auto own = empty();
    store(own, 0, 5);
    auto seen = test::bits_of(own);  // holds the five, which then go
    remove(own, 0, 5);
    const auto delta = own.take_delta(test::kNoLimit);
    ASSERT_TRUE(delta);
    apply(*delta, seen);
    EXPECT_EQ(seen, test::bits_of(own));
    own.take_delta(test::kNoLimit);
    store(own, 0, 5);
    remove(own, 0, 5);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)->empty()) << "nobody saw these";
}

TEST(OwnBloomSummary, AsksForASnapshotWhenTooMuchIsPending) {
    auto own = empty();
    const auto limit = own.shape().bits / OwnBloomSummary::kBitsPerPendingFlip;
    const auto enough = limit / own.shape().hashes + 50;
    store(own, 0, enough);
    EXPECT_FALSE(own.take_delta(test::kNoLimit));
    EXPECT_EQ(own.generation(), 1U);
    store(own, enough, 1);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)) << "and goes on with deltas";
}

TEST(OwnBloomSummary, KnowsItsFillRatioAndError) {
    auto own = empty(5000);
    EXPECT_EQ(own.fill_ratio(), 0);
    EXPECT_EQ(own.expected_false_hit(), 0);
    store(own, 0, 5000);
    EXPECT_DOUBLE_EQ(own.fill_ratio(), static_cast<double>(test::bits_of(own).count_ones()) /
                                           static_cast<double>(own.shape().bits));
    EXPECT_LE(own.expected_false_hit(), kError * 1.1);
    EXPECT_GT(own.expected_false_hit(), kError / 4);
    EXPECT_EQ(own.check_hash(), test::bits_of(own).check_hash());
}

TEST(OwnBloomSummary, BeginsWithRoomForWhatIsExpected) {
    EXPECT_EQ(empty().shape(), shape_for(kMinObjects, kError));
    EXPECT_EQ(empty(100'000).shape(), shape_for(100'000, kError));
    EXPECT_EQ(empty().epoch(), 10U);
}

TEST(OwnBloomSummary, SaysWhenItsShapeIsTooSmallAndRegrows) {
    auto own = empty();
    const auto held = capacity(own.shape(), kError);
    store(own, 0, held);
    EXPECT_EQ(own.fit(), Fit::fits);
    store(own, held, 1);
    EXPECT_EQ(own.fit(), Fit::too_small);
    own.take_delta(test::kNoLimit);
    test::regrow(own);
    EXPECT_EQ(own.fit(), Fit::fits);
    EXPECT_EQ(own.epoch(), 11U);
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_EQ(own.changed_since_announced(), 0U);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)->empty());
    EXPECT_EQ(own.objects(), held + 1);
    const auto bits = test::bits_of(own);
    for (const auto key : test::keys(0, held + 1)) {
        for (const auto position : positions(key, own.shape())) {
            ASSERT_TRUE(bits.get(position));
        }
    }
}

TEST(OwnBloomSummary, AGrowingCacheRegrowsTwicePerOctaveAtMost) {
    auto own = empty();
    unsigned regrown = 0;
    for (std::uint64_t i = 0; i < 300'000; ++i) {
        own.stored(test::key(i));
        if (own.fit() == Fit::fits) continue;
        test::regrow(own);
        ++regrown;
        ASSERT_EQ(own.fit(), Fit::fits);
    }
    const auto octaves = std::log2(300'000.0 / kMinObjects);
    EXPECT_LE(regrown, 2 * octaves + 1);
    EXPECT_LE(static_cast<double>(own.shape().bits) / 300'000, 1.42 * bits_per_object(kError, 4));
}

TEST(OwnBloomSummary, ObjectsThatComeAndGoDoNotMakeItRegrow) {
    auto own = empty();
    store(own, 0, 3000);
    ASSERT_EQ(own.fit(), Fit::too_small);
    test::regrow(own);
    remove(own, 0, 1500);  // down to a half, up again, and a third more
    EXPECT_EQ(own.fit(), Fit::fits);
    store(own, 0, 1500);
    store(own, 3000, 1000);
    EXPECT_EQ(own.fit(), Fit::fits);
}

TEST(OwnBloomSummary, ShrinksWhenMostIsGoneButNotBelowTheSmallestShape) {
    auto own = empty();
    store(own, 0, 50'000);
    test::regrow(own);
    const auto large = own.shape();
    remove(own, 0, 40'000);
    ASSERT_EQ(own.fit(), Fit::too_large);
    test::regrow(own);
    EXPECT_LT(own.shape().bits, large.bits / 3);
    EXPECT_EQ(own.fit(), Fit::fits);
    remove(own, 40'000, 10'000);
    ASSERT_EQ(own.fit(), Fit::too_large);
    test::regrow(own);
    EXPECT_EQ(own.shape(), shape_for(kMinObjects, kError));
    EXPECT_EQ(own.fit(), Fit::fits);
    EXPECT_EQ(own.fill_ratio(), 0);
}

TEST(OwnBloomSummary, AWarmStartIsNotShrunkWhileItLoads) {
    auto own = empty(100'000);
    store(own, 0, 10);
    EXPECT_EQ(own.fit(), Fit::fits);
}

}  // namespace own_bloom_summary_test
}  // namespace summary
