#include "proxy/disk/tombstones.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk_kit.hpp"

namespace proxy {
namespace {

FooterEntry of(const Record& record) {
    return footer_entry(record, 1, 1);
}

TEST(Tombstones, EndWhatWasWrittenBeforeThem) {
    Tombstones tombstones;
    EXPECT_FALSE(tombstones.cover(test::response("http://a/", 1, {})));
    tombstones.note(of(test::tombstone(RecordType::uri_gone, 5, "http://a/")));
    tombstones.note(of(test::tombstone(RecordType::uri_gone, 3, "http://a/")));
    EXPECT_TRUE(tombstones.cover(test::response("http://a/", 4, {})));
    EXPECT_FALSE(tombstones.cover(test::response("http://a/", 6, {})));
    EXPECT_FALSE(tombstones.cover(test::response("http://b/", 4, {})));
}

TEST(Tombstones, EndWhatCarriesATag) {
    Tombstones tombstones;
    tombstones.note(of(test::tombstone(RecordType::tag_gone, 5, {}, {{3, 4}})));
    EXPECT_TRUE(tombstones.cover(test::response("http://a/", 4, {})));  // has 1-2 and 3-4
    EXPECT_FALSE(tombstones.cover(test::response("http://a/", 6, {})));
    auto other = test::response("http://a/", 4, {});
    other.tags = {{1, 2}};
    EXPECT_FALSE(tombstones.cover(other));
}

TEST(Tombstones, EndAll) {
    Tombstones tombstones;
    tombstones.note(of(test::response("http://a/", 9, {})));
    EXPECT_EQ(tombstones.size(), 0u);
    tombstones.note(of(test::tombstone(RecordType::all_gone, 5)));
    EXPECT_TRUE(tombstones.cover(test::response("http://b/", 4, {})));
    EXPECT_FALSE(tombstones.cover(test::response("http://b/", 6, {})));
}

}  // namespace
}  // namespace proxy
