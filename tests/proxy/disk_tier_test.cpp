#include "proxy/disk/disk_tier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <iterator>
#include <set>
#include <thread>

#include "tests/proxy/disk_tier_kit.hpp"

namespace proxy {
namespace {

constexpr std::uint64_t kSegment = 256 * 1024;

/// Calls on one directory can be made to fail apart from the others.
struct CallsPerDirectory : test::FaultyCalls {
    std::string failing;  // a part of a path; what is opened there fails, as `error` says
    std::atomic<int> error{0};
    std::mutex mutex;
    std::set<int> files;

    int open(const char* path, int flags, unsigned mode) override {
        const bool there =
            !failing.empty() && std::string_view(path).find(failing) != std::string_view::npos;
        if (there && error != 0) {
            errno = error;
            return -1;
        }
        const int fd = FaultyCalls::open(path, flags, mode);
        const std::lock_guard lock(mutex);
        if (there && fd >= 0) files.insert(fd);
        return fd;
    }
    int close(int fd) override {
        {
            const std::lock_guard lock(mutex);
            files.erase(fd);
        }
        return FaultyCalls::close(fd);
    }
    ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at) override {
        return fails(fd) ? -1 : FaultyCalls::write(fd, parts, at);
    }
    ssize_t read(int fd, std::span<std::byte> into, std::uint64_t at) override {
        return fails(fd) ? -1 : FaultyCalls::read(fd, into, at);
    }
    ssize_t read_now(int fd, std::span<std::byte> into, std::uint64_t at) override {
        return fails(fd) ? -1 : FaultyCalls::read_now(fd, into, at);
    }

private:
    bool fails(int fd) {
        if (error == 0) return false;
        const std::lock_guard lock(mutex);
        if (!files.contains(fd)) return false;
        errno = error;
        return true;
    }
};

class DiskTierTest : public testing::Test {
protected:
    explicit DiskTierTest(std::size_t directories = 1, std::uint64_t segments = 400) {
        for (std::size_t i = 0; i < directories; ++i) add_directory(segments);
        config_.writer.retry = std::chrono::milliseconds(1);
    }
    ~DiskTierTest() override { close(); }

    void add_directory(std::uint64_t segments) {
        const auto path = root_.path() / ("d" + std::to_string(config_.directories.size()));
        std::filesystem::create_directory(path);
        config_.directories.push_back({path, segments * kSegment, kSegment});
    }
    void open() {
        close();
        owner_.emplace();
        tier_.emplace(calls_, config_, *owner_);
    }
    void open_and_load() {
        open();
        tier_->start();
        test::wait_until_loaded(*tier_);
    }
    void close() { tier_.reset(); }

    /// Where it is, once that is known; the index has it then.
    DiskResult<DiskPlace> write(const std::string& uri, std::size_t bytes = 500,
                                std::vector<summary::KeyHash> tags = {}) {
        std::promise<DiskResult<DiskPlace>> place;
        auto write = test::write_of(uri, test::made_body(bytes, bytes), {}, [&](auto where) {
            if (where) owner_->put(uri, {*where, 1, 0});
            place.set_value(where);
        });
        write.record.tags = std::move(tags);
        if (!tier_->write(test::hash_of(uri), std::move(write)))
            return boost::system::error_code(EAGAIN, boost::system::system_category());
        return place.get_future().get();
    }
    void end(const std::vector<summary::KeyHash>& hashes) {
        std::promise<void> written;
        tier_->end(hashes, [&] { written.set_value(); });
        written.get_future().get();
    }
    void end(const std::string& uri) { end(std::vector{test::hash_of(uri)}); }
    void end_all() {
        std::promise<void> written;
        tier_->end_all([&] { written.set_value(); });
        written.get_future().get();
    }
    DiskResult<LoadedRecord> read(const std::string& uri, const test::IndexOwner::Entry& at) {
        auto got = test::read(*tier_, uri, at);
        // Both ways say the same, where there are two.
        if (auto now = tier_->read_now({at.place, at.sectors}, uri)) {
            EXPECT_EQ(now->has_value(), got.has_value());
            if (!*now && !got) {
                EXPECT_EQ(now->error(), got.error());
            }
        }
        return got;
    }
    bool can_read(const std::string& uri) {
        const auto at = owner_->at(uri);
        if (!at) return false;
        const auto got = read(uri, *at);
        if (!got) return false;
        EXPECT_EQ(got->record.uri, uri);
        EXPECT_EQ(as_text(got->body), test::made_body(got->body.size(), got->body.size()));
        return true;
    }
    /// How many of http://a/0 to http://a/(count - 1) can be read.
    int readable(int count) {
        int sum = 0;
        for (int i = 0; i < count; ++i) sum += can_read(uri(i)) ? 1 : 0;
        return sum;
    }
    static std::string uri(int i) { return "http://a/" + std::to_string(i); }
    DiskStatus status(std::size_t directory = 0) const { return tier_->status()[directory]; }
    const std::filesystem::path& path(std::size_t i) const { return config_.directories[i].path; }
    std::size_t files_in(std::size_t i) const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path(i)), {}));
    }

    test::TemporaryDirectory root_;
    CallsPerDirectory calls_;
    DiskTier::Config config_;
    std::optional<test::IndexOwner> owner_;
    std::optional<DiskTier> tier_;
};

TEST_F(DiskTierTest, ReadsWhatItWroteAndFindsItAgain) {
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

TEST_F(DiskTierTest, SaysWhatIsWrongWithADirectory) {
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

TEST_F(DiskTierTest, RefusesWhatWasPurgedAtOnceAndAfterARestart) {
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

// What is asked for while the start is under way waits, in order, and counts.
TEST_F(DiskTierTest, TakesOrdersBeforeItHasLoaded) {
    open_and_load();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(uri(i)));
    open();
    EXPECT_TRUE(tier_->loading());
    EXPECT_FALSE(tier_->has_room(test::hash_of(uri(1))));
    std::atomic<int> told{0};
    const auto later = [&](const std::string& uri) {
        auto write = test::write_of(uri, test::made_body(900, 900), {}, [&, uri](auto place) {
            if (place) owner_->put(uri, {*place, 1, 0});
            ++told;
        });
        EXPECT_TRUE(tier_->write(test::hash_of(uri), std::move(write)));
    };
    later("http://before/");
    tier_->end(std::array{test::hash_of(uri(1)), test::hash_of("http://before/")}, [&] { ++told; });
    later(uri(1));
    tier_->end(std::array{test::hash_of(uri(2))}, [&] { ++told; });
    EXPECT_EQ(told, 0);
    tier_->start();
    while (told < 4) std::this_thread::yield();
    EXPECT_FALSE(owner_->at("http://before/"));
    EXPECT_FALSE(owner_->at(uri(2)));
    EXPECT_EQ(read(uri(1), *owner_->at(uri(1)))->body.size(), 900u);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 19);
    EXPECT_EQ(read(uri(1), *owner_->at(uri(1)))->body.size(), 900u);
}

TEST_F(DiskTierTest, AnswersAllWhenItEndsBeforeItBegan) {
    open();
    std::atomic<int> told{0};
    ASSERT_TRUE(tier_->write(test::hash_of(uri(1)),
                             test::write_of(uri(1), "body", {}, [&](const auto& place) {
                                 EXPECT_EQ(place.error(), DiskError::ending);
                                 ++told;
                             })));
    close();
    EXPECT_EQ(told, 1);
}

TEST_F(DiskTierTest, WritesWhatWaitsBeforeItEnds) {
    open_and_load();
    std::atomic<int> told{0};
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(tier_->write(
            test::hash_of(uri(i)), test::write_of(uri(i), "body", {}, [&, i](const auto& place) {
                EXPECT_EQ(place.error(), i < 99 ? boost::system::error_code() : DiskError::purged);
                ++told;
            })));
    tier_->end(std::array{test::hash_of(uri(99))}, [&] { ++told; });
    close();
    EXPECT_EQ(told, 101);
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 99);
}

TEST_F(DiskTierTest, DoesNotWriteAgainWhatWasPurged) {
    config_.directories[0].cap_bytes = 16 * kSegment;
    open_and_load();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    for (int i = 0; i < 20; ++i) owner_->use(uri(i), 3);
    end(uri(3));  // the index was not told
    for (int i = 100; status().reclaimed < 3; ++i) ASSERT_TRUE(write(uri(i), 5'000));
    EXPECT_GE(owner_->moved_count(), 5);
    EXPECT_FALSE(owner_->at(uri(3)));
    EXPECT_TRUE(can_read(uri(4)) || can_read(uri(5)) || can_read(uri(6)));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(can_read(uri(i)), owner_->at(uri(i)).has_value());
}

TEST_F(DiskTierTest, GivesBackWhatALowerCapAsksForWhileItRuns) {
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
    DiskResult<DiskPlace> last = DiskPlace{};
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

TEST_F(DiskTierTest, BringsNothingBackFromADiskThatWasGivenUp) {
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
    DiskResult<DiskPlace> last = DiskPlace{};
    for (int i = 0; last && i < 1'000; ++i) last = write(uri(i), 50'000);
    EXPECT_EQ(last.error(), boost::system::errc::no_such_file_or_directory);
    owner_->wait_until_lost(1);
    EXPECT_EQ(status().state, DiskStatus::State::off);
    while (!status().last_error.starts_with("trying again")) std::this_thread::yield();
    std::filesystem::create_directory(path(0));
    while (!tier_->has_room(test::hash_of(uri(1)))) std::this_thread::yield();
    ASSERT_TRUE(write(uri(1)));
    EXPECT_TRUE(can_read(uri(1)));
    // Its purges are newer than what it writes, in the next run as well.
    open_and_load();
    EXPECT_TRUE(can_read(uri(1)));
    end(uri(1));
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

// What is removed under a node that runs is seen at once, and nothing more is put there until it is
// the node's again.
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

// A disk that hangs is not to be waited for by ever more purges: then all is purged.
TEST_F(DiskTierTest, EndsAllThereIsWhenTooManyPurgesWait) {
    config_.writer.retry = std::chrono::hours(1);
    open_and_load();
    ASSERT_TRUE(write(uri(1)));
    calls_.on_write = EIO;
    calls_.failures_left = 3;
    tier_->end(std::array{test::hash_of(uri(2))}, {});
    while (status().last_error.empty()) std::this_thread::yield();
    std::atomic<std::size_t> told{0};
    for (std::size_t i = 1; i < kMaxTombstones; ++i)
        tier_->end(std::array{summary::KeyHash{i, i}}, [&] { ++told; });
    EXPECT_FALSE(status().last_error.starts_with("too many purges wait"));
    for (int i = 0; i < 3; ++i) tier_->end(std::array{test::hash_of(uri(3))}, [&] { ++told; });
    tier_->end({}, [&] { ++told; });
    EXPECT_TRUE(status().last_error.starts_with("too many purges wait"));
    const auto waiting = status().queued_bytes;
    for (int i = 0; i < 1000; ++i) tier_->end(std::array{test::hash_of(uri(i))}, {});
    EXPECT_EQ(status().queued_bytes, waiting);
    close();
    EXPECT_EQ(told, kMaxTombstones - 1) << "of the rest nobody can tell";
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

// Nor is anybody told that it is purged, where not even that could be marked.
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

// Several directories

class DiskDirectoriesTest : public DiskTierTest {
protected:
    DiskDirectoriesTest() : DiskTierTest(3, 100) {
        config_.writer.pause = std::chrono::milliseconds(0);
    }
    /// After something was written, which is not to be read again before calls_.error is 0.
    void lose_all() {
        calls_.failing = "/d";
        open_and_load();
        for (int i = 0; i < 100; ++i) ASSERT_TRUE(write(uri(i)));
        calls_.error = EIO;
        const auto all = owner_->all();
        for (const auto& [uri, at] : all) (void)test::read(*tier_, uri, at);
        owner_->wait_until_lost(3);
    }
};

TEST_F(DiskDirectoriesTest, ShareTheKeys) {
    open_and_load();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    std::array<int, 3> counts{};
    for (const auto& [uri, at] : owner_->all()) ++counts[directory_of(at.place)];
    for (const auto count : counts) EXPECT_GE(count, 55);
    end(uri(5));
    for (int again = 0; again < 2; ++again) {
        open_and_load();
        EXPECT_EQ(owner_->recovered_count(), 299);
        EXPECT_EQ(readable(300), 299);
    }
    // In another order they are the same.
    std::swap(config_.directories[0], config_.directories[2]);
    open_and_load();
    EXPECT_EQ(readable(300), 299);
}

TEST_F(DiskDirectoriesTest, ShareTheKeysByTheirSizes) {
    config_.directories[1].cap_bytes = 200 * kSegment;
    config_.directories[2].cap_bytes = 600 * kSegment;
    open_and_load();
    for (int i = 0; i < 900; ++i) ASSERT_TRUE(write(uri(i), 10));
    const auto counts = [this] {
        std::array<int, 3> in{};
        for (const auto& [uri, at] : owner_->all()) ++in[directory_of(at.place)];
        return in;
    };
    // Within six standard deviations: the paths, and so the places, are others each time.
    const auto before = counts();
    EXPECT_NEAR(before[0], 100, 55);
    EXPECT_NEAR(before[1], 200, 75);
    EXPECT_NEAR(before[2], 600, 85);
    // One that grows takes a part of what the others have, and loses nothing itself.
    config_.directories[1].cap_bytes = 400 * kSegment;
    open_and_load();
    const auto after = counts();
    EXPECT_EQ(after[1], before[1]);
    EXPECT_NEAR(after[0], 900 / 11, 50);
    EXPECT_NEAR(after[2], 900 * 6 / 11, 90);
    EXPECT_LT(after[0] + after[2], before[0] + before[2]);
}

TEST_F(DiskDirectoriesTest, LoseOnlyWhatWasInOneThatIsReplaced) {
    open_and_load();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    std::set<std::string> elsewhere;
    for (const auto& [uri, at] : owner_->all())
        if (directory_of(at.place) != 1) elsewhere.insert(uri);
    close();
    std::filesystem::remove_all(path(1));
    std::filesystem::create_directory(path(1));
    open_and_load();
    std::set<std::string> left;
    for (const auto& [uri, at] : owner_->all()) left.insert(uri);
    EXPECT_EQ(left, elsewhere);
}

TEST_F(DiskDirectoriesTest, GoOnWithoutTheOneThatFails) {
    calls_.failing = "/d1/";
    open_and_load();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    calls_.error = EIO;
    std::vector<std::string> there;
    for (const auto& [uri, at] : owner_->all())
        if (directory_of(at.place) == 1) there.push_back(uri);
    ASSERT_GE(there.size(), 55u);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(test::read(*tier_, there[0], *owner_->at(there[0])));
    owner_->wait_until_lost(1);
    EXPECT_EQ(owner_->lost(), std::vector{1u});
    EXPECT_EQ(status(1).state, DiskStatus::State::off);
    EXPECT_EQ(status(0).state, DiskStatus::State::ready);
    EXPECT_EQ(readable(300), 300 - static_cast<int>(there.size()));
    for (const auto& uri : there) {
        const auto place = write(uri);
        ASSERT_TRUE(place);
        EXPECT_NE(directory_of(*place), 1u);
    }
    EXPECT_EQ(readable(300), 300);
    end(there[0]);
    end(there[1]);
    ASSERT_TRUE(write(there[1]));
    // Its disk is well again at the next start, and what it holds is old.
    calls_.error = 0;
    open_and_load();
    EXPECT_FALSE(owner_->at(there[0]));
    for (const auto& [uri, at] : owner_->all()) {
        EXPECT_NE(directory_of(at.place), 1u);
        EXPECT_TRUE(can_read(uri));
    }
    for (const auto& uri : there) {
        const auto place = write(uri);
        ASSERT_TRUE(place);
        EXPECT_EQ(directory_of(*place), 1u);
    }
    // The copies that were written elsewhere meanwhile do not come back either.
    open_and_load();
    EXPECT_EQ(readable(300), 300);
    for (const auto& uri : there) EXPECT_EQ(directory_of(owner_->at(uri)->place), 1u);
}

TEST_F(DiskDirectoriesTest, BeginWithoutTheOneThatFails) {
    calls_.failing = "/d1/";
    open_and_load();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    std::vector<std::string> there;
    for (const auto& [uri, at] : owner_->all())
        if (directory_of(at.place) == 1) there.push_back(uri);
    ASSERT_GE(there.size(), 55u);
    close();
    calls_.error = EIO;
    open_and_load();
    EXPECT_EQ(status(1).state, DiskStatus::State::off);
    EXPECT_EQ(status(1).last_error, "Input/output error");
    EXPECT_EQ(readable(300), 300 - static_cast<int>(there.size()));
    const auto elsewhere = write(there[0]);
    ASSERT_TRUE(elsewhere);
    EXPECT_NE(directory_of(*elsewhere), 1u);
    EXPECT_TRUE(can_read(there[0]));
    end(there[1]);
    close();
    calls_.error = 0;
    open_and_load();
    EXPECT_EQ(status(1).state, DiskStatus::State::ready);
    EXPECT_EQ(owner_->recovered_count(), 300 - static_cast<int>(there.size()))
        << "what it held was told of no purge";
    close();
    calls_.failing = "/d";
    calls_.error = EIO;
    EXPECT_THROW(open(), std::runtime_error) << "there is no other";
}

TEST_F(DiskDirectoriesTest, AreEmptiedWhenTheyWereAwayWhileOthersRan) {
    open_and_load();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    const auto all = config_.directories;
    config_.directories.pop_back();
    open_and_load();
    const auto of_two = owner_->recovered_count();
    EXPECT_GT(of_two, 120);
    for (int i = 0; i < 300; ++i) end(uri(i));
    config_.directories = all;
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
    EXPECT_EQ(files_in(2), 1u);
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(write(uri(i)));
    open_and_load();
    EXPECT_EQ(readable(300), 300);
}

// Each ran without the other: none was told of what the other was.
TEST_F(DiskDirectoriesTest, AreAllEmptiedWhenNobodyKnowsWhoWasThere) {
    const auto all = config_.directories;
    open_and_load();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(write(uri(i)));
    for (const std::size_t i : {0u, 1u, 2u}) {
        config_.directories = {all[i]};
        open_and_load();
        EXPECT_GT(owner_->recovered_count(), 10);
        if (i == 1) {
            end_all();
        }
    }
    config_.directories = all;
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

TEST_F(DiskDirectoriesTest, EndWhenAllAreGone) {
    ASSERT_NO_FATAL_FAILURE(lose_all());
    EXPECT_FALSE(write(uri(1)));
    EXPECT_FALSE(tier_->has_room(test::hash_of(uri(1))));
    EXPECT_TRUE(owner_->all().empty());
}

// No directory could note that what it holds counts no more, so nobody is told that it does not.
TEST_F(DiskDirectoriesTest, ConfirmNoPurgeThatNoneOfThemCouldNote) {
    config_.retry = std::chrono::milliseconds(5);
    ASSERT_NO_FATAL_FAILURE(lose_all());
    std::atomic<bool> written{false};
    tier_->end(std::array{test::hash_of(uri(1))}, [&] { written = true; });
    while (status(0).queued_bytes + status(1).queued_bytes + status(2).queued_bytes > 0)
        std::this_thread::yield();
    EXPECT_FALSE(written);
    calls_.error = 0;  // they are off, and say so now
    while (!written) std::this_thread::yield();
    open_and_load();
    EXPECT_EQ(owner_->recovered_count(), 0);
}

// Many threads

// Whoever has been told that something is purged never gets it again, whatever others do at the
// time: what is read is never older than the last purge that had been asked for before.
TEST_F(DiskDirectoriesTest, GiveNothingThatWasPurgedWhileManyReadAndWrite) {
    constexpr std::size_t kKeys = 40;
    struct Key {
        std::atomic<std::uint64_t> version{0}, purged{0};
        std::mutex mutex;  // of writing and purging
    };
    std::array<Key, kKeys> keys;
    for (auto& directory : config_.directories) directory.cap_bytes = 16 * kSegment;
    // A long queue before a slow device would hold the purges of nearly all that waits in it.
    config_.writer.queue_bytes = 64 << 10;
    open_and_load();
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> reads{0}, refused{0};
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 2; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uint64_t i = thread; !stop; i += 7) {
                auto& key = keys[i % kKeys];
                const auto name = uri(static_cast<int>(i % kKeys));
                const std::lock_guard lock(key.mutex);
                if (i / 7 % 3 == 0) {
                    tier_->end(std::array{test::hash_of(name)}, {});
                    key.purged = key.version.load();
                    continue;
                }
                const auto version = ++key.version;
                auto write = test::write_of(name, test::made_body(version, 3'000),
                                            std::to_string(version), [&, name](auto place) {
                                                if (place) owner_->put(name, {*place, 1, 1});
                                            });
                if (!tier_->write(test::hash_of(name), std::move(write)))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    for (unsigned thread = 0; thread < 2; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uint64_t i = thread; !stop; ++i) {
                const auto& key = keys[i % kKeys];
                const auto name = uri(static_cast<int>(i % kKeys));
                const auto at = owner_->at(name);
                if (!at) continue;
                const auto purged = key.purged.load();
                std::optional<DiskResult<LoadedRecord>> got;
                if (i % 2 == 0) got = tier_->read_now({at->place, 8}, name);
                if (!got) got = test::read(*tier_, name, *at);
                ++reads;
                if (!*got) {
                    refused += got->error() == DiskError::purged ? 1 : 0;
                    continue;
                }
                const auto version = std::stoull(std::string((*got)->record.meta));
                EXPECT_GT(version, purged);
                EXPECT_EQ(as_text((*got)->body), test::made_body(version, 3'000));
            }
        });
    const auto reclaimed = [this] {
        return status(0).reclaimed + status(1).reclaimed + status(2).reclaimed;
    };
    while (reads < 5'000 || refused < 20 || reclaimed() == 0) std::this_thread::yield();
    stop = true;
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace proxy
