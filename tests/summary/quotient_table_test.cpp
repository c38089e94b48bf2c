#include "summary/quotient_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace {

const QuotientShape kShape = quotient_shape(1'000 * 250, 1'000);
using Filled = test::FilledLanes<QuotientTable, QuotientShape>;

class QuotientTableOf : public testing::TestWithParam<std::size_t> {};

TEST_P(QuotientTableOf, AnswersAsEachFilterAndFollows) {
    Filled filled(kShape, GetParam());
    EXPECT_TRUE(filled.find(5).empty()) << "nothing is there";
    filled.fill();
    filled.expect_alike();
    for (int round = 0; round < 4; ++round) {
        for (std::size_t lane = 0; lane < filled.filters.size(); ++lane) {
            filled.table.apply(lane, filled.change(lane));
        }
        filled.expect_alike();
    }
}

TEST_P(QuotientTableOf, IsFilledInSlicesWhileFiltersChange) {
    Filled filled(kShape, GetParam());
    for (std::uint64_t block = 0; block < filled.table.blocks(); ++block) {
        filled.table.fill(filled.sources(), block, block + 1);
        const auto lane = filled.random.below(filled.filters.size());
        filled.table.apply(lane, filled.change(lane));
    }
    filled.expect_alike();
}

TEST_P(QuotientTableOf, ALaneIsLoadedInSlicesOverWhatWasThere) {
    Filled filled(kShape, GetParam());
    filled.fill();
    const auto lane = filled.filters.size() / 2;
    for (int times = 0; times < 2; ++times) {
        filled.replace_some(lane);
        filled.table.start(lane);
        for (std::uint64_t block = 0; block < filled.table.blocks(); ++block) {
            filled.table.load(lane, filled.filters[lane], block, block + 1, false);
            filled.table.apply(lane, filled.change(lane, 3));
        }
        filled.expect_alike();
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, QuotientTableOf, testing::Values(1, 3, 16, 50, 64, 100, 513));

TEST(QuotientTable, HasLanesToSpare) {
    const auto lanes = [](std::size_t wanted) { return QuotientTable(kShape, wanted).lanes(); };
    EXPECT_EQ(lanes(1), 1U);
    EXPECT_EQ(lanes(3), 4U);
    EXPECT_EQ(lanes(5), 6U);
    EXPECT_EQ(lanes(40), 45U);
    EXPECT_EQ(lanes(64), 64U);
    EXPECT_EQ(lanes(70), 78U);
    EXPECT_EQ(lanes(kMaxPeers), kMaxPeers);
    Filled filled(kShape, 40);
    filled.fill();
    const auto lane = filled.add();
    filled.table.load(lane, filled.filters[lane], 0, filled.table.blocks(), true);
    filled.expect_alike();
}

TEST(QuotientTable, TakesThePlaceOfItsFiltersInMemory) {
    const auto shape = quotient_shape(std::uint64_t{100'000} << 12, 100'000);
    const QuotientTable table(shape, 64);
    EXPECT_LE(static_cast<double>(table.memory_bytes()),
              1.01 * 64 * static_cast<double>(memory_bytes(shape)));
}

/// All lanes full of the very same keys, so that some quotients have far more than others.
TEST(QuotientTable, HoldsPeersThatAllStoreTheSame) {
    constexpr std::uint64_t kObjects = 6'000;
    const auto shape = quotient_shape(kObjects << 12, kObjects);
    QuotientFilter filter(shape);
    for (std::uint64_t i = 0; i < kObjects; ++i) {
        ASSERT_TRUE(filter.insert(fingerprint(test::key(i), shape.universe)));
    }
    const Filter same(std::move(filter));
    for (const std::size_t count : {16, 64, 256}) {
        QuotientTable table(shape, count);
        Lanes lanes(table.lanes());
        for (unsigned i = 0; i < count; ++i) lanes.take(i);
        std::vector<const Filter*> sources(table.lanes());
        std::fill_n(sources.begin(), count, &same);
        table.fill(sources, 0, table.blocks());
        for (std::uint64_t i = 0; i < kObjects; ++i) {
            PeerSet found;
            table.find(test::asked(test::key(i)), lanes, found);
            ASSERT_EQ(found.size(), count) << i;
        }
    }
}

/// A reader never misses what stays, whatever comes and goes beside it.
TEST(QuotientTable, IsReadByAnotherThreadWhileItChanges) {
    Filled filled(kShape, 5);
    filled.fill();
    constexpr std::uint64_t kStays = 60'000;  // of a lane that the writer leaves alone
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        test::Random random(3);
        while (!done) {
            const auto number = 50'000 + random.below(Filled::kOwn);
            if (!filled.find(number).contains(996)) ++missed;
            filled.find(kStays + random.below(1'000));
            ++looked;
        }
    });
    for (int round = 0; round < 100 || looked < 20'000; ++round) {
        const auto lane = static_cast<std::size_t>(round % 4);
        filled.table.apply(lane, filled.change(lane));
        if (round % 10 != 0) continue;
        filled.replace_some(lane);
        filled.table.start(lane);
        filled.table.load(lane, filled.filters[lane], 0, filled.table.blocks(), false);
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
    filled.expect_alike();
}

}  // namespace
}  // namespace summary
