#include "proxy/storage/announcement_ledger.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace announcement_ledger_test {

using test::hash;

/// A ledger, the index of a disk, and the events of the ledger in their order.
class AnnouncementLedgerTest : public ::testing::Test, public NodeEvents {
protected:
    void push(KeyChange change) override {
        EXPECT_EQ(change.key, key);
        events += change.stored ? '+' : '-';
    }
    void push(NodeEvent) override { ADD_FAILURE() << "a ledger has key changes only"; }

    static DiskEntry record(std::uint32_t sector, bool announced = false) {
        DiskEntry entry;
        entry.place = {1, sector};
        entry.sectors = 1;
        entry.announced = announced;
        return entry;
    }
    /// As a shard does it: the record leaves the index first.
    void drop_record(std::uint32_t sector, bool in_memory) {
        const auto record = disk.find(key, {1, sector});
        ASSERT_TRUE(record);
        disk.erase(key, {1, sector});
        ledger.disk_loses(key, record->announced, in_memory, disk);
    }

    const summary::KeyHash key = hash("u");
    std::string events;  // + announced, - withdrawn
    DiskIndex disk;
    AnnouncementLedger ledger{*this};
    bool mark = false;
};

TEST_F(AnnouncementLedgerTest, AnnouncesOnceAndWithdrawsWhenMemoryAloneHadTheKey) {
    AnnouncementLedger::memory_begins(key, mark, disk);
    ledger.announce(key, mark);
    ledger.announce(key, mark);
    EXPECT_EQ(events, "+");
    ledger.memory_ends(key, mark, disk);
    EXPECT_EQ(events, "+-");
}

TEST_F(AnnouncementLedgerTest, NeverMentionsAKeyWithoutAnAnnounceableResponse) {
    AnnouncementLedger::memory_begins(key, mark, disk);
    disk.insert(key, record(1));
    ledger.memory_ends(key, mark, disk);
    drop_record(1, false);
    ledger.disk_gains(key, record(2), false, disk);
    drop_record(2, false);
    EXPECT_EQ(events, "");
}

TEST_F(AnnouncementLedgerTest, KeepsTheAnnouncementWhileTheDiskHasTheKey) {
    ledger.announce(key, mark);
    disk.insert(key, record(1));
    disk.insert(key, record(2));
    ledger.memory_ends(key, mark, disk);
    EXPECT_EQ(events, "+");
    drop_record(1, false);
    EXPECT_EQ(events, "+");
    drop_record(2, false);
    EXPECT_EQ(events, "+-");
}

TEST_F(AnnouncementLedgerTest, KeepsTheAnnouncementWhileMemoryHasTheKey) {
    ledger.disk_gains(key, record(1), true, disk);
    AnnouncementLedger::memory_begins(key, mark, disk);
    EXPECT_TRUE(mark);
    ledger.announce(key, mark);
    drop_record(1, true);
    EXPECT_EQ(events, "+");
    ledger.memory_ends(key, mark, disk);
    EXPECT_EQ(events, "+-");
}

TEST_F(AnnouncementLedgerTest, AnnouncesARecoveredKeyOnceForAllItsRecords) {
    ledger.disk_gains(key, record(1), false, disk);
    EXPECT_EQ(events, "");
    ledger.disk_gains(key, record(2), true, disk);
    ledger.disk_gains(key, record(3), true, disk);
    EXPECT_EQ(events, "+");
    drop_record(2, false);
    drop_record(3, false);
    EXPECT_EQ(events, "+") << "the first record has the mark now";
    drop_record(1, false);
    EXPECT_EQ(events, "+-");
}

TEST_F(AnnouncementLedgerTest, WithdrawsAKeyOfALostDiskWhenAPeerAsksForIt) {
    ledger.deny(key, false, disk);
    EXPECT_EQ(events, "") << "nothing was lost";
    ledger.note_lost_bits();
    ledger.deny(key, true, disk);
    disk.insert(key, record(1));
    ledger.deny(key, false, disk);
    EXPECT_EQ(events, "") << "a tier has it";
    disk.erase_all(key);
    ledger.deny(key, false, disk);
    EXPECT_EQ(events, "-");
}

}  // namespace announcement_ledger_test
}  // namespace proxy
