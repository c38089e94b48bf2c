#include "summary/directory/bloom_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace bloom_table_test {

using test::asked;
using test::key;

constexpr Shape kShape{20'032, 4};  // not a whole number of table words for any number of lanes

/// A table and the filters in it, each with a hundred keys of its own: lane i is peer 1000 - i.
class Loaded {
public:
    explicit Loaded(std::size_t count) : table(kShape, count), lanes(table.lanes()) {
        for (unsigned i = 0; i < count; ++i) {
            filters.emplace_back(test::filter_with(100 * i, 100, kShape));
            lanes.take(1000 - i);
        }
        sources.resize(lanes.size());
        for (std::size_t i = 0; i < count; ++i) sources[i] = {&filters[i]};
    }
    PeerSet find(std::uint64_t number) const {
        PeerSet found;
        table.find(asked(key(number)), lanes, found);
        return found;
    }
    PeerSet expected(std::uint64_t number) const {
        PeerSet found;
        for (unsigned i = 0; i < filters.size(); ++i) {
            if (contains(filters[i], asked(key(number)))) found.insert(1000 - i);
        }
        return found;
    }

    BloomTable table;
    Lanes lanes;
    std::vector<Filter> filters;
    std::vector<LaneSource> sources;
};

TEST(BloomTable, RoundsLanesUpToAPowerOfTwoAndBeyond64ToWords) {
    const auto lanes = [](std::size_t count) { return BloomTable(kShape, count).lanes(); };
    EXPECT_EQ(lanes(1), 1U);
    EXPECT_EQ(lanes(3), 4U);
    EXPECT_EQ(lanes(33), 64U);
    EXPECT_EQ(lanes(65), 128U);
    EXPECT_EQ(lanes(129), 192U);
    EXPECT_EQ(lanes(kMaxPeers), kMaxPeers);
    EXPECT_EQ(BloomTable(kShape, 5).memory_bytes(), kShape.bits * 8 / 8);
    EXPECT_EQ(BloomTable(kShape, 5).descriptor(), test::bloom(kShape));
}

TEST(BloomTable, AnswersForAllLanesLoadedTogetherOrOneByOne) {
    for (const std::size_t count : {1, 3, 8, 64, 100, 513}) {
        SCOPED_TRACE(testing::Message() << count << " lanes");
        Loaded together(count), singly(count);
        EXPECT_TRUE(together.find(5).empty()) << "nothing is there";
        together.table.load_all(together.sources, 0, together.table.blocks());
        for (std::size_t lane = 0; lane < count; ++lane)
            singly.table.load(lane, singly.filters[lane], 0, singly.table.blocks(), lane % 2 == 0);
        for (std::uint64_t number = 0; number < 100 * count + 200; number += 7) {
            ASSERT_EQ(together.find(number), together.expected(number)) << number;
            ASSERT_EQ(singly.find(number), singly.expected(number)) << number;
        }
    }
}

TEST(BloomTable, IsLoadedInAnySlices) {
    Loaded whole(5), sliced(5);
    whole.table.load_all(whole.sources, 0, whole.table.blocks());
    for (std::uint64_t block = 0; block < sliced.table.blocks(); ++block)
        sliced.table.load_all(sliced.sources, block, block + 1);
    for (std::uint64_t number = 0; number < 700; ++number)
        ASSERT_EQ(sliced.find(number), whole.find(number));
    EXPECT_EQ(whole.table.block_words(), 8U);
    EXPECT_EQ(Loaded(100).table.block_words(), 128U);
    EXPECT_EQ(Loaded(100).table.lane_block_words(), 64U);
}

TEST(BloomTable, ADeltaChangesOneLane) {
    for (const std::size_t count : {5, 100}) {
        SCOPED_TRACE(testing::Message() << count << " lanes");
        Loaded loaded(count);
        loaded.table.load_all(loaded.sources, 0, loaded.table.blocks());
        const auto where = positions(key(1'000'000), kShape);
        Delta delta;
        for (const auto position : where) {
            if (!test::bits_of(loaded.filters[3]).get(position)) delta.set.push_back(position);
        }
        std::sort(delta.set.begin(), delta.set.end());
        const auto done = apply_delta(test::payload_of(delta, kShape.bits), loaded.filters[3]);
        ASSERT_TRUE(done);
        loaded.table.apply(3, *done);
        EXPECT_TRUE(loaded.find(1'000'000).contains(997));
        for (std::uint64_t number = 0; number < 600; ++number)
            ASSERT_EQ(loaded.find(number), loaded.expected(number));
    }
}

}  // namespace bloom_table_test
}  // namespace summary
