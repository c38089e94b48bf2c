#include "summary/replica.hpp"

#include <gtest/gtest.h>

#include "tests/summary/keys.hpp"

namespace summary {
namespace {

constexpr Shape kShape{100, 4};
constexpr std::uint64_t kEpoch = 5;

BitArray bits(std::initializer_list<std::uint64_t> ones, std::uint64_t size = kShape.bits) {
    BitArray result(size);
    for (const auto position : ones) result.set(position);
    return result;
}

Replica at_generation(std::uint64_t generation) {
    Replica replica;
    EXPECT_EQ(replica.apply_snapshot(kEpoch, generation, kShape, bits({1, 2})), Apply::ok);
    return replica;
}

TEST(Replica, KnowsNothingBeforeTheFirstSnapshot) {
    Replica replica;
    EXPECT_FALSE(replica.in_step());
    EXPECT_EQ(replica.apply_delta(kEpoch, 1, Delta{{3}, {}}), Apply::gap);
    EXPECT_EQ(replica.heard(kEpoch, 0), Apply::gap);
    EXPECT_EQ(replica.check(kEpoch, 0, BitArray().check_hash()), Apply::gap);
}

TEST(Replica, FollowsSnapshotAndDeltas) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 8, Delta{{3}, {1}}), Apply::ok);
    EXPECT_EQ(replica.apply_delta(kEpoch, 9, Delta{}), Apply::ok);
    EXPECT_TRUE(replica.in_step());
    EXPECT_EQ(replica.generation(), 9U);
    EXPECT_EQ(replica.bits(), bits({2, 3}));
    EXPECT_EQ(replica.heard(kEpoch, 9), Apply::ok);
    EXPECT_EQ(replica.check(kEpoch, 9, bits({2, 3}).check_hash()), Apply::ok);
}

TEST(Replica, IgnoresWhatItHasSeen) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 7, Delta{{50}, {}}), Apply::repeated);
    EXPECT_EQ(replica.apply_delta(kEpoch, 3, Delta{{50}, {}}), Apply::repeated);
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 6, kShape, bits({50})), Apply::repeated);
    EXPECT_EQ(replica.heard(kEpoch, 6), Apply::repeated);
    EXPECT_EQ(replica.check(kEpoch, 6, 123), Apply::repeated);
    EXPECT_TRUE(replica.in_step());
    EXPECT_EQ(replica.bits(), bits({1, 2}));
}

TEST(Replica, IsOutOfStepAfterAGapUntilTheNextSnapshot) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 9, Delta{{3}, {}}), Apply::gap);
    EXPECT_FALSE(replica.in_step());
    EXPECT_EQ(replica.apply_delta(kEpoch, 8, Delta{{3}, {}}), Apply::gap);
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 9, kShape, bits({3})), Apply::ok);
    EXPECT_TRUE(replica.in_step());
    EXPECT_EQ(replica.apply_delta(kEpoch, 10, Delta{{4}, {}}), Apply::ok);
    EXPECT_EQ(replica.bits(), bits({3, 4}));
}

TEST(Replica, LearnsOfALostDeltaFromAHeartbeat) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.heard(kEpoch, 8), Apply::gap);
    EXPECT_FALSE(replica.in_step());
}

TEST(Replica, TakesNothingOfAnotherEpochButASnapshot) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch + 1, 8, Delta{{3}, {}}), Apply::wrong_epoch);
    EXPECT_FALSE(replica.in_step());
    constexpr Shape kOther{200, 5};
    EXPECT_EQ(replica.apply_snapshot(kEpoch + 1, 0, kOther, bits({150}, 200)), Apply::ok);
    EXPECT_EQ(replica.shape(), kOther);
    EXPECT_EQ(replica.heard(kEpoch, 7), Apply::wrong_epoch);
    EXPECT_FALSE(replica.in_step());
}

TEST(Replica, RefusesWhatDoesNotFitItsShape) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.apply_delta(kEpoch, 8, Delta{{100}, {}}), Apply::malformed);
    EXPECT_FALSE(replica.in_step());
    EXPECT_EQ(replica.bits(), bits({1, 2}));
    EXPECT_EQ(at_generation(7).apply_delta(kEpoch, 8, Delta{{5}, {5}}), Apply::malformed);
    EXPECT_EQ(at_generation(7).apply_snapshot(kEpoch, 8, {101, 4}, bits({})), Apply::malformed);
    EXPECT_EQ(at_generation(7).apply_snapshot(kEpoch, 8, {100, 0}, bits({})), Apply::malformed);
}

TEST(Replica, IsOutOfStepWhenTheCheckHashDiffers) {
    auto replica = at_generation(7);
    EXPECT_EQ(replica.check(kEpoch, 7, bits({1}).check_hash()), Apply::differs);
    EXPECT_FALSE(replica.in_step());
}

TEST(Replica, ForgetsEverything) {
    auto replica = at_generation(7);
    replica.forget();
    EXPECT_FALSE(replica.in_step());
    EXPECT_EQ(replica.bits().size(), 0U);
    EXPECT_EQ(replica.apply_snapshot(kEpoch, 1, kShape, bits({9})), Apply::ok);
}

TEST(Replica, ClaimsWhatTheOwnerHas) {
    constexpr Shape kLarge{160'000, 4};
    BitArray filled(kLarge.bits);
    for (const auto key : test::keys(0, 10'000)) {
        for (const auto position : positions(key, kLarge)) filled.set(position);
    }
    Replica replica;
    ASSERT_EQ(replica.apply_snapshot(1, 0, kLarge, filled), Apply::ok);
    for (const auto key : test::keys(0, 10'000)) ASSERT_TRUE(replica.contains(key));
    EXPECT_FALSE(replica.contains(test::key(77'777)));
}

TEST(Apply, HasANameForEveryAnswer) {
    EXPECT_STREQ(to_string(Apply::ok), "ok");
    EXPECT_STREQ(to_string(Apply::wrong_epoch), "wrong_epoch");
}

}  // namespace
}  // namespace summary
