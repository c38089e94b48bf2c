#include "measure/tiers/segmented_disk.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace segmented_disk_test {

/// Records of one byte, four in a segment; 0 to 255 are on the disk, which is full.
struct FullDisk {
    explicit FullDisk(bool write_again) : disk(256, bytes, write_again) {
        for (std::uint32_t object = 0; object < 256; ++object) disk.write(object);
    }
    std::vector<std::uint64_t> bytes = std::vector<std::uint64_t>(1000, 1);
    SegmentedDisk disk;
};

TEST(SegmentedDisk, TakesWhatFits) {
    const FullDisk full(true);
    EXPECT_EQ(full.disk.used_bytes(), 256u);
    EXPECT_EQ(full.disk.objects(), 256u);
    EXPECT_TRUE(full.disk.has(0));
    EXPECT_TRUE(full.disk.has(255));
    EXPECT_FALSE(full.disk.has(256));
}

TEST(SegmentedDisk, GivesTheOldestSegmentBack) {
    FullDisk full(true);
    full.disk.write(256);
    for (std::uint32_t object = 0; object < 4; ++object) EXPECT_FALSE(full.disk.has(object));
    EXPECT_TRUE(full.disk.has(4));
    EXPECT_EQ(full.disk.objects(), 253u);
    EXPECT_EQ(full.disk.written_again_bytes(), 0u);
}

TEST(SegmentedDisk, WritesAQuarterOfItAgainTheMostUsedFirst) {
    FullDisk full(true);
    full.disk.use(1);
    full.disk.use(2);
    full.disk.use(2);
    full.disk.write(256);
    EXPECT_FALSE(full.disk.has(1));
    EXPECT_TRUE(full.disk.has(2));
    EXPECT_EQ(full.disk.written_again_bytes(), 1u);
    EXPECT_EQ(full.disk.used_bytes(), 254u);
}

TEST(SegmentedDisk, WantsToSeeItUsedOnceMore) {
    FullDisk full(true);
    for (int i = 0; i < 5; ++i) full.disk.use(2);
    for (std::uint32_t object = 256; object < 500; ++object) full.disk.write(object);
    EXPECT_TRUE(full.disk.has(2));
    for (std::uint32_t object = 500; object < 600; ++object) full.disk.write(object);
    EXPECT_FALSE(full.disk.has(2));
    EXPECT_EQ(full.disk.written_again_bytes(), 1u);
}

TEST(SegmentedDisk, WritesNothingAgainIfSoWished) {
    FullDisk full(false);
    full.disk.use(2);
    full.disk.write(256);
    EXPECT_FALSE(full.disk.has(2));
    EXPECT_EQ(full.disk.written_again_bytes(), 0u);
}

TEST(SegmentedDisk, NeverTakesMoreThanItsCapacity) {
    std::vector<std::uint64_t> bytes;
    for (std::uint64_t i = 0; i < 2000; ++i) bytes.push_back(1 + i * 7919 % 400);
    SegmentedDisk disk(10'000, bytes, true);
    for (std::uint32_t object = 0; object < bytes.size(); ++object) {
        disk.write(object);
        disk.use(object);
        ASSERT_LE(disk.used_bytes(), 10'000u);
        ASSERT_TRUE(disk.has(object));
    }
    EXPECT_GT(disk.used_bytes(), 9'000u);
    EXPECT_GT(disk.written_again_bytes(), 0u);
}

}  // namespace segmented_disk_test
}  // namespace measure
