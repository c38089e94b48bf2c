#include "proxy/storage/disk_shelf.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace disk_shelf_test {

using test::hash;

/// The index of one shard, without a disk.
class DiskShelfTest : public ::testing::Test {
protected:
    void add(std::uint32_t sector) {
        DiskEntry record;
        record.place = {1, sector};
        record.sectors = 1;
        shelf.index.insert(key, record);
    }
    MemoryShelf::Entry& in_memory(std::uint32_t sector) {
        auto& entry = *memory.entry_for(key, "u");
        entry.variants.emplace_back(std::make_shared<StoredResponse>()).disk.place = {1, sector};
        return entry;
    }
    std::shared_ptr<base::Wakeup> wakeup() {
        return std::make_shared<base::Wakeup>(io.get_executor());
    }

    const summary::KeyHash key = hash("u");
    boost::asio::io_context io;
    MemoryShelf memory;
    DiskShelf shelf;
};

TEST_F(DiskShelfTest, KnowsTheRecordsThatMemoryLacks) {
    EXPECT_FALSE(shelf.has_more(key, nullptr));
    add(1);
    EXPECT_TRUE(shelf.has_more(key, nullptr));
    auto& entry = in_memory(1);
    EXPECT_FALSE(shelf.has_more(key, &entry));
    add(2);
    EXPECT_TRUE(shelf.has_more(key, &entry));
    const auto lacking = shelf.lacking(key, &entry);
    ASSERT_EQ(lacking.size(), 1u);
    EXPECT_EQ(lacking.front().place.sector, 2u);
    EXPECT_EQ(shelf.lacking(key, nullptr).size(), 2u);
}

TEST_F(DiskShelfTest, EndsTheWritesOfAnEntryWithItsRecords) {
    add(1);
    add(2);
    auto& entry = in_memory(1);
    entry.variants.front().disk.writing = entry.variants.front().response.get();
    EXPECT_EQ(shelf.erase_records(key, &entry), 2u);
    EXPECT_FALSE(entry.variants.front().disk.is_stored());
    EXPECT_EQ(entry.variants.front().disk.writing, nullptr);
    EXPECT_FALSE(shelf.has_more(key, nullptr));
}

TEST_F(DiskShelfTest, NotifiesAllThatWaitForARecallAfterItsLastPart) {
    EXPECT_EQ(shelf.join_recall(key, wakeup()), DiskShelf::Join::idle);
    EXPECT_TRUE(shelf.begin_recall(key, 2, wakeup()));
    EXPECT_FALSE(shelf.begin_recall(key, 2, wakeup())) << "it joins";
    EXPECT_EQ(shelf.join_recall(key, wakeup()), DiskShelf::Join::joined);
    EXPECT_TRUE(shelf.end_part(key).empty());
    EXPECT_EQ(shelf.end_part(key).size(), 3u);
    EXPECT_TRUE(shelf.end_part(key).empty());
    EXPECT_EQ(shelf.join_recall(key, wakeup()), DiskShelf::Join::idle);
}

TEST_F(DiskShelfTest, RefusesMoreWaitersThanItHasRoomFor) {
    EXPECT_TRUE(shelf.begin_recall(key, 1, wakeup()));
    for (std::size_t i = 1; i < DiskShelf::kMaxWaiting; ++i)
        ASSERT_EQ(shelf.join_recall(key, wakeup()), DiskShelf::Join::joined);
    EXPECT_EQ(shelf.join_recall(key, wakeup()), DiskShelf::Join::refused);
}

}  // namespace disk_shelf_test
}  // namespace proxy
