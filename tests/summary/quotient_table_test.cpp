#include "summary/quotient_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace quotient_table_test {

const QuotientShape kShape = quotient_shape(1'000 * 250, 1'000);
using Filled = test::FilledLanes<QuotientTable, QuotientShape>;

class QuotientTableOf : public testing::TestWithParam<std::size_t> {};

/// All that a lane is asked for, with no filter beside it.
TEST_P(QuotientTableOf, ALaneIsAsGoodAsItsFilter) {
    Filled filled(kShape, GetParam());
    EXPECT_FALSE(filled.table.holds(0)) << "nothing was loaded";
    filled.fill();
    for (int round = 0; round < 3; ++round) {
        for (std::size_t lane = 0; lane < filled.filters.size(); ++lane) {
            const auto payload = filled.payload(lane);
            const auto expected = apply_delta(payload, filled.filters[lane]);
            ASSERT_TRUE(filled.table.holds(lane));
            ASSERT_EQ(filled.table.apply_delta(lane, payload), expected);
            const auto& filter = std::get<QuotientFilter>(filled.filters[lane]);
            ASSERT_EQ(filled.table.size(lane), filter.size());
            ASSERT_EQ(filled.table.check_hash(lane), filter.check_hash());
            for (std::uint64_t rank = 0; rank < filter.size(); rank += 37) {
                ASSERT_EQ(filled.table.at(lane, rank), filter.at(rank));
            }
        }
    }
    filled.expect_alike();
}

TEST_P(QuotientTableOf, AnotherTableIsFilledFromItsLanes) {
    Filled filled(kShape, GetParam());
    filled.fill();
    const auto count = filled.filters.size();
    QuotientTable next(kShape, count + 1);
    std::vector<LaneSource> sources(next.lanes());
    for (std::size_t i = 0; i < count; ++i) sources[count - i] = {nullptr, &filled.table, i};
    for (std::uint64_t block = 0; block < next.blocks(); ++block) {
        next.fill(sources, block, block + 1);
        const auto lane = filled.random.below(count);
        next.apply(count - lane, *filled.table.apply_delta(lane, filled.payload(lane, 3)));
    }
    EXPECT_FALSE(next.holds(0));
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(next.holds(count - i));
        ASSERT_EQ(next.check_hash(count - i), filled.table.check_hash(i));
        ASSERT_EQ(next.size(count - i), filled.table.size(i));
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
    const auto shape = quotient_shape(std::uint64_t{1'000'000} << 12, 1'000'000);
    for (const std::size_t peers : {16, 64, 1024}) {
        EXPECT_LE(QuotientTable(shape, peers).memory_bytes(), peers * 1'950'000) << peers;
    }
}

TEST(QuotientTable, ALaneThatIsToHaveMoreThanItTakesIsHeldNoMore) {
    Filled filled(kShape, 2);
    filled.fill();
    FingerprintDelta many;
    for (std::uint64_t i = 0; i < most_fingerprints(kShape); ++i) {
        many.added.push_back(i * kShape.universe / most_fingerprints(kShape));
    }
    Bytes payload;
    encode_ranked_delta(many.added, {}, kShape.universe, filled.table.size(1), payload);
    EXPECT_EQ(filled.table.apply_delta(1, payload), std::nullopt);
    EXPECT_FALSE(filled.table.holds(1));
    EXPECT_TRUE(filled.table.holds(0));
    // A snapshot helps.
    filled.table.start(1);
    filled.table.load(1, filled.filters[1], 0, filled.table.blocks(), false);
    EXPECT_TRUE(filled.table.holds(1));
    EXPECT_EQ(filled.table.check_hash(1), check_hash(filled.filters[1]));
    filled.expect_alike();
}

TEST(QuotientTable, RefusesWhatIsNoDeltaForALaneAndKeepsIt) {
    Filled filled(kShape, 3);
    filled.fill();
    Bytes payload;
    encode_ranked_delta({}, std::vector<std::uint64_t>{400}, kShape.universe, 401, payload);
    EXPECT_EQ(filled.table.apply_delta(1, payload), std::nullopt) << "it has ranks 0 to 399";
    EXPECT_EQ(filled.table.apply_delta(1, {}), std::nullopt);
    EXPECT_TRUE(filled.table.holds(1));
    filled.expect_alike();
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
        std::vector<LaneSource> sources(table.lanes());
        std::fill_n(sources.begin(), count, LaneSource{&same});
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

}  // namespace quotient_table_test
}  // namespace summary
