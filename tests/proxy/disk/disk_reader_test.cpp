#include "proxy/disk/disk_reader.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace disk_reader_test {

constexpr std::uint64_t kSegment = 1 << 20;

/// Counts readers, and delays them until released.
struct GatedReads : test::FaultyCalls {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = true;
    int waiting = 0;

    ssize_t read(int fd, std::span<std::byte> into, std::uint64_t at) override {
        {
            std::unique_lock lock(mutex);
            ++waiting;
            changed.notify_all();
            changed.wait(lock, [this] { return open; });
            --waiting;
        }
        return FaultyCalls::read(fd, into, at);
    }
    void set_open(bool value) {
        const std::lock_guard lock(mutex);
        open = value;
        changed.notify_all();
    }
    void wait_for_readers(int count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return waiting >= count; });
    }
};

class DiskReaderTest : public testing::Test {
protected:
    DiskReaderTest() { segment_ = *create_segment(calls_, directory_.path(), {{1, 1}, kSegment}); }
    std::uint32_t put(const std::string& uri, std::size_t size) {
        const auto body = test::made_body(size, size);
        const auto record = test::response(uri, 1, body);
        DiskBytes bytes;
        const iovec part = test::part(body);
        encode_record(record, {&part, 1}, segment_->header.home, bytes);
        bytes.insert(bytes.end(), test::bytes_of(body).begin(), test::bytes_of(body).end());
        EXPECT_FALSE(segment_->file.write(DiskView(bytes), end_));
        const auto sector = static_cast<std::uint32_t>(end_ / kDiskSector);
        end_ += (bytes.size() + kDiskSector - 1) / kDiskSector * kDiskSector;
        return sector;
    }
    static DiskResult<LoadedRecord> read(DiskReader& reader, SegmentPtr segment,
                                         std::uint32_t sector, const std::string& uri) {
        std::promise<DiskResult<LoadedRecord>> answer;
        EXPECT_TRUE(reader.read(std::move(segment), {{0, sector}, 4}, uri,
                                [&](auto got) { answer.set_value(std::move(got)); }));
        return answer.get_future().get();
    }

    test::TemporaryDirectory directory_;
    GatedReads calls_;
    SegmentPtr segment_;
    std::uint64_t end_ = kDiskSector;
};

TEST_F(DiskReaderTest, ReadsEverySizeByItsThreads) {
    DiskReader reader({});
    for (const std::size_t size : {0u, 100u, 5'000u, 300'000u}) {
        const auto sector = put("http://a/", size);
        const auto got = read(reader, segment_, sector, "http://a/");
        ASSERT_TRUE(got) << got.error();
        EXPECT_EQ(as_text(got->body), test::made_body(size, size));
    }
    EXPECT_EQ(reader.stats().read_by_threads, 4u);
}

TEST_F(DiskReaderTest, ReadsThePageCacheAtOnce) {
    DiskReader reader({});
    const auto small = put("http://a/", 1'000), large = put("http://b/", 200'000);
    const auto got = reader.read_now(segment_, {{0, small}, 3}, "http://a/");
    if (!got) GTEST_SKIP() << "a file system that cannot tell what it has";
    ASSERT_TRUE(*got);
    EXPECT_EQ(as_text((*got)->body), test::made_body(1'000, 1'000));
    EXPECT_FALSE(
        reader.read_now(segment_, {{0, large}, 400}, "http://b/"));         // too large for at once
    EXPECT_FALSE(reader.read_now(segment_, {{0, large}, 4}, "http://b/"));  // there is more of it
    EXPECT_EQ(reader.stats().read_at_once, 1u);
}

TEST_F(DiskReaderTest, LeavesRecordsOnTheDeviceToItsThreads) {
    DiskReader reader({});
    const auto sector = put("http://a/", 1'000);
    for (const int error : {EAGAIN, EOPNOTSUPP, EPERM}) {
        calls_.on_read_now = error;
        EXPECT_FALSE(reader.read_now(segment_, {{0, sector}, 3}, "http://a/"));
    }
    EXPECT_TRUE(read(reader, segment_, sector, "http://a/"));
}

TEST_F(DiskReaderTest, GivesNoSpoiltRecordAndNoneOfAnotherUri) {
    DiskReader reader({});
    const auto sector = put("http://a/", 1'000);
    EXPECT_EQ(read(reader, segment_, sector, "http://b/").error(), DiskError::other_key);
    if (const auto now = reader.read_now(segment_, {{0, sector}, 3}, "http://b/")) {
        EXPECT_EQ(now->error(), DiskError::other_key);
    }
    const auto at = std::uint64_t{sector} * kDiskSector + 700;
    EXPECT_FALSE(segment_->file.write(test::bytes_of("wrong"), at));
    EXPECT_EQ(read(reader, segment_, sector, "http://a/").error(), DiskError::bad_checksum);
    EXPECT_EQ(read(reader, segment_, sector + 1, "http://a/").error(), DiskError::no_record);
    EXPECT_EQ(read(reader, segment_, 1 << 18, "http://a/").error(), DiskError::bad_length);
    calls_.on_read = EIO;
    EXPECT_EQ(read(reader, segment_, sector, "http://a/").error(), boost::system::errc::io_error);
}

TEST_F(DiskReaderTest, RefusesReadsBeyondItsQueue) {
    DiskReader reader({.threads = 2, .queue = 3});
    const auto sector = put("http://a/", 1'000);
    std::atomic<int> answers{0};
    const auto ask = [&] {
        return reader.read(segment_, {{0, sector}, 3}, "http://a/", [&](const auto& got) {
            EXPECT_TRUE(got);
            ++answers;
        });
    };
    calls_.set_open(false);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(ask());
        calls_.wait_for_readers(i + 1);
    }
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask());
    EXPECT_FALSE(ask());
    EXPECT_EQ(reader.stats().read_refused, 1u);
    EXPECT_EQ(reader.stats().waiting, 3u);
    calls_.set_open(true);
    while (answers < 5) std::this_thread::yield();
}

TEST_F(DiskReaderTest, AnswersAllThatWaitWhenItEnds) {
    std::atomic<int> ended{0}, answered{0};
    const auto sector = put("http://a/", 1'000);
    std::thread opens;
    {
        DiskReader reader({.threads = 1});
        calls_.set_open(false);
        for (int i = 0; i < 5; ++i)
            ASSERT_TRUE(reader.read(segment_, {{0, sector}, 3}, "http://a/", [&](const auto& got) {
                ++(got ? answered : ended);
                if (!got) {
                    EXPECT_EQ(got.error(), DiskError::ending);
                }
            }));
        calls_.wait_for_readers(1);
        opens = std::thread([this] { calls_.set_open(true); });
    }
    opens.join();
    EXPECT_EQ(answered + ended, 5);
    EXPECT_GE(answered, 1);
}

}  // namespace disk_reader_test
}  // namespace proxy
