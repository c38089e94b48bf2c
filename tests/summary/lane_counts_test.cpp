#include "summary/directory/lane_counts.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/summary/keys.hpp"

namespace summary {
namespace lane_counts_test {

TEST(LaneCounts, FindsEachRank) {
    constexpr std::size_t kLanes = 3;
    constexpr std::uint64_t kBlocks = 10'000;  // more than one large group
    LaneCounts counts(kLanes, kBlocks);
    test::Random random(5);
    std::vector<std::vector<unsigned>> expected(kLanes, std::vector<unsigned>(kBlocks));
    for (int i = 0; i < 40'000; ++i) {
        const auto lane = random.below(kLanes);
        const auto block = random.below(kBlocks);
        expected[lane][block] = static_cast<unsigned>(random.below(LaneCounts::kMost + 1));
        counts.set(lane, block, expected[lane][block]);
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::uint64_t rank = 0;
        for (std::uint64_t block = 0; block < kBlocks; ++block) {
            const auto count = expected[lane][block];
            ASSERT_EQ(counts.in_block(lane, block), count);
            if (count == 0) continue;
            for (const std::uint64_t in_block : {0U, count - 1}) {
                const auto place = counts.find(lane, rank + in_block);
                ASSERT_EQ(place.block, block);
                ASSERT_EQ(place.rank, in_block);
            }
            rank += count;
        }
        EXPECT_EQ(counts.size(lane), rank);
    }
}

TEST(LaneCounts, GivesItsMemoryBack) {
    LaneCounts counts(4, 1'500'000);
    EXPECT_LE(counts.memory_bytes(), 6'400'000U);
    int pieces = 1;
    while (!counts.release(1 << 10)) ++pieces;
    EXPECT_EQ(pieces, 2);
}

}  // namespace lane_counts_test
}  // namespace summary
