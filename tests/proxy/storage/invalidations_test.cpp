#include "proxy/storage/invalidations.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/proxy/hash.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace invalidations_test {

using namespace std::chrono_literals;
using test::hash;

const auto kNow = Invalidations::Clock::time_point(1000h);

/// The shards of a store in memory, and the events of their ledger. store_disk_test.cpp has a disk.
class InvalidationsTest : public ::testing::Test {
protected:
    void put(const std::string& uri, std::vector<summary::KeyHash> tags = {},
             std::optional<Blocks> blocks = {}) {
        auto response = std::make_shared<StoredResponse>();
        response->tags = std::move(tags);
        response->blocks = blocks;
        auto& in = shards.of(hash(uri));
        auto& entry = *in.memory.entry_for(hash(uri), uri);
        entry.variants.emplace_back(std::move(response));
        ledger.announce(entry.hash, entry.announced);
        in.memory.weigh(entry);
    }
    bool has(const std::string& uri) { return shards.of(hash(uri)).memory.find(hash(uri)); }
    std::shared_ptr<Fill> begin(const std::string& uri) {
        auto fill = std::make_shared<Fill>(std::make_shared<base::Wakeup>(io.get_executor()), 1000);
        shards.of(hash(uri)).pending.add(hash(uri), uri, fill, {}, nullptr);
        return fill;
    }
    bool is_pending(const std::string& uri) {
        return shards.of(hash(uri)).pending.has(hash(uri), uri);
    }

    boost::asio::io_context io;
    test::RecordedEvents events;
    AnnouncementLedger ledger{events};
    StoreShards shards;
    StoreDisk disk;
    Invalidations invalidations{shards, disk, ledger, test::hasher()};
};

TEST_F(InvalidationsTest, EndsAKeyInMemoryAndOnItsWay) {
    const std::string uri = "u";
    put(uri);
    begin(uri);
    EXPECT_TRUE(invalidations.invalidate(hash(uri), kNow));
    EXPECT_FALSE(has(uri));
    EXPECT_FALSE(is_pending(uri));
    EXPECT_EQ(events.all_announced(), 0u);
    EXPECT_EQ(invalidations.memory().last(hash(uri)), kNow);
    EXPECT_FALSE(invalidations.invalidate(hash(uri), kNow)) << "none was stored";
}

TEST_F(InvalidationsTest, EndsByTagInAllShards) {
    for (int i = 0; i < 100; ++i) put(std::to_string(i), {hash("t")});
    put("other", {hash("s")});
    const std::string coming = "coming";
    const auto fill = begin(coming);
    shards.of(hash(coming)).pending.tag(hash(coming), fill.get(), std::vector{hash("t")});
    EXPECT_EQ(invalidations.invalidate(test::of_tag(hash("t")), kNow), 100u);
    EXPECT_FALSE(is_pending(coming));
    EXPECT_TRUE(has("other"));
    EXPECT_EQ(events.all_announced(), 1u);
}

TEST_F(InvalidationsTest, EndsAllKeysBelowAPrefix) {
    const std::string coming = "http://h/a/coming", beside = "http://h/ab/coming";
    for (int i = 0; i < 100; ++i) put("http://h/a/" + std::to_string(i));
    put("http://h/a");
    put("http://g/a/1");
    begin(coming);
    begin(beside);
    const auto count = invalidations.memory().invalidations();
    const std::vector tags{prefix_tag("http://h/a/", hash), prefix_tag("http://other/", hash)};
    EXPECT_EQ(invalidations.invalidate({{}, tags}, kNow), 100u);
    EXPECT_FALSE(is_pending(coming));
    EXPECT_TRUE(is_pending(beside));
    EXPECT_TRUE(has("http://h/a"));
    EXPECT_TRUE(has("http://g/a/1"));
    const auto& memory = invalidations.memory();
    EXPECT_EQ(memory.last_prefix("http://h/a/b/c?d"), kNow);
    EXPECT_EQ(memory.last_prefix("http://h/b/"), std::nullopt);
    EXPECT_TRUE(memory.prefix_noted_since("http://h/a/", count));
    EXPECT_FALSE(memory.prefix_noted_since("http://h/a/", memory.invalidations()));
}

TEST_F(InvalidationsTest, EndsAlsoTheStoredResponsesOfAPendingOneWithTheTag) {
    const std::string uri = "u";
    put(uri);
    const auto fill = begin(uri);
    shards.of(hash(uri)).pending.tag(hash(uri), fill.get(), std::vector{hash("t")});
    EXPECT_EQ(invalidations.invalidate(test::of_tag(hash("t")), kNow), 1u);
    EXPECT_FALSE(has(uri));
    EXPECT_FALSE(is_pending(uri));
    EXPECT_EQ(events.all_announced(), 0u);
}

TEST_F(InvalidationsTest, EndsTheBlocksOfATarget) {
    put("u", {}, Blocks{10, 5});
    put("u e f 0-4", {hash("u")});
    EXPECT_TRUE(invalidations.invalidate(hash("u"), kNow));
    EXPECT_TRUE(has("u e f 0-4")) << "no blocks were noted";
    put("u", {}, Blocks{10, 5});
    invalidations.note_blocks();
    EXPECT_TRUE(invalidations.invalidate(hash("u"), kNow));
    EXPECT_FALSE(has("u e f 0-4"));
}

TEST_F(InvalidationsTest, EndsTheBlocksOfATaggedIndex) {
    invalidations.note_blocks();
    put("u", {hash("t")}, Blocks{10, 5});
    put("u e f 0-4", {hash("u")});  // fetched before the index got its tag
    EXPECT_EQ(invalidations.invalidate(test::of_tag(hash("t")), kNow), 1u);
    EXPECT_FALSE(has("u e f 0-4"));
}

TEST_F(InvalidationsTest, EndsEverything) {
    for (int i = 0; i < 100; ++i) put(std::to_string(i), {hash("t")});
    const std::string coming = "coming";
    begin(coming);
    invalidations.invalidate(test::of_everything(), kNow);
    for (const auto& in : shards) EXPECT_EQ(in.memory.objects(), 0u);
    EXPECT_FALSE(is_pending(coming));
    EXPECT_EQ(events.all_announced(), 0u);
    EXPECT_EQ(invalidations.invalidate(test::of_tag(hash("t")), kNow), 0u);
    EXPECT_EQ(invalidations.memory().last(hash("never seen")), kNow);
}

}  // namespace invalidations_test
}  // namespace proxy
