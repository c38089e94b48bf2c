#include "proxy/disk/disk_writer.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>

#include <thread>

#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/proxy/disk/recovery_kit.hpp"

namespace proxy {
namespace disk_writer_test {

constexpr std::uint64_t kSegment = 256 * 1024;

/// Delays writes until released.
struct GatedCalls : test::FaultyCalls {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = true;
    int waiting = 0;

    ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at) override {
        {
            std::unique_lock lock(mutex);
            ++waiting;
            changed.notify_all();
            changed.wait(lock, [this] { return open; });
            --waiting;
        }
        return FaultyCalls::write(fd, parts, at);
    }
    void set_open(bool value) {
        const std::lock_guard lock(mutex);
        open = value;
        changed.notify_all();
    }
    void wait_for_a_write() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return waiting > 0; });
    }
};

class DiskWriterTest : public testing::Test {
protected:
    DiskWriterTest() {
        ReclaimHooks reclaiming;
        reclaiming.uses = [](const FooterEntry&, RecordLocation) { return std::nullopt; };
        reclaiming.dropped = [](const FooterEntry&, RecordLocation) {};
        log_.emplace(calls_, SegmentLog::Config{directory_.path(), 1, 16 * kSegment, kSegment, 1},
                     reclaiming);
    }
    ~DiskWriterTest() override { stop(); }
    /// A thread that writes until stop().
    void start(DiskWriter::Config config = {}) {
        writer_.emplace(config);
        thread_ = std::thread([this] {
            while (!stopping_ || !writer_->empty()) {
                errors_ += writer_->write(*log_) ? 1 : 0;
                writer_->wait(std::chrono::milliseconds(50));
            }
        });
    }
    void stop() {
        if (!thread_.joinable()) return;
        stopping_ = true;
        writer_->interrupt();
        thread_.join();
        EXPECT_FALSE(log_->seal());
    }
    bool push(const std::string& uri, std::size_t size) {
        struct Owned {
            std::string uri, body;
        };
        auto owned = std::make_shared<Owned>(Owned{uri, test::made_body(size, size)});
        DiskWriter::Job job;
        job.record = test::response(owned->uri, ++seq_, owned->body);
        job.body = {test::part(owned->body)};
        job.owner = owned;
        job.done = [this, uri](DiskResult<RecordLocation> place) { note(uri, place); };
        return writer_->push(std::move(job));
    }
    bool purge(const std::string& uri) {
        DiskWriter::Job job;
        job.record = test::tombstone(RecordType::gone, ++seq_, {test::hash_of(uri)});
        job.done = [this, uri](DiskResult<RecordLocation> place) { note("purge " + uri, place); };
        return writer_->push(std::move(job));
    }
    void note(const std::string& what, DiskResult<RecordLocation> place) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(done_.emplace(what, place).second) << what << ": twice";
        changed_.notify_all();
    }
    std::map<std::string, DiskResult<RecordLocation>> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_.size() >= count; });
        return done_;
    }

    test::TemporaryDirectory directory_;
    GatedCalls calls_;
    std::uint64_t seq_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, DiskResult<RecordLocation>> done_;
    std::optional<SegmentLog> log_;
    std::optional<DiskWriter> writer_;
    std::atomic<bool> stopping_{false};
    std::atomic<int> errors_{0};
    std::thread thread_;
};

TEST_F(DiskWriterTest, ReportsThePlaceOfAWrittenRecord) {
    start();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(push("http://a/" + std::to_string(i), i * 1'000));
    for (const auto& [uri, place] : wait_for(20)) {
        ASSERT_TRUE(place) << uri;
        const auto loaded = load_record(*log_->find(place->segment), place->sector, 1);
        ASSERT_TRUE(loaded) << uri;
        EXPECT_EQ(loaded->record.uri, uri);
        EXPECT_EQ(as_text(loaded->body), test::made_body(loaded->body.size(), loaded->body.size()));
    }
}

TEST_F(DiskWriterTest, GathersJobsWhileItWrites) {
    start();
    calls_.set_open(false);
    ASSERT_TRUE(push("http://first/", 100));
    calls_.wait_for_a_write();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(push("http://a/" + std::to_string(i), 1'000));
    calls_.set_open(true);
    wait_for(51);
    stop();
    EXPECT_EQ(writer_->stats().written, 51u);
    EXPECT_LE(writer_->stats().writes, 4u);
}

TEST_F(DiskWriterTest, RefusesRecordsBeyondItsQueueButNoTombstone) {
    start({.queue_bytes = 10'000});
    calls_.set_open(false);
    EXPECT_TRUE(push("http://a/", 5'000));
    calls_.wait_for_a_write();
    EXPECT_FALSE(push("http://b/", 5'000));
    EXPECT_FALSE(push("http://c/", 100'000));
    EXPECT_TRUE(push("http://d/", 1'000));
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(purge("http://a/" + std::to_string(i)));
    EXPECT_EQ(writer_->stats().refused_queue_full, 2u);
    EXPECT_LE(writer_->stats().queued_bytes, 10'000u + 30 * kDiskSector);
    calls_.set_open(true);
    const auto done = wait_for(32);
    EXPECT_TRUE(done.contains("http://d/"));
    EXPECT_FALSE(done.contains("http://b/"));
    EXPECT_EQ(writer_->stats().queued_bytes, 0u);
    EXPECT_TRUE(push("http://b/", 5'000));
    wait_for(33);
    EXPECT_TRUE(push("http://c/", 100'000)) << "alone";
    wait_for(34);
}

TEST_F(DiskWriterTest, KeepsTheOrderInWhichItWasAsked) {
    start();
    for (int i = 0; i < 100; ++i) {
        const auto uri = "http://a/" + std::to_string(i);
        ASSERT_TRUE(push(uri, 500));
        ASSERT_TRUE(purge(uri));
        if (i % 2 == 0) {
            ASSERT_TRUE(push(uri + "/again", 500));
        }
    }
    stop();
    const auto found = test::recover_all(calls_, directory_.path(), 1, [](const RecoveredKey& one) {
        EXPECT_TRUE(one.entry.uri.ends_with("again"));
    });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->recovered, 50u);
    EXPECT_EQ(found->purged, 100u);
    EXPECT_EQ(found->found_unsealed, 0u);
}

TEST_F(DiskWriterTest, PausesAfterAnErrorOfTheDisk) {
    start({.pause = std::chrono::hours(1)});
    ASSERT_TRUE(push("http://a/", 500));
    wait_for(1);
    calls_.on_write = EIO;
    ASSERT_TRUE(push("http://b/", 500));
    EXPECT_EQ(wait_for(2).at("http://b/").error(), boost::system::errc::io_error);
    EXPECT_TRUE(writer_->stats().paused);
    EXPECT_FALSE(push("http://c/", 500));
    calls_.on_write = 0;
    EXPECT_TRUE(purge("http://a/"));  // tried all the same
    EXPECT_TRUE(wait_for(3).at("purge http://a/"));
    EXPECT_EQ(writer_->stats().refused_paused, 1u);
    EXPECT_EQ(writer_->stats().refused_queue_full, 0u);
}

TEST_F(DiskWriterTest, GoesOnAfterThePause) {
    start({.pause = std::chrono::milliseconds(0)});
    calls_.on_reserve = ENOSPC;
    ASSERT_TRUE(push("http://a/", 500));
    EXPECT_EQ(wait_for(1).at("http://a/").error(), boost::system::errc::no_space_on_device);
    calls_.on_reserve = 0;
    ASSERT_TRUE(push("http://b/", 500));
    EXPECT_TRUE(wait_for(2).at("http://b/"));
}

TEST_F(DiskWriterTest, FailsARecordThatExceedsASegment) {
    start();
    ASSERT_TRUE(push("http://a/", kSegment / 2));
    EXPECT_EQ(wait_for(1).at("http://a/").error(), DiskError::too_large);
    EXPECT_EQ(writer_->stats().refused_too_large, 1u);
    EXPECT_EQ(writer_->stats().failed, 0u);
    EXPECT_FALSE(writer_->stats().paused);
    EXPECT_FALSE(push("http://b/", kMaxRecordBody + 1));
}

TEST_F(DiskWriterTest, TriesTombstonesAgainUntilTheyAreThere) {
    start({.pause = std::chrono::hours(1), .retry = std::chrono::milliseconds(1)});
    ASSERT_TRUE(push("http://a/", 500));
    wait_for(1);
    calls_.on_write = EIO;
    ASSERT_TRUE(purge("http://a/"));
    ASSERT_TRUE(purge("http://b/"));
    while (errors_ < 3) std::this_thread::yield();
    EXPECT_EQ(done_.size(), 1u);
    calls_.on_write = 0;
    EXPECT_TRUE(wait_for(3).at("purge http://a/"));
    stop();
    const auto found = test::recover_all(calls_, directory_.path(), 1, [](const RecoveredKey&) {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->purged, 1u);
    EXPECT_EQ(found->recovered, 0u);
}

// A job that waits for all earlier ones also waits for a tombstone that has to be tried again.
TEST_F(DiskWriterTest, ConfirmsAnEndOnlyAfterTombstonesThatFailed) {
    start({.pause = std::chrono::hours(1), .retry = std::chrono::milliseconds(1)});
    ASSERT_TRUE(push("http://a/", 500));
    wait_for(1);
    calls_.set_open(false);
    ASSERT_TRUE(purge("http://b/"));
    calls_.wait_for_a_write();  // what follows is one batch
    ASSERT_TRUE(purge("http://a/"));
    DiskWriter::Job end;
    end.record = test::tombstone(RecordType::gone, ++seq_);
    end.done = [this](DiskResult<RecordLocation> place) { note("end", place); };
    ASSERT_TRUE(writer_->push(std::move(end)));
    calls_.on_write = EIO;
    calls_.set_open(true);
    while (errors_ < 3) std::this_thread::yield();
    EXPECT_EQ(done_.size(), 1u);
    calls_.on_write = 0;
    EXPECT_TRUE(wait_for(4).at("end"));
}

// When nothing is left that it could end, a tombstone is done.
TEST_F(DiskWriterTest, GivesAllBackForATombstoneOnAFullDisk) {
    start({.pause = std::chrono::milliseconds(0), .retry = std::chrono::milliseconds(1)});
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(push("http://a/" + std::to_string(i), 10'000));
    wait_for(60);
    calls_.on_reserve = ENOSPC;
    constexpr int kPurged = 20'000;  // many of them make one record
    for (int i = 0; i < kPurged; ++i) ASSERT_TRUE(purge("http://a/" + std::to_string(i)));
    EXPECT_TRUE(wait_for(60 + kPurged).at("purge http://a/19999"));
    EXPECT_EQ(log_->stats().segments, 0u);
    calls_.on_reserve = 0;
}

TEST_F(DiskWriterTest, DoesNotGiveASegmentBackForEachRecordOnAFullDisk) {
    start({.pause = std::chrono::hours(1)});
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(push("http://a/" + std::to_string(i), 10'000));
    wait_for(60);
    const auto before = log_->stats().segments;
    ASSERT_GE(before, 3u);
    calls_.set_open(false);
    ASSERT_TRUE(push("http://a/first", 50'000));
    calls_.wait_for_a_write();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(push("http://b/" + std::to_string(i), 50'000));
    calls_.on_reserve = ENOSPC;
    calls_.set_open(true);
    const auto done = wait_for(161);
    EXPECT_EQ(done.at("http://b/99").error(), boost::system::errc::no_space_on_device);
    EXPECT_GE(log_->stats().segments + 1, before);
    calls_.on_reserve = 0;
}

TEST_F(DiskWriterTest, BeginsASegmentWithAnAllGoneAndRemovesTheOthers) {
    start();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(push("http://a/" + std::to_string(i), 10'000));
    DiskWriter::Job all;
    all.record = test::tombstone(RecordType::all_gone, ++seq_);
    all.done = [this](DiskResult<RecordLocation> place) { note("all", place); };
    ASSERT_TRUE(writer_->push(std::move(all)));
    ASSERT_TRUE(push("http://b/", 500));
    const auto done = wait_for(62);
    EXPECT_EQ(done.at("all")->sector, 1u);
    EXPECT_EQ(done.at("http://b/")->segment, done.at("all")->segment);
    stop();
    while (*log_->give_back() == SegmentLog::GaveBack::a_segment)
        ;
    EXPECT_EQ(log_->stats().segments, 1u);
    EXPECT_TRUE(log_->find(done.at("http://b/")->segment));
}

TEST_F(DiskWriterTest, AnswersAllJobsThatItFails) {
    writer_.emplace(DiskWriter::Config());
    ASSERT_TRUE(push("http://a/", 500));
    ASSERT_TRUE(purge("http://a/"));
    writer_->fail_all(DiskError::ending);
    EXPECT_EQ(done_.at("http://a/").error(), DiskError::ending);
    EXPECT_TRUE(done_.at("purge http://a/"));
    EXPECT_EQ(writer_->stats().queued_bytes, 0u);
}

}  // namespace disk_writer_test
}  // namespace proxy
