#include "proxy/storage/shards.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace proxy {
namespace shards_test {

int all_alike(std::size_t) {
    return 1;
}

TEST(Shards, FollowFromTheFirstBitsOfAKey) {
    EXPECT_EQ(shard_of({~std::uint64_t{0}, 0}), 0u);
    EXPECT_EQ(shard_of({0, ~std::uint64_t{0}}), kShards - 1);
}

TEST(Shards, OfATurnAreTwoAndTheFullerComesFirst) {
    const auto by_number = [](std::size_t shard) { return shard; };
    for (std::size_t turn = 0; turn < 1000; ++turn) {
        const auto [fuller, other] = shards_of_turn(turn, by_number);
        EXPECT_LT(fuller, kShards);
        EXPECT_GT(fuller, other) << turn;
    }
}

TEST(Shards, HaveTheirTurnOneAfterTheOther) {
    for (std::size_t turn = 0; turn < 100; ++turn)
        EXPECT_EQ(shards_of_turn(turn, all_alike)[0], turn % kShards);
}

TEST(Shards, MeetAllOthersByAndBy) {
    std::set<std::pair<std::size_t, std::size_t>> met;
    for (std::size_t turn = 0; turn < kShards * (kShards - 1); ++turn) {
        const auto [one, other] = shards_of_turn(turn, all_alike);
        met.emplace(one, other);
    }
    EXPECT_EQ(met.size(), kShards * (kShards - 1));
}

}  // namespace shards_test
}  // namespace proxy
