// A disk tier of several directories: the assignment of keys to them, and its change when one fails
// or is replaced.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/disk/disk_tier.hpp"
#include "tests/proxy/disk/disk_tier_fixture.hpp"

namespace proxy {
namespace disk_directories_test {

using test::DiskTierTest;
using test::kSegment;

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
    // One that grows takes a part from the others, and loses nothing itself.
    config_.directories[1].cap_bytes = 400 * kSegment;
    open_and_load();
    const auto after = counts();
    EXPECT_EQ(after[1], before[1]);
    EXPECT_NEAR(after[0], 900 / 11, 50);
    EXPECT_NEAR(after[2], 900 * 6 / 11, 90);
    EXPECT_LT(after[0] + after[2], before[0] + before[2]);
}

TEST_F(DiskDirectoriesTest, LoseOnlyTheContentOfAReplacedOne) {
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
    // Its disk is well again at the next start, and its content is old.
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
        << "its content missed purges";
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

// Each ran without the other, and missed the purges of the other.
TEST_F(DiskDirectoriesTest, AreAllEmptiedWhenTheirCompanyIsUnknown) {
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

// No directory could note that its content counts no more, so no purge is confirmed.
TEST_F(DiskDirectoriesTest, ConfirmNoPurgeThatAllFailedToNote) {
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

// A confirmed purge keeps its effect, whatever others do at the time: each response is at least as
// new as the last purge before its request.
TEST_F(DiskDirectoriesTest, GiveNoPurgedRecordWhileManyReadAndWrite) {
    constexpr std::size_t kKeys = 40;
    struct Key {
        std::atomic<std::uint64_t> version{0}, purged{0};
        std::mutex mutex;  // of writing and purging
    };
    std::array<Key, kKeys> keys;
    for (auto& directory : config_.directories) directory.cap_bytes = 16 * kSegment;
    // A long queue before a slow device would delay the purges of nearly all its records.
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

}  // namespace disk_directories_test
}  // namespace proxy
