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

/// Shards with one object each, of which each tells no more than a lower bound until it is asked.
struct OneEach {
    bool evict() {
        return evict_least(
            clock, [this](std::size_t shard) { return told[shard]; },
            [this](std::size_t shard, std::optional<std::uint32_t> most) {
                ++asked;
                told[shard] = value[shard];
                if (most && static_cast<std::int32_t>(value[shard] - *most) > 0) return false;
                victim = shard;
                return has_any;
            });
    }
    std::uint32_t clock = 0xfffffff0;  // the values pass the end of the numbers
    std::array<std::uint32_t, kShards> told{}, value{};
    bool has_any = true;
    std::size_t victim = kShards, asked = 0;
};

TEST(Shards, EvictTheLeastValueOfAllWhateverTheyTellAtFirst) {
    OneEach shards;
    for (std::size_t i = 0; i < kShards; ++i) {
        shards.told[i] = shards.clock + 1;
        shards.value[i] = shards.clock + 100 - static_cast<std::uint32_t>(i == 11 ? 50 : i);
    }
    EXPECT_TRUE(shards.evict());
    EXPECT_EQ(shards.victim, 11u);
    EXPECT_LE(shards.asked, kShards + 1);
    shards.asked = 0;
    shards.value[11] = shards.told[11] = shards.clock + 200;
    EXPECT_TRUE(shards.evict());
    EXPECT_EQ(shards.victim, 15u);
    EXPECT_EQ(shards.asked, 1u) << "by now all tell the truth";
}

TEST(Shards, SayThatNoneHasAnythingToEvict) {
    OneEach shards;
    shards.has_any = false;
    EXPECT_FALSE(shards.evict());
    EXPECT_EQ(shards.asked, kShards + 1);
}

}  // namespace shards_test
}  // namespace proxy
