#include "summary/directory/replica.hpp"

#include <gtest/gtest.h>

#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace replica_test {

constexpr Shape kShape{100, 4};
constexpr std::uint64_t kEpoch = 5;

BitArray bits(std::initializer_list<std::uint64_t> ones, std::uint64_t size = kShape.bits) {
    return test::bits_with(ones, size);
}
Filter filter(std::initializer_list<std::uint64_t> ones, Shape shape = kShape) {
    return BloomFilter(shape, bits(ones, shape.bits));
}
Bytes payload(const Delta& delta, std::uint64_t size = kShape.bits) {
    return test::payload_of(delta, size);
}

Replica at_generation(std::uint64_t generation) {
    Replica replica;
    EXPECT_EQ(replica.apply_snapshot(kEpoch, generation, filter({1, 2})), ApplyResult::ok);
    return replica;
}

TEST(Replica, KnowsNothingBeforeTheFirstSnapshot) {
    Replica replica;
    EXPECT_FALSE(replica.in_sync());
    EXPECT_EQ(replica.apply_delta(kEpoch, 1, payload(Delta{{3}, {}})).what, ApplyResult::gap);
    EXPECT_EQ(replica.heard(kEpoch, 0), ApplyResult::gap);
    EXPECT_EQ(replica.check(kEpoch, 0, BitArray().check_hash()), ApplyResult::gap);
}

TEST(Replica, FollowsSnapshotAndDeltas) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 8, payload(Delta{{3}, {1}})).what, ApplyResult::ok);
    EXPECT_EQ(replica.apply_delta(kEpoch, 9, payload(Delta{})).what, ApplyResult::ok);
    EXPECT_TRUE(replica.in_sync());
    EXPECT_EQ(replica.generation(), 9U);
    EXPECT_EQ(test::bits_of(replica), bits({2, 3}));
    EXPECT_EQ(replica.heard(kEpoch, 9), ApplyResult::ok);
    EXPECT_EQ(replica.check(kEpoch, 9, bits({2, 3}).check_hash()), ApplyResult::ok);
}

TEST(Replica, IgnoresWhatItHasSeen) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 7, payload(Delta{{50}, {}})).what, ApplyResult::repeated);
    EXPECT_EQ(replica.apply_delta(kEpoch, 3, payload(Delta{{50}, {}})).what, ApplyResult::repeated);
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 6, filter({50})), ApplyResult::repeated);
    EXPECT_EQ(replica.heard(kEpoch, 6), ApplyResult::repeated);
    EXPECT_EQ(replica.check(kEpoch, 6, 123), ApplyResult::repeated);
    EXPECT_TRUE(replica.in_sync());
    EXPECT_EQ(test::bits_of(replica), bits({1, 2}));
}

TEST(Replica, IsOutOfStepAfterAGapUntilTheNextSnapshot) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 9, payload(Delta{{3}, {}})).what, ApplyResult::gap);
    EXPECT_FALSE(replica.in_sync());
    EXPECT_EQ(replica.apply_delta(kEpoch, 8, payload(Delta{{3}, {}})).what, ApplyResult::gap);
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 9, filter({3})), ApplyResult::ok);
    EXPECT_TRUE(replica.in_sync());
    EXPECT_EQ(replica.apply_delta(kEpoch, 10, payload(Delta{{4}, {}})).what, ApplyResult::ok);
    EXPECT_EQ(test::bits_of(replica), bits({3, 4}));
}

TEST(Replica, LearnsOfALostDeltaFromAHeartbeat) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.heard(kEpoch, 8), ApplyResult::gap);
    EXPECT_FALSE(replica.in_sync());
}

TEST(Replica, TakesNothingOfAnotherEpochButASnapshot) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch + 1, 8, payload(Delta{{3}, {}})).what,
              ApplyResult::wrong_epoch);
    EXPECT_FALSE(replica.in_sync());
    constexpr Shape kOther{200, 5};
    EXPECT_EQ(replica.apply_snapshot(kEpoch + 1, 0, filter({150}, kOther)), ApplyResult::ok);
    EXPECT_EQ(replica.descriptor(), test::bloom(kOther));
    EXPECT_EQ(replica.heard(kEpoch, 7), ApplyResult::wrong_epoch);
    EXPECT_FALSE(replica.in_sync());
}

TEST(Replica, RefusesWhatDoesNotFitItsFilter) {
    auto replica = at_generation(7);
    const auto outside = payload({{100}, {}}, 101);
    const auto refused = replica.apply_delta(kEpoch, 8, outside);
    EXPECT_EQ(refused.what, ApplyResult::malformed);
    EXPECT_FALSE(refused.change);
    EXPECT_FALSE(replica.in_sync());
    EXPECT_EQ(test::bits_of(replica), bits({1, 2}));
    EXPECT_EQ(at_generation(7).apply_delta(kEpoch, 8, {}).what, ApplyResult::malformed);
}

TEST(Replica, LooksAtNoPayloadThatIsNotTheNext) {
    const auto outside = payload({{100}, {}}, 101);
    EXPECT_EQ(at_generation(7).apply_delta(kEpoch, 7, outside).what, ApplyResult::repeated);
    EXPECT_EQ(at_generation(7).apply_delta(kEpoch, 9, outside).what, ApplyResult::gap);
    EXPECT_EQ(at_generation(7).apply_delta(kEpoch + 1, 8, outside).what, ApplyResult::wrong_epoch);
}

TEST(Replica, SaysWhatADeltaChanged) {
    auto replica = at_generation(7);
    const auto done = replica.apply_delta(kEpoch, 8, payload({{3}, {1}}));
    EXPECT_EQ(done.change, Change(Delta{{3}, {1}}));
    EXPECT_FALSE(replica.apply_delta(kEpoch, 8, payload({{3}, {1}})).change) << "announced before";
}

TEST(Replica, IsOutOfStepWhenTheCheckHashDiffers) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.check(kEpoch, 7, bits({1}).check_hash()), ApplyResult::differs);
    EXPECT_FALSE(replica.in_sync());
}

TEST(Replica, ForgetsEverything) {
    auto replica = at_generation(7);
    replica.forget();
    EXPECT_FALSE(replica.in_sync());
    EXPECT_EQ(replica.descriptor(), Descriptor());
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 1, filter({9})), ApplyResult::ok);
}

TEST(Replica, MatchesTheKeysOfTheOwner) {
    constexpr Shape kLarge{160'000, 4};
    Replica replica;
    ASSERT_EQ(replica.apply_snapshot(1, 0, test::filter_with(0, 10'000, kLarge)), ApplyResult::ok);
    for (const auto key : test::keys(0, 10'000))
        ASSERT_TRUE(contains(replica.filter(), test::asked(key)));
    EXPECT_FALSE(contains(replica.filter(), test::asked(test::key(77'777))));
}

}  // namespace replica_test
}  // namespace summary
