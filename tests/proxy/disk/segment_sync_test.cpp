#include "proxy/disk/segment_sync.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace segment_sync_test {

class SegmentSyncTest : public testing::Test {
protected:
    SegmentPtr segment() {
        return *create_segment(calls_, directory_.path(), {{1, ++number_}, 4 * kDiskSector});
    }

    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
    std::uint32_t number_ = 0;
    std::atomic<int> failures_{0};
};

TEST_F(SegmentSyncTest, WaitsForAllSegmentsAndReportsFailures) {
    SegmentSync sync([this](const auto& error) {
        EXPECT_EQ(error, boost::system::errc::io_error);
        ++failures_;
    });
    sync.wait();
    sync.take(segment());
    sync.wait();
    EXPECT_EQ(failures_, 0);
    calls_.on_sync = EIO;
    for (int i = 0; i < 10; ++i) sync.take(segment());  // more than may wait
    sync.wait();
    EXPECT_EQ(failures_, 10);
}

TEST_F(SegmentSyncTest, LeavesOutRemovedSegments) {
    calls_.on_sync = EIO;
    SegmentSync sync([this](const auto&) { ++failures_; });
    const auto gone = segment();
    std::filesystem::remove(gone->path);
    sync.take(gone);
    sync.wait();
    EXPECT_EQ(failures_, 0);
}

TEST_F(SegmentSyncTest, EndsWhenTheDeviceHasAll) {
    calls_.on_sync = EIO;
    {
        SegmentSync sync([this](const auto&) { ++failures_; });
        for (int i = 0; i < 3; ++i) sync.take(segment());
    }
    EXPECT_EQ(failures_, 3);
}

}  // namespace segment_sync_test
}  // namespace proxy
