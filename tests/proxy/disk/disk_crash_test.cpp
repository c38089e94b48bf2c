// Processes that write and purge as fast as they can are killed at random moments, one after the
// other on the same directory. The next process must find right content that was not purged.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "tests/proxy/disk/disk_tier_kit.hpp"

namespace proxy {
namespace disk_crash_test {

constexpr std::size_t kKeys = 200;
constexpr std::uint64_t kSegment = 256 * 1024;
constexpr int kKills = 50;

/// The results that the writing process got from its disk; they outlive it.
struct Results {
    struct Key {
        std::atomic<std::uint64_t> last;     // version that was asked to be written
        std::atomic<std::uint64_t> written;  // and that was
        std::atomic<std::uint64_t> purging;  // was asked to be purged up to this version
        std::atomic<std::uint64_t> purged;   // and that was
    };
    std::array<Key, kKeys> keys;
    std::atomic<std::uint64_t> asked;  // records and purges
};

std::string uri_of(std::size_t key) {
    return "http://a/" + std::to_string(key);
}
std::string body_of(std::size_t key, std::uint64_t version) {
    std::mt19937_64 random(version);
    return test::made_body(key << 40 | version, random() % 9'000);
}

struct Layout {
    std::size_t directories = 1;
    std::uint64_t segments = 0;  // in each

    bool has_room() const { return segments > 100; }
};

DiskTier::Config config_of(const std::filesystem::path& path, const Layout& layout) {
    DiskTier::Config config;
    for (std::size_t i = 0; i < layout.directories; ++i)
        config.directories.push_back(
            {path / std::to_string(i), layout.segments * kSegment, kSegment});
    config.writer.queue_bytes = 1 << 20;
    return config;
}

/// The content of the directories: the version of each key.
using Versions = std::map<std::size_t, std::uint64_t>;

/// Looks at every byte that counts. A record that a kill tore does not.
void check(DiskTier& tier, const test::IndexOwner& owner, Versions& versions) {
    EXPECT_EQ(owner.doubtful_count(), 0);
    for (const auto& [uri, at] : owner.all()) {
        const auto loaded = test::read(tier, uri, at);
        const auto key = std::stoul(uri.substr(9));
        ASSERT_TRUE(loaded) << loaded.error();
        const auto version = std::stoull(std::string(loaded->record.meta));
        ASSERT_EQ(as_text(loaded->body), body_of(key, version));
        ASSERT_TRUE(versions.emplace(key, version).second);
    }
}

/// Never returns: writes and purges until it is killed.
[[noreturn]] void write_for_ever(DiskCalls& calls, const DiskTier::Config& config, unsigned seed,
                                 Results& results) {
    test::IndexOwner owner;
    DiskTier tier(calls, config, owner);
    tier.start();
    test::wait_until_loaded(tier);
    std::mt19937_64 random(seed);
    for (;;) {
        const auto key = random() % kKeys;
        const auto uri = uri_of(key);
        auto& of_key = results.keys[key];
        if (random() % 8 == 0) {
            of_key.purging = of_key.last.load();
            owner.erase(uri);
            tier.end(std::array{test::hash_of(uri)}, [&of_key, up_to = of_key.last.load()] {
                of_key.purged = std::max(of_key.purged.load(), up_to);
            });
        } else {
            const auto version = ++of_key.last;
            auto write = test::write_of(
                uri, body_of(key, version), std::to_string(version),
                [&, uri, version](DiskResult<RecordLocation> place) {
                    if (!place && place.error() != DiskError::purged) _exit(2);
                    // As in any index, a record that was purged while it was being written stays
                    // out.
                    if (place && version > of_key.purging)
                        owner.put(uri, {*place, 1, static_cast<unsigned>(version % 3)});
                    of_key.written = version;
                });
            tier.write(test::hash_of(uri), std::move(write));
        }
        ++results.asked;
    }
}

class DiskCrashTest : public testing::TestWithParam<Layout> {};

TEST_P(DiskCrashTest, FindsOnlyRightAndUnpurgedRecordsAfterAKill) {
    const test::TemporaryDirectory directory;
    DiskCalls calls;
    auto* memory =
        mmap(nullptr, sizeof(Results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& results = *new (memory) Results();
    const auto seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uint64_t found = 0;
    const bool has_room = GetParam().has_room();
    const auto config = config_of(directory.path(), GetParam());
    for (const auto& one : config.directories) std::filesystem::create_directory(one.path);
    for (int kill_number = 0; kill_number < kKills; ++kill_number) {
        const auto until = results.asked + 1 + random() % 1'500;
        const auto child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) write_for_ever(calls, config, static_cast<unsigned>(random()), results);
        int status = 0;
        while (results.asked < until) {
            ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "it ended by itself: " << status;
            std::this_thread::yield();
        }
        ASSERT_EQ(kill(child, SIGKILL), 0);
        ASSERT_EQ(waitpid(child, &status, 0), child);

        Versions versions;
        test::IndexOwner owner;
        DiskTier tier(calls, config, owner);
        tier.start();
        test::wait_until_loaded(tier);
        check(tier, owner, versions);
        if (HasFatalFailure()) return;
        for (std::size_t key = 0; key < kKeys; ++key) {
            auto& of_key = results.keys[key];
            const auto at = versions.find(key);
            if (at == versions.end()) {
                if (has_room) {
                    EXPECT_LE(of_key.written, of_key.purging) << "lost";
                }
                continue;
            }
            ++found;
            EXPECT_GT(at->second, of_key.purged) << "back from the dead";
            if (has_room) {
                EXPECT_GE(at->second, of_key.written);
            }
            EXPECT_LE(at->second, of_key.last);
        }
        for (const auto& one : tier.status()) EXPECT_LE(one.bytes, one.cap_bytes);
    }
    EXPECT_GT(found, kKills * kKeys / 4);
    munmap(memory, sizeof(Results));
}

// With room for all, and with segments that go and are written again all the time.
INSTANTIATE_TEST_SUITE_P(Segments, DiskCrashTest,
                         testing::Values(Layout{1, 4'000}, Layout{1, 16}, Layout{3, 16}));

// Each process goes on where the last one was killed, so a disk of a few segments keeps the writes
// of many short lives.
TEST(DiskKills, CostNoRoom) {
    constexpr int kLives = 30, kWrites = 3;
    const test::TemporaryDirectory directory;
    const auto config = config_of(directory.path(), {1, 8});
    std::filesystem::create_directory(config.directories[0].path);
    const auto uri = [](int life, int i) { return uri_of(life * kWrites + i); };
    DiskCalls calls;
    for (int life = 0; life < kLives; ++life) {
        const auto child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            test::IndexOwner owner;
            DiskTier tier(calls, config, owner);
            tier.start();
            std::atomic<int> written{0};
            for (int i = 0; i < kWrites; ++i)
                tier.write(test::hash_of(uri(life, i)),
                           test::write_of(uri(life, i), test::made_body(life, 5'000), {},
                                          [&](const auto& place) { written += place ? 1 : 0; }));
            while (written < kWrites) std::this_thread::yield();
            kill(getpid(), SIGKILL);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status));
    }
    test::IndexOwner owner;
    DiskTier tier(calls, config, owner);
    tier.start();
    test::wait_until_loaded(tier);
    EXPECT_EQ(tier.status()[0].segments, 2u) << "90 times 5.5 KB in segments of 256 KiB";
    EXPECT_EQ(owner.recovered_count(), kLives * kWrites);
    for (int life = 0; life < kLives; ++life)
        for (int i = 0; i < kWrites; ++i) {
            const auto at = owner.at(uri(life, i));
            ASSERT_TRUE(at) << life;
            const auto loaded = test::read(tier, uri(life, i), *at);
            ASSERT_TRUE(loaded) << loaded.error();
            EXPECT_EQ(as_text(loaded->body), test::made_body(life, 5'000));
        }
}

}  // namespace disk_crash_test
}  // namespace proxy
