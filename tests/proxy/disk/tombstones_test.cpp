#include "proxy/disk/tombstones.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace tombstones_test {

constexpr summary::KeyHash kKey{1, 1}, kOther{2, 2};
const std::vector<summary::KeyHash> kTags{{3, 4}, {5, 6}};

bool note(Tombstones& tombstones, std::vector<summary::KeyHash> hashes, std::uint64_t seq,
          RecordType type = RecordType::gone) {
    return tombstones.note(footer_entry(test::tombstone(type, seq, std::move(hashes)), 0, 0));
}

TEST(Tombstones, EndEarlierRecords) {
    Tombstones tombstones;
    EXPECT_FALSE(tombstones.cover(1, kKey, {}));
    note(tombstones, {kKey}, 5);
    note(tombstones, {kKey}, 3);
    EXPECT_TRUE(tombstones.cover(4, kKey, {}));
    EXPECT_FALSE(tombstones.cover(5, kKey, {}));
    EXPECT_FALSE(tombstones.cover(4, kOther, {}));
}

TEST(Tombstones, EndRecordsWithATag) {
    Tombstones tombstones;
    note(tombstones, {kTags[1]}, 5);
    EXPECT_TRUE(tombstones.cover(4, kKey, kTags));
    EXPECT_FALSE(tombstones.cover(6, kKey, kTags));
    EXPECT_FALSE(tombstones.cover(4, kKey, std::array{kTags[0]}));
}

TEST(Tombstones, EndAll) {
    Tombstones tombstones;
    note(tombstones, {kKey}, 3);
    note(tombstones, {}, 5, RecordType::all_gone);
    EXPECT_EQ(tombstones.size(), 0u);  // it covers no more than that
    EXPECT_TRUE(tombstones.cover(4, kOther, {}));
    EXPECT_FALSE(tombstones.cover(6, kOther, {}));
    note(tombstones, {kKey}, 4);
    EXPECT_EQ(tombstones.size(), 0u);
}

TEST(Tombstones, AreReadFromFootersAndGoWithTheirSegment) {
    Tombstones tombstones;
    const auto early = test::tombstone(RecordType::gone, 5, {kKey, kOther}),
               late = test::tombstone(RecordType::gone, 9, {kKey}),
               all = test::tombstone(RecordType::all_gone, 3),
               response = test::response("http://a/", 100, {});
    for (const auto* record : {&early, &late, &all, &response})
        tombstones.note(footer_entry(*record, 1, 1));
    EXPECT_EQ(tombstones.newest(), 9u);
    tombstones.forget(footer_entry(early, 1, 1));
    EXPECT_EQ(tombstones.size(), 1u);
    EXPECT_TRUE(tombstones.cover(8, kKey, {}));
    EXPECT_FALSE(tombstones.cover(4, kOther, {}));
    EXPECT_TRUE(tombstones.cover(2, kOther, {}));
}

// Those that waited together are written as one, with the seq of the last.
TEST(Tombstones, AreForgottenWithTheOneThatTheyWereJoinedTo) {
    Tombstones both, tombstones;
    const auto first = test::tombstone(RecordType::gone, 5, {kKey}),
               last = test::tombstone(RecordType::gone, 6, {kOther}),
               later = test::tombstone(RecordType::gone, 8, {kKey});
    for (const auto* record : {&first, &last})
        for (auto* each : {&both, &tombstones}) each->note(footer_entry(*record, 0, 0));
    const auto joined = test::tombstone(RecordType::gone, 6, {kKey, kOther});
    both.forget(footer_entry(joined, 1, 1));
    EXPECT_EQ(both.size(), 0u);
    tombstones.note(footer_entry(later, 0, 0));
    tombstones.forget(footer_entry(joined, 1, 1));
    EXPECT_EQ(tombstones.size(), 1u);
    EXPECT_TRUE(tombstones.cover(7, kKey, {}));
}

TEST(Tombstones, TurnTheOlderHalfIntoOneForAllWhenThereAreTooMany) {
    Tombstones tombstones(100);
    for (std::uint64_t i = 1; i <= 101; ++i)
        EXPECT_EQ(note(tombstones, {{i, i}}, 10 * i), i == 101);
    EXPECT_LE(tombstones.size(), 51u);
    EXPECT_TRUE(tombstones.cover(505, {77, 0}, {}));   // purged or not
    EXPECT_FALSE(tombstones.cover(520, {77, 0}, {}));  // newer than that half
    for (std::uint64_t i = 1; i <= 101; ++i)
        EXPECT_TRUE(tombstones.cover(10 * i - 1, {i, i}, {})) << i;
    for (std::uint64_t i = 102; i <= 2'000; ++i) {
        note(tombstones, {{i, i}}, 10 * i);
        ASSERT_LE(tombstones.size(), 100u);
    }
}

TEST(Tombstones, OfManyHashesAtOnceMayBeTooManyToo) {
    Tombstones tombstones(100);
    std::vector<summary::KeyHash> hashes;
    for (std::uint64_t i = 1; i <= 300; ++i) hashes.push_back({i, i});
    note(tombstones, hashes, 5);
    EXPECT_LE(tombstones.size(), 100u);
    for (const auto& hash : hashes) EXPECT_TRUE(tombstones.cover(4, hash, {}));
    EXPECT_FALSE(tombstones.cover(5, hashes[0], {}));
}

}  // namespace tombstones_test
}  // namespace proxy
