#include "proxy/disk/disk_tier.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <thread>

#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk/disk_tier_fixture.hpp"

namespace proxy {
namespace disk_tier_test {

using test::DiskTierTest;
using test::kSegment;

TEST_F(DiskTierTest, ReadsItsRecordsAlsoAfterARestart) {
    open_and_load();
    EXPECT_TRUE(tier_->has_room(test::hash_of(uri(1))));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(write(uri(i), i * 1'000)) << i;
    EXPECT_EQ(readable(50), 50);
    EXPECT_EQ(read(uri(1), *owner_->at(uri(2))).error(), DiskError::other_key);
    EXPECT_EQ(status().state, DiskStatus::State::ready);
    EXPECT_EQ(status().written, 50u);
    for (int again = 0; again < 3; ++again) {
        open_and_load();
        EXPECT_EQ(owner_->recovered_count(), 50);
        EXPECT_EQ(status().recovered, 50u);
        EXPECT_EQ(readable(50), 50);
        ASSERT_TRUE(write(uri(again), 777));
    }
}

TEST_F(DiskTierTest, SaysWhyADirectoryIsUnusable) {
    open_and_load();
    const auto why = [this](DiskTier::Config config) -> std::string {
        test::IndexOwner owner;
        try {
            DiskTier tier(calls_, std::move(config), owner);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "nothing";
    };
    EXPECT_EQ(why(config_), path(0).string() + ": another process works with this directory");
    auto none = config_;
    none.directories[0].path /= "none";
    EXPECT_EQ(why(none), path(0).string() + "/none: No such file or directory");
    close();
    EXPECT_EQ(why(config_), "nothing");
}

TEST_F(DiskTierTest, RefusesPurgedRecordsAtOnceAndAfterARestart) {
    open_and_load();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(uri(i)));
    ASSERT_TRUE(write("http://tagged/", 500, {{7, 7}, {8, 8}}));
    const auto kept = *owner_->at(uri(3)), tagged = *owner_->at("http://tagged/");
    tier_->end(std::array{test::hash_of(uri(3))}, {});
    EXPECT_EQ(read(uri(3), kept).error(), DiskError::purged);  // written or not
    end({{8, 8}, {9, 9}});
    EXPECT_EQ(read("http://tagged/", tagged).error(), DiskError::purged);
    ASSERT_TRUE(write(uri(3)));  // fetched again
    EXPECT_TRUE(can_read(uri(3)));
    EXPECT_EQ(readable(20), 20);
    end(uri(4));
    for (int again = 0; again < 2; ++again) {
        open_and_load();
        EXPECT_EQ(readable(20), 19);
        EXPECT_TRUE(can_read(uri(3)));
        EXPECT_FALSE(owner_->at("http://tagged/"));
        EXPECT_FALSE(owner_->at(uri(4)));
    }
}

TEST_F(DiskTierTest, TakesAnyNumberOfHashesAtOnce) {
    open_and_load();
    std::vector<summary::KeyHash> hashes;
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(write(uri(i)));
    for (int i = 0; i < 5'000; ++i) hashes.push_back(test::hash_of(uri(2 * i)));
    end(hashes);
    end(std::vector<summary::KeyHash>());  // of none: called all the same
    EXPECT_EQ(readable(50), 25);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 25);
}

TEST_F(DiskTierTest, EndsAllAndGivesTheRoomBack) {
    open_and_load();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    const auto old = *owner_->at(uri(7));
    ASSERT_GE(status().segments, 4u);
    tier_->end_all({});
    EXPECT_FALSE(test::read(*tier_, uri(7), old));
    end_all();
    ASSERT_TRUE(write("http://new/"));
    owner_->erase("http://new/");
    owner_->wait_until_empty();
    while (status().segments > 1) std::this_thread::yield();
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 1);
    EXPECT_TRUE(can_read("http://new/"));
}

// Requests during the start wait, in order, and count.
TEST_F(DiskTierTest, TakesOrdersBeforeItHasLoaded) {
    open_and_load();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(uri(i)));
    open();
    EXPECT_TRUE(tier_->loading());
    EXPECT_FALSE(tier_->has_room(test::hash_of(uri(1))));
    std::atomic<int> written{0};
    const auto later = [&](const std::string& uri) {
        auto write = test::write_of(uri, test::made_body(900, 900), {}, [&, uri](auto place) {
            if (place) owner_->put(uri, {*place, 1, 0});
            ++written;
        });
        EXPECT_TRUE(tier_->write(test::hash_of(uri), std::move(write)));
    };
    later("http://before/");
    tier_->end(std::array{test::hash_of(uri(1)), test::hash_of("http://before/")},
               [&] { ++written; });
    later(uri(1));
    tier_->end(std::array{test::hash_of(uri(2))}, [&] { ++written; });
    EXPECT_EQ(written, 0);
    tier_->start();
    while (written < 4) std::this_thread::yield();
    EXPECT_FALSE(owner_->at("http://before/"));
    EXPECT_FALSE(owner_->at(uri(2)));
    EXPECT_EQ(read(uri(1), *owner_->at(uri(1)))->body.size(), 900u);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 19);
    EXPECT_EQ(read(uri(1), *owner_->at(uri(1)))->body.size(), 900u);
}

TEST_F(DiskTierTest, AnswersAllWhenItEndsBeforeItBegan) {
    open();
    std::atomic<int> written{0};
    ASSERT_TRUE(tier_->write(test::hash_of(uri(1)),
                             test::write_of(uri(1), "body", {}, [&](const auto& place) {
                                 EXPECT_EQ(place.error(), DiskError::ending);
                                 ++written;
                             })));
    close();
    EXPECT_EQ(written, 1);
}

TEST_F(DiskTierTest, WritesItsQueueBeforeItEnds) {
    open_and_load();
    std::atomic<int> written{0};
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(tier_->write(
            test::hash_of(uri(i)), test::write_of(uri(i), "body", {}, [&, i](const auto& place) {
                EXPECT_EQ(place.error(), i < 99 ? boost::system::error_code() : DiskError::purged);
                ++written;
            })));
    tier_->end(std::array{test::hash_of(uri(99))}, [&] { ++written; });
    close();
    EXPECT_EQ(written, 101);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 99);
}

TEST_F(DiskTierTest, ReadmitsNoPurgedRecord) {
    config_.directories[0].cap_bytes = 16 * kSegment;
    open_and_load();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    for (int i = 0; i < 20; ++i) owner_->use(uri(i), 3);
    end(uri(3));  // without a report to the index
    for (int i = 100; status().reclaimed < 3; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    EXPECT_GE(owner_->moved_count(), 5);
    EXPECT_FALSE(owner_->at(uri(3)));
    EXPECT_TRUE(can_read(uri(4)) || can_read(uri(5)) || can_read(uri(6)));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(can_read(uri(i)), owner_->at(uri(i)).has_value());
}

TEST_F(DiskTierTest, RemovesSegmentsForALowerCapWhileItRuns) {
    open_and_load();
    for (int i = 0; i < 1'500; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    ASSERT_GE(status().segments, 30u);
    const auto before = owner_->all().size();
    tier_->set_cap(0, 20 * kSegment);
    while (status().bytes > 20 * kSegment) std::this_thread::yield();
    EXPECT_EQ(status().cap_bytes, 20 * kSegment);
    const auto kept = owner_->all();
    EXPECT_LT(kept.size(), before);
    for (const auto& [uri, at] : kept) EXPECT_TRUE(can_read(uri));
    EXPECT_FALSE(tier_->has_room(test::hash_of(uri(1))));
    // A start with a lower one does the same.
    config_.directories[0].cap_bytes = 16 * kSegment;
    open_and_load();
    while (status().bytes > 16 * kSegment) std::this_thread::yield();
    for (const auto& [uri, at] : owner_->all()) EXPECT_TRUE(can_read(uri));
}

// Wrong bytes, errors of the device

TEST_F(DiskTierTest, GivesAnErrorForSpoiltBytesAndCountsThem) {
    open_and_load();
    ASSERT_TRUE(write(uri(1), 5'000));
    const auto at = *owner_->at(uri(1));
    test::overwrite(path(0) / segment_name(number_of(at.place)),
                    at.place.sector * kDiskSector + 1'000, "wrong");
    EXPECT_EQ(read(uri(1), at).error(), DiskError::bad_checksum);
    EXPECT_GE(status().read_failed, 1u);
    EXPECT_EQ(status().last_error, "reading: checksum does not agree");
    EXPECT_EQ(status().state, DiskStatus::State::ready);
    const test::IndexOwner::Entry nowhere{in_directory(0, {4'000, 1})},
        elsewhere{in_directory(3, {1, 1})};
    EXPECT_EQ(read(uri(1), nowhere).error(), DiskError::no_record);
    EXPECT_EQ(tier_->read_now({elsewhere.place, 1}, uri(1))->error(), DiskError::no_record);
    EXPECT_FALSE(tier_->read({elsewhere.place, 1}, uri(1), {}));
}

TEST_F(DiskTierTest, OutlivesAFullDisk) {
    config_.writer.pause = std::chrono::milliseconds(0);
    open_and_load();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    calls_.on_reserve = ENOSPC;
    DiskResult<RecordLocation> last = RecordLocation{};
    for (int i = 0; last && i < 200; ++i) last = write(uri(i), 6'000);
    EXPECT_EQ(last.error(), boost::system::errc::no_space_on_device);
    while (status().last_error.empty()) std::this_thread::yield();
    EXPECT_EQ(status().last_error, "writing: No space left on device");
    for (const auto& [uri, at] : owner_->all()) EXPECT_TRUE(can_read(uri));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(write(uri(i), 6'000));  // no matter how often
    EXPECT_EQ(status().state, DiskStatus::State::ready);
    calls_.on_reserve = 0;
    EXPECT_TRUE(write(uri(1), 7'000));
    EXPECT_TRUE(owner_->lost().empty());
}

TEST_F(DiskTierTest, IsNotBlamedForALackOfDescriptorsOrMemory) {
    config_.writer.pause = std::chrono::milliseconds(0);
    open_and_load();
    for (const auto short_of : {EMFILE, ENFILE, ENOMEM}) {
        calls_.on_open = calls_.on_write = short_of;
        for (int i = 0; i < 20; ++i) EXPECT_FALSE(write(uri(i)));  // no matter how often
        EXPECT_EQ(status().state, DiskStatus::State::ready);
        calls_.on_open = calls_.on_write = 0;
        EXPECT_TRUE(write(uri(short_of)));
    }
    EXPECT_TRUE(owner_->lost().empty());
}

TEST_F(DiskTierTest, PausesAfterAnErrorAndGoesOn) {
    config_.writer.pause = std::chrono::hours(1);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    calls_.on_write = EIO;
    EXPECT_EQ(write(uri(2)).error(), boost::system::errc::io_error);
    calls_.on_write = 0;
    EXPECT_EQ(status().state, DiskStatus::State::paused);
    EXPECT_EQ(write(uri(3)).error(), boost::system::errc::resource_unavailable_try_again);
    EXPECT_TRUE(can_read(uri(1)));
    end(uri(1));  // is written all the same
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

TEST_F(DiskTierTest, GivesUpADiskWithTooManyErrorsAndTriesItAgain) {
    config_.retry = std::chrono::milliseconds(30);
    config_.writer.pause = std::chrono::milliseconds(0);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    const auto at = *owner_->at(uri(1));
    calls_.on_read = calls_.on_read_now = EIO;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(test::read(*tier_, uri(1), at).error(), boost::system::errc::io_error);
    }
    owner_->wait_until_lost(1);
    calls_.on_read = calls_.on_read_now = 0;
    EXPECT_FALSE(owner_->at(uri(1)));
    EXPECT_EQ(test::read(*tier_, uri(1), at).error(), DiskError::no_record);
    end(uri(1));  // answered, though there is nothing left to be written
    while (!tier_->has_room(test::hash_of(uri(1)))) std::this_thread::yield();
    EXPECT_EQ(status().state, DiskStatus::State::ready);
    EXPECT_EQ(files_in(0), 1u);  // the super file
    ASSERT_TRUE(write(uri(2)));
    EXPECT_TRUE(can_read(uri(2)));
    EXPECT_EQ(test::read(*tier_, uri(1), at).error(), DiskError::no_record);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 1);
    EXPECT_TRUE(can_read(uri(2)));
}

TEST_F(DiskTierTest, BringsNoRecordBackFromADiskThatWentOff) {
    config_.retry = std::chrono::hours(1);
    config_.writer.pause = std::chrono::milliseconds(0);
    open_and_load();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(write(uri(i)));
    calls_.on_read = calls_.on_read_now = EIO;
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(test::read(*tier_, uri(1), *owner_->at(uri(2))));
    owner_->wait_until_lost(1);
    calls_.on_read = calls_.on_read_now = 0;
    EXPECT_EQ(status().state, DiskStatus::State::off);
    EXPECT_EQ(status().refused_off, 0u);
    EXPECT_FALSE(write(uri(1)));
    EXPECT_EQ(status().refused_off, 1u);
    EXPECT_FALSE(tier_->has_room(test::hash_of(uri(1))));
    end(uri(3));
    end_all();
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
    EXPECT_TRUE(write(uri(1)));
}

TEST_F(DiskTierTest, GivesUpADirectoryThatIsGone) {
    config_.writer.pause = std::chrono::milliseconds(0);
    config_.retry = std::chrono::milliseconds(20);
    for (int run = 1; run <= 3; ++run) open_and_load();
    ASSERT_TRUE(write(uri(1)));
    std::filesystem::remove_all(path(0));
    DiskResult<RecordLocation> last = RecordLocation{};
    for (int i = 0; last && i < 1'000; ++i) last = write(uri(i), 50'000);
    EXPECT_FALSE(last);
    owner_->wait_until_lost(1);
    EXPECT_EQ(status().state, DiskStatus::State::off);
    while (!status().last_error.starts_with("trying again")) std::this_thread::yield();
    std::filesystem::create_directory(path(0));
    while (!tier_->has_room(test::hash_of(uri(1)))) std::this_thread::yield();
    ASSERT_TRUE(write(uri(1)));
    EXPECT_TRUE(can_read(uri(1)));
    // Its purges are newer than its writes, in the next instance as well.
    open_and_load();
    EXPECT_TRUE(can_read(uri(1)));
    end(uri(1));
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

// A removal under a node that runs is seen at once, and nothing more is put there until it is the
// node's again.
TEST_F(DiskTierTest, GivesUpADirectoryThatWasEmptied) {
    config_.retry = std::chrono::milliseconds(20);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    for (const auto& file : std::filesystem::directory_iterator(path(0)))
        std::filesystem::remove(file);
    owner_->wait_until_lost(1);
    while (!tier_->has_room(test::hash_of(uri(1)))) std::this_thread::yield();
    EXPECT_EQ(files_in(0), 1u);  // the super file
    ASSERT_TRUE(write(uri(2)));
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 1);
    // So are segments that are left without it.
    close();
    std::filesystem::remove(path(0) / SuperFile::kName);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
    EXPECT_TRUE(write(uri(3)));
}

// For a node without a cluster, the directory also has the secret of all its hashes.
TEST_F(DiskTierTest, PreparesADirectoryBeforeItIsTakenAgain) {
    config_.retry = std::chrono::milliseconds(20);
    std::atomic<int> tries{0};
    std::atomic<bool> was_taken{false};
    const auto kept = path(0) / SuperFile::kSecretName;
    config_.prepare = [&](const std::filesystem::path& directory) -> std::string {
        EXPECT_EQ(directory, path(0));
        if (std::filesystem::exists(path(0) / SuperFile::kName)) was_taken = true;
        if (++tries == 1) return "not yet";
        std::ofstream(kept) << "secret";
        return {};
    };
    open_and_load();
    EXPECT_EQ(tries, 0);
    for (const auto& file : std::filesystem::directory_iterator(path(0)))
        std::filesystem::remove(file);
    owner_->wait_until_lost(1);
    while (!tier_->has_room(test::hash_of(uri(1)))) std::this_thread::yield();
    EXPECT_EQ(tries, 2) << "it is not taken while it cannot be prepared";
    EXPECT_FALSE(was_taken);
    EXPECT_TRUE(std::filesystem::exists(kept));
    ASSERT_TRUE(write(uri(2)));
}

TEST_F(DiskTierTest, PreparesNoDirectoryThatIsAnothersByNow) {
    config_.retry = std::chrono::milliseconds(20);
    std::atomic<int> tries{0};
    config_.prepare = [&](const std::filesystem::path&) -> std::string {
        ++tries;
        return {};
    };
    open_and_load();
    std::ofstream(path(0) / "letters.txt") << "dear";
    std::filesystem::remove(path(0) / SuperFile::kName);
    owner_->wait_until_lost(1);
    while (!status().last_error.starts_with("trying again")) std::this_thread::yield();
    EXPECT_EQ(tries, 0);
}

// The later one covers the former, which is confirmed as well.
TEST_F(DiskTierTest, ConfirmsEachPurgeOfOneKey) {
    config_.writer.retry = std::chrono::hours(1);
    open_and_load();
    calls_.on_write = EIO;
    tier_->end(std::array{test::hash_of(uri(1))}, {});
    while (status().last_error.empty()) std::this_thread::yield();
    std::atomic<int> written{0};
    tier_->end(std::array{test::hash_of(uri(2))}, [&] { ++written; });
    tier_->end_all([&] { ++written; });
    tier_->end(std::array{test::hash_of(uri(2))}, [&] { ++written; });
    calls_.on_write = 0;
    close();
    EXPECT_EQ(written, 3);
}

/// Holds the calls of the tier to the device, as a hung one does.
class HungDisk : public DiskTierTest {
protected:
    HungDisk() { config_.stalled_after = std::chrono::milliseconds(20); }
    ~HungDisk() override {
        answer();
        close();
    }

    void hang() {
        const std::lock_guard lock(mutex_);
        hangs_ = true;
    }
    void answer() {
        {
            const std::lock_guard lock(mutex_);
            hangs_ = false;
        }
        changed_.notify_all();
    }
    std::function<void()> call() {
        return [this] {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !hangs_; });
        };
    }
    void wait_for(DiskStatus::State state) const {
        while (status().state != state) std::this_thread::yield();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool hangs_ = false;
};

TEST_F(HungDisk, ShowsWhileAWriteWaits) {
    calls_.on_each_write = call();
    open_and_load();
    wait_for(DiskStatus::State::ready);
    hang();
    std::promise<void> written;
    tier_->write(test::hash_of(uri(1)),
                 test::write_of(uri(1), "x", {}, [&](auto) { written.set_value(); }));
    wait_for(DiskStatus::State::stalled);
    answer();
    written.get_future().get();
    wait_for(DiskStatus::State::ready);
}

TEST_F(HungDisk, ShowsWhileAReadWaits) {
    calls_.on_each_read = call();
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    const auto at = *owner_->at(uri(1));
    hang();
    std::promise<void> got;
    ASSERT_TRUE(tier_->read({at.place, at.sectors}, uri(1), [&](auto) { got.set_value(); }));
    wait_for(DiskStatus::State::stalled);
    answer();
    got.get_future().get();
    wait_for(DiskStatus::State::ready);
}

/// Calls `then` after each line of the log, and keeps the text.
struct HeardLog : spdlog::sinks::base_sink<std::mutex> {
    explicit HeardLog(std::function<void()> heard) : then(std::move(heard)) {}
    void sink_it_(const spdlog::details::log_msg& line) override {
        text.append(line.payload.data(), line.payload.size());
        then();
    }
    void flush_() override {}

    std::function<void()> then;
    std::string text;
};

TEST_F(HungDisk, IsNamedWhileTheEndWaitsForIt) {
    const auto heard = std::make_shared<HeardLog>([this] { answer(); });
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", heard));
    calls_.on_each_write = call();
    open_and_load();
    hang();
    tier_->write(test::hash_of(uri(1)), test::write_of(uri(1), "x", {}, [](auto) {}));
    close();
    spdlog::set_default_logger(before);
    const auto named = "the end waits for the disk " + path(0).string();
    EXPECT_NE(heard->text.find(named), std::string::npos) << heard->text;
}

/// What the end of the tier logs.
std::string said_by(const std::function<void()>& end) {
    const auto heard = std::make_shared<HeardLog>([] {});
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", heard));
    end();
    spdlog::set_default_logger(before);
    return heard->text;
}

TEST_F(DiskTierTest, SaysWhatItsEndLoses) {
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    EXPECT_EQ(said_by([this] { close(); }), "");
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    std::filesystem::remove_all(path(0));
    const auto said = said_by([this] { close(); });
    EXPECT_TRUE(said.starts_with("disk " + path(0).string() + ": ")) << said;
    EXPECT_NE(said.find(": content is lost at the end"), std::string::npos) << said;
}

TEST(DiskCalls, WorkWhereTheKernelLacksThem) {
    // A filter of system calls is of one thread, and ends with it.
    std::thread([] {
        for (const auto& [call, error] :
             {std::pair<long, int>{SYS_fallocate, ENOSYS}, {SYS_fdatasync, EINVAL}}) {
            sock_filter lines[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
            const sock_fprog program{static_cast<unsigned short>(std::size(lines)), lines};
            if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                GTEST_SKIP() << "no filters of system calls here";
        }
        const test::TemporaryDirectory folder;
        DiskCalls calls;
        const auto fd = calls.open((folder.path() / "x").c_str(), O_RDWR | O_CREAT, 0600);
        EXPECT_EQ(::fallocate(fd, 0, 0, 4096), -1);
        EXPECT_EQ(errno, ENOSYS);
        EXPECT_EQ(calls.reserve(fd, 4096), 0) << std::strerror(errno);
        EXPECT_EQ(std::filesystem::file_size(folder.path() / "x"), 4096u);
        EXPECT_EQ(calls.sync(fd), 0) << std::strerror(errno);
        calls.close(fd);
    }).join();
}

// A disk that hangs is not to be waited for by ever more purges: then all is purged.
TEST_F(DiskTierTest, EndsEverythingWhenTooManyPurgesWait) {
    config_.writer.retry = std::chrono::hours(1);
    config_.directories[0].segment_bytes = 1 << 20;
    config_.directories[0].cap_bytes = 64 << 20;
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    calls_.on_write = EIO;
    tier_->end(std::array{test::hash_of(uri(2))}, {});
    while (status().last_error.empty()) std::this_thread::yield();
    std::atomic<std::size_t> written{0};
    for (std::size_t i = 1; i < kMaxTombstones; ++i)
        tier_->end(std::array{test::hash_of(std::to_string(i))}, [&] { ++written; });
    EXPECT_FALSE(status().last_error.starts_with("too many purges wait"));
    for (int i = 0; i < 3; ++i) tier_->end(std::array{test::hash_of(uri(3))}, [&] { ++written; });
    tier_->end({}, [&] { ++written; });
    EXPECT_TRUE(status().last_error.starts_with("too many purges wait"));
    const auto waiting = status().queued_bytes;
    for (int i = 0; i < 1000; ++i) tier_->end(std::array{test::hash_of(uri(i))}, {});
    EXPECT_EQ(status().queued_bytes, waiting);
    calls_.on_write = 0;
    close();
    EXPECT_EQ(written, kMaxTombstones - 1) << "the rest cannot be confirmed";
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

TEST_F(DiskTierTest, MarksADirectoryInWhichAPurgeCouldNotBeWritten) {
    config_.writer.retry = std::chrono::hours(1);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    calls_.on_write = EIO;
    calls_.failures_left = 3;
    std::atomic<bool> written{false};
    tier_->end(std::array{test::hash_of(uri(1))}, [&] { written = true; });
    while (status().last_error.empty()) std::this_thread::yield();
    EXPECT_FALSE(written);
    close();  // tries no more, as an hour has not passed
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

// A purge stays unconfirmed where the failure itself could not be noted.
TEST_F(DiskTierTest, ConfirmsAtItsEndNoPurgeThatItCouldNotNote) {
    config_.writer.retry = std::chrono::hours(1);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    calls_.on_write = EIO;
    std::atomic<bool> written{false};
    tier_->end(std::array{test::hash_of(uri(1))}, [&] { written = true; });
    close();
    EXPECT_FALSE(written);
    calls_.on_write = 0;
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 1);
}

}  // namespace disk_tier_test
}  // namespace proxy
