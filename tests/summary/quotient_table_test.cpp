#include "summary/directory/quotient_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace quotient_table_test {

const QuotientShape kShape = quotient_shape(1'000 * 250, 1'000);
using Loaded = test::LoadedLanes<QuotientTable, QuotientShape>;

class QuotientTableOf : public testing::TestWithParam<std::size_t> {};

/// All that a lane is asked for, with no filter beside it.
TEST_P(QuotientTableOf, ALaneIsAsGoodAsItsFilter) {
    Loaded loaded(kShape, GetParam());
    EXPECT_FALSE(loaded.table.keeps_filter(0)) << "nothing was loaded";
    loaded.load_all();
    for (int round = 0; round < 3; ++round) {
        for (std::size_t lane = 0; lane < loaded.filters.size(); ++lane) {
            const auto payload = loaded.payload(lane);
            const auto expected = apply_delta(payload, loaded.filters[lane]);
            ASSERT_TRUE(loaded.table.keeps_filter(lane));
            ASSERT_EQ(loaded.table.apply_delta(lane, payload), expected);
            const auto& filter = std::get<QuotientFilter>(loaded.filters[lane]);
            ASSERT_EQ(loaded.table.size(lane), filter.size());
            ASSERT_EQ(loaded.table.check_hash(lane), filter.check_hash());
            for (std::uint64_t rank = 0; rank < filter.size(); rank += 37) {
                ASSERT_EQ(loaded.table.at(lane, rank), filter.at(rank));
            }
        }
    }
    loaded.expect_alike();
}

TEST_P(QuotientTableOf, AnotherTableIsLoadedFromItsLanes) {
    Loaded loaded(kShape, GetParam());
    loaded.load_all();
    const auto count = loaded.filters.size();
    QuotientTable next(kShape, count + 1);
    std::vector<LaneSource> sources(next.lanes());
    for (std::size_t i = 0; i < count; ++i) sources[count - i] = {nullptr, &loaded.table, i};
    for (std::uint64_t block = 0; block < next.blocks(); ++block) {
        next.load_all(sources, block, block + 1);
        const auto lane = loaded.random.below(count);
        next.apply(count - lane, *loaded.table.apply_delta(lane, loaded.payload(lane, 3)));
    }
    EXPECT_FALSE(next.keeps_filter(0));
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(next.keeps_filter(count - i));
        ASSERT_EQ(next.check_hash(count - i), loaded.table.check_hash(i));
        ASSERT_EQ(next.size(count - i), loaded.table.size(i));
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
    Loaded loaded(kShape, 40);
    loaded.load_all();
    const auto lane = loaded.add();
    loaded.table.load(lane, loaded.filters[lane], 0, loaded.table.blocks(), true);
    loaded.expect_alike();
}

TEST(QuotientTable, TakesThePlaceOfItsFiltersInMemory) {
    const auto shape = quotient_shape(std::uint64_t{1'000'000} << 12, 1'000'000);
    for (const std::size_t peers : {16, 64, 1024}) {
        EXPECT_LE(QuotientTable(shape, peers).memory_bytes(), peers * 1'950'000) << peers;
    }
}

TEST(QuotientTable, ALaneThatIsToHaveMoreThanItTakesIsHeldNoMore) {
    Loaded loaded(kShape, 2);
    loaded.load_all();
    FingerprintDelta many;
    for (std::uint64_t i = 0; i < most_fingerprints(kShape); ++i) {
        many.added.push_back(i * kShape.universe / most_fingerprints(kShape));
    }
    Bytes payload;
    encode_ranked_delta(many.added, {}, kShape.universe, loaded.table.size(1), payload);
    EXPECT_EQ(loaded.table.apply_delta(1, payload), std::nullopt);
    EXPECT_FALSE(loaded.table.keeps_filter(1));
    EXPECT_TRUE(loaded.table.keeps_filter(0));
    // A snapshot helps.
    loaded.table.start(1);
    loaded.table.load(1, loaded.filters[1], 0, loaded.table.blocks(), false);
    EXPECT_TRUE(loaded.table.keeps_filter(1));
    EXPECT_EQ(loaded.table.check_hash(1), check_hash(loaded.filters[1]));
    loaded.expect_alike();
}

TEST(QuotientTable, RefusesWhatIsNoDeltaForALaneAndKeepsIt) {
    Loaded loaded(kShape, 3);
    loaded.load_all();
    Bytes payload;
    encode_ranked_delta({}, std::vector<std::uint64_t>{400}, kShape.universe, 401, payload);
    EXPECT_EQ(loaded.table.apply_delta(1, payload), std::nullopt) << "it has ranks 0 to 399";
    EXPECT_EQ(loaded.table.apply_delta(1, {}), std::nullopt);
    EXPECT_TRUE(loaded.table.keeps_filter(1));
    loaded.expect_alike();
}

/// All lanes full of the very same keys, so that some quotients have far more than others.
TEST(QuotientTable, HasRoomForPeersThatAllStoreTheSame) {
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
        table.load_all(sources, 0, table.blocks());
        for (std::uint64_t i = 0; i < kObjects; ++i) {
            PeerSet found;
            table.find(test::asked(test::key(i)), lanes, found);
            ASSERT_EQ(found.size(), count) << i;
        }
    }
}

/// A reader never misses a key that stays, whatever comes and goes beside it.
TEST(QuotientTable, IsReadByAnotherThreadWhileItChanges) {
    Loaded loaded(kShape, 5);
    loaded.load_all();
    constexpr std::uint64_t kStays = 60'000;  // of a lane that the writer leaves alone
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        test::Random random(3);
        while (!done) {
            const auto number = 50'000 + random.below(Loaded::kOwn);
            if (!loaded.find(number).contains(996)) ++missed;
            loaded.find(kStays + random.below(1'000));
            ++looked;
        }
    });
    for (int round = 0; round < 100 || looked < 20'000; ++round) {
        const auto lane = static_cast<std::size_t>(round % 4);
        loaded.table.apply(lane, loaded.change(lane));
        if (round % 10 != 0) continue;
        loaded.replace_some(lane);
        loaded.table.start(lane);
        loaded.table.load(lane, loaded.filters[lane], 0, loaded.table.blocks(), false);
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
    loaded.expect_alike();
}

}  // namespace quotient_table_test
}  // namespace summary
