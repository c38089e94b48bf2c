#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/disk/disk_tier.hpp"
#include "tests/proxy/disk/disk_tier_kit.hpp"

namespace proxy::test {

inline constexpr std::uint64_t kSegment = 256 * 1024;

/// Calls on one directory can be made to fail apart from the others.
struct CallsPerDirectory : FaultyCalls {
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

/// A tier over directories of its own, opened as often as a test likes, and the owner of its index.
class DiskTierTest : public ::testing::Test {
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
        wait_until_loaded(*tier_);
    }
    void close() { tier_.reset(); }

    /// Its place, once that is known; the index has it then.
    DiskResult<RecordLocation> write(const std::string& uri, std::size_t bytes = 500,
                                     std::vector<summary::KeyHash> tags = {}) {
        std::promise<DiskResult<RecordLocation>> place;
        auto write = write_of(uri, made_body(bytes, bytes), {}, [&](auto where) {
            if (where) owner_->put(uri, {*where, 1, 0});
            place.set_value(where);
        });
        write.record.tags = std::move(tags);
        if (!tier_->write(hash_of(uri), std::move(write)))
            return boost::system::error_code(EAGAIN, boost::system::system_category());
        return place.get_future().get();
    }
    void end(const std::vector<summary::KeyHash>& hashes) {
        std::promise<void> written;
        tier_->end(hashes, [&] { written.set_value(); });
        written.get_future().get();
    }
    void end(const std::string& uri) { end(std::vector{hash_of(uri)}); }
    void end_all() {
        std::promise<void> written;
        tier_->end_all([&] { written.set_value(); });
        written.get_future().get();
    }
    DiskResult<LoadedRecord> read(const std::string& uri, const IndexOwner::Entry& at) {
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
        EXPECT_EQ(as_text(got->body), made_body(got->body.size(), got->body.size()));
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

    TemporaryDirectory root_;
    CallsPerDirectory calls_;
    DiskTier::Config config_;
    std::optional<IndexOwner> owner_;
    std::optional<DiskTier> tier_;
};

}  // namespace proxy::test
