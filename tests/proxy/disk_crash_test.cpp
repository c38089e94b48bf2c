// Processes that write and purge as fast as they can are killed at random moments, one after the
// other on the same directory. What the next one finds must be right, and not purged.

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
#include <set>
#include <thread>

#include "proxy/disk/disk_writer.hpp"
#include "proxy/disk/recovery.hpp"
#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk_kit.hpp"

namespace proxy {
namespace {

constexpr std::size_t kKeys = 200;
constexpr std::uint64_t kSegment = 256 * 1024;
constexpr int kKills = 50;

/// What the writing process has been told by its disk; outlives it.
struct Told {
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

/// What is found in a directory: the version of each key.
struct Opened {
    SuperFile super;
    Recovered recovered;
    std::map<std::size_t, std::pair<std::uint64_t, DiskPlace>> versions;
    /// Of which the last was being written when a kill came: its head is there, its body is not
    /// whole, and who reads it is told so.
    std::set<std::size_t> torn;
};

/// Looks at every byte of what counts.
void open_and_check(DiskCalls& calls, const std::filesystem::path& path, Opened& opened) {
    auto super = SuperFile::take(calls, path, 1);
    ASSERT_TRUE(super) << super.error();
    opened.super = std::move(*super);
    std::vector<std::pair<FooterEntry, DiskPlace>> records;
    auto recovered =
        recover(calls, path, opened.super.directory_id(), [&](const RecoveredRecord& one) {
            EXPECT_FALSE(one.doubtful);
            records.emplace_back(one.entry, one.place);
        });
    ASSERT_TRUE(recovered);
    opened.recovered = std::move(*recovered);
    EXPECT_EQ(opened.recovered.damaged, 0u);
    EXPECT_EQ(opened.recovered.unreadable, 0u);
    std::map<std::uint32_t, SegmentPtr> segments;
    for (const auto& segment : opened.recovered.segments) segments[segment->number()] = segment;
    for (const auto& [entry, place] : records) {
        const auto loaded = load_record(*segments.at(place.segment), place.sector, entry.sectors);
        if (!loaded) {
            ASSERT_EQ(loaded.error(), DiskError::bad_checksum);
            opened.torn.insert(std::stoul(entry.uri.substr(9)));
            continue;
        }
        const auto key = std::stoul(std::string(loaded->record.uri.substr(9)));
        const auto version = std::stoull(std::string(loaded->record.meta));
        ASSERT_EQ(as_text(loaded->body), body_of(key, version));
        ASSERT_TRUE(opened.versions.emplace(key, std::pair(version, place)).second);
    }
}

/// Never returns: writes and purges until it is killed.
[[noreturn]] void write_for_ever(DiskCalls& calls, const std::filesystem::path& path,
                                 std::uint64_t cap, unsigned seed, Told& told) {
    Opened opened;
    open_and_check(calls, path, opened);
    if (testing::Test::HasFailure()) _exit(1);
    std::mutex mutex;
    auto& index = opened.versions;
    Reclaiming reclaiming;
    reclaiming.uses = [&](const FooterEntry& entry, DiskPlace place) -> std::optional<unsigned> {
        const std::lock_guard lock(mutex);
        const auto found = index.find(std::stoul(entry.uri.substr(9)));
        if (found == index.end() || found->second.second != place) return std::nullopt;
        return static_cast<unsigned>(place.sector % 3);
    };
    reclaiming.moved = [&](const FooterEntry& entry, DiskPlace from, DiskPlace to) {
        const std::lock_guard lock(mutex);
        const auto found = index.find(std::stoul(entry.uri.substr(9)));
        if (found != index.end() && found->second.second == from) found->second.second = to;
    };
    reclaiming.dropped = [&](const FooterEntry& entry, DiskPlace place) {
        const std::lock_guard lock(mutex);
        const auto found = index.find(std::stoul(entry.uri.substr(9)));
        if (found != index.end() && found->second.second == place) index.erase(found);
    };
    SegmentLog log(
        calls, {path, opened.super.directory_id(), cap, kSegment, opened.recovered.next_segment},
        std::move(opened.recovered.segments), reclaiming);
    std::atomic<std::uint64_t> seq{opened.recovered.next_seq};
    DiskWriter writer(log, seq, {.queue_bytes = 1 << 20});
    std::mt19937_64 random(seed);
    for (;;) {
        const auto key = random() % kKeys;
        auto& of_key = told.keys[key];
        if (random() % 8 == 0) {
            auto uri = std::make_shared<std::string>(uri_of(key));
            DiskWriter::Job job;
            job.record = test::tombstone(RecordType::uri_gone, 0, *uri);
            job.owner = uri;
            job.done = [&of_key, up_to = of_key.last.load()](DiskResult<DiskPlace> place) {
                if (place) of_key.purged = std::max(of_key.purged.load(), up_to);
            };
            {
                const std::lock_guard lock(mutex);
                of_key.purging = of_key.last.load();
                index.erase(key);
            }
            writer.push(std::move(job));
        } else {
            struct Owned {
                std::string uri, version, body;
            };
            const auto version = ++of_key.last;
            auto owned = std::make_shared<Owned>(
                Owned{uri_of(key), std::to_string(version), body_of(key, version)});
            DiskWriter::Job job;
            job.record = test::response(owned->uri, 0, owned->body);
            job.record.meta = owned->version;
            job.body = {test::part(owned->body)};
            job.owner = owned;
            job.done = [&, key, version](DiskResult<DiskPlace> place) {
                if (!place) _exit(2);
                const std::lock_guard lock(mutex);
                // As in any index: what was purged while it was being written does not come in.
                if (version > told.keys[key].purging) index[key] = {version, *place};
                told.keys[key].written = version;
            };
            writer.push(std::move(job));
        }
        ++told.asked;
    }
}

class DiskCrashTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DiskCrashTest, NothingWrongAndNothingPurgedIsFoundAfterAKill) {
    const test::TemporaryDirectory directory;
    DiskCalls calls;
    auto* memory =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& told = *new (memory) Told();
    const auto seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uint64_t found = 0;
    const bool has_room = GetParam() > 100;
    for (int kill_number = 0; kill_number < kKills; ++kill_number) {
        const auto until = told.asked + 1 + random() % 1'500;
        const auto child = fork();
        ASSERT_GE(child, 0);
        if (child == 0)
            write_for_ever(calls, directory.path(), GetParam() * kSegment,
                           static_cast<unsigned>(random()), told);
        int status = 0;
        while (told.asked < until) {
            ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "it ended by itself: " << status;
            std::this_thread::yield();
        }
        ASSERT_EQ(kill(child, SIGKILL), 0);
        ASSERT_EQ(waitpid(child, &status, 0), child);

        Opened opened;
        open_and_check(calls, directory.path(), opened);
        if (HasFatalFailure()) return;
        EXPECT_LE(opened.torn.size(), kill_number + 1u) << "one for each kill, at most";
        for (std::size_t key = 0; key < kKeys; ++key) {
            if (opened.torn.contains(key)) continue;
            auto& of_key = told.keys[key];
            const auto at = opened.versions.find(key);
            if (at == opened.versions.end()) {
                if (has_room) {
                    EXPECT_LE(of_key.written, of_key.purging) << "lost";
                }
                continue;
            }
            ++found;
            EXPECT_GT(at->second.first, of_key.purged) << "back from the dead";
            if (has_room) {
                EXPECT_GE(at->second.first, of_key.written);
            }
            EXPECT_LE(at->second.first, of_key.last);
        }
        EXPECT_LE(opened.recovered.segments.size(), GetParam());
    }
    EXPECT_GT(found, kKills * kKeys / 4);
    munmap(memory, sizeof(Told));
}

// With room for all, and with segments that go and are written again all the time.
INSTANTIATE_TEST_SUITE_P(Segments, DiskCrashTest, testing::Values(4'000, 5));

}  // namespace
}  // namespace proxy
