#include "protocol/publishing/recent_deltas.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace protocol::test {
namespace recent_deltas_test {

constexpr std::uint64_t kEpoch = 7;
constexpr std::size_t kNoLimit = ~std::size_t{0};

RecentDeltas::Payload payload(std::size_t bytes = 10) {
    return std::make_shared<const Bytes>(bytes);
}

/// A list of the deltas that lead from `first` to `last`.
RecentDeltas deltas(std::uint64_t first, std::uint64_t last) {
    RecentDeltas recent(1 << 20);
    for (auto generation = first + 1; generation <= last; ++generation)
        recent.add(kEpoch, generation, payload());
    return recent;
}

/// How many deltas lead from `generation` to 9; -1: a snapshot is needed.
int missing(const RecentDeltas& recent, std::uint64_t generation, std::size_t most = kNoLimit) {
    const auto found = recent.since(kEpoch, generation, 9, most);
    return found ? static_cast<int>(found->size()) : -1;
}

TEST(RecentDeltas, LeadFromEachGenerationThatTheyReachBackTo) {
    const auto recent = deltas(5, 9);
    EXPECT_EQ(missing(recent, 9), 0);
    EXPECT_EQ(missing(recent, 8), 1);
    EXPECT_EQ(missing(recent, 5), 4);
    EXPECT_EQ(missing(recent, 4), -1);
    EXPECT_EQ(missing(recent, 0), -1);
}

TEST(RecentDeltas, AreThoseThatWereAddedInOrder) {
    RecentDeltas recent(1 << 20);
    std::vector<RecentDeltas::Payload> added;
    for (std::uint64_t generation = 1; generation <= 9; ++generation) {
        added.push_back(payload(generation));
        recent.add(kEpoch, generation, added.back());
    }
    EXPECT_EQ(recent.since(kEpoch, 6, 9, kNoLimit),
              std::vector<RecentDeltas::Payload>(added.end() - 3, added.end()));
}

TEST(RecentDeltas, KnowNothingOfOtherEpochsAndOfGenerationsToCome) {
    const auto recent = deltas(5, 9);
    EXPECT_FALSE(recent.since(kEpoch + 1, 8, 9, kNoLimit));
    EXPECT_FALSE(recent.since(kEpoch - 1, 8, 9, kNoLimit));
    EXPECT_FALSE(recent.since(kEpoch, 10, 9, kNoLimit));
    EXPECT_FALSE(recent.since(kEpoch, ~std::uint64_t{0}, 9, kNoLimit));
}

TEST(RecentDeltas, TakeNoMoreMemoryThanTheirLimitAndForgetTheOldestFirst) {
    RecentDeltas recent(4096);
    for (std::uint64_t generation = 1; generation <= 1000; ++generation) {
        recent.add(kEpoch, generation, payload(100 + generation % 7));
        ASSERT_LE(recent.bytes(), 4096U);
    }
    EXPECT_GT(recent.bytes(), 3900U);
    EXPECT_EQ(recent.since(kEpoch, 980, 1000, kNoLimit)->size(), 20U);
    EXPECT_FALSE(recent.since(kEpoch, 960, 1000, kNoLimit));
}

TEST(RecentDeltas, CountWhatShortDeltasTakeBesideTheirBytes) {
    RecentDeltas recent(4096);
    for (std::uint64_t generation = 1; generation <= 1000; ++generation)
        recent.add(kEpoch, generation, payload(1));
    EXPECT_FALSE(recent.since(kEpoch, 850, 1000, kNoLimit));
}

TEST(RecentDeltas, ADeltaAboveTheLimitIsNotKept) {
    RecentDeltas recent(4096);
    recent.add(kEpoch, 8, payload());
    recent.add(kEpoch, 9, payload(5000));
    EXPECT_EQ(recent.bytes(), 0U);
    EXPECT_EQ(missing(recent, 8), -1);
    EXPECT_EQ(missing(recent, 9), 0);
}

TEST(RecentDeltas, BeginAnewWithASnapshotAnEpochAndAGap) {
    auto recent = deltas(5, 8);
    recent.add(kEpoch, 9, nullptr);  // announced by a snapshot
    EXPECT_EQ(recent.bytes(), 0U);
    EXPECT_EQ(missing(recent, 8), -1);
    EXPECT_EQ(missing(recent, 9), 0);
    recent.add(kEpoch, 10, payload());
    EXPECT_EQ(recent.since(kEpoch, 9, 10, kNoLimit)->size(), 1U);
    recent.add(kEpoch, 12, payload());  // 11 found no memory
    EXPECT_FALSE(recent.since(kEpoch, 10, 12, kNoLimit));
    EXPECT_EQ(recent.since(kEpoch, 11, 12, kNoLimit)->size(), 1U);
    recent.add(kEpoch + 1, 13, payload());
    EXPECT_FALSE(recent.since(kEpoch, 12, 13, kNoLimit));
    EXPECT_EQ(recent.since(kEpoch + 1, 12, 13, kNoLimit)->size(), 1U);
}

TEST(RecentDeltas, OfAGenerationThatWasLostSayThatTheyDoNotReachThePresent) {
    const auto recent = deltas(5, 9);
    EXPECT_FALSE(recent.since(kEpoch, 8, 10, kNoLimit));
}

TEST(RecentDeltas, GiveWayToASnapshotThatIsShorter) {
    const auto recent = deltas(5, 9);
    EXPECT_EQ(missing(recent, 7, 20), 2);
    EXPECT_EQ(missing(recent, 7, 19), -1);
}

}  // namespace recent_deltas_test
}  // namespace protocol::test
