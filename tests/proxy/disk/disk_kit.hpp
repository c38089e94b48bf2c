#pragma once

#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/disk_calls.hpp"
#include "proxy/disk/record.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {

inline std::vector<std::filesystem::path> segments_in(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(directory))
        if (each.path().extension() == ".segment") found.push_back(each.path());
    return found;
}

/// Puts `bytes` in the stead of those that the file has there.
inline void overwrite(const std::filesystem::path& file, std::uint64_t at, std::string_view bytes) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at)) << bytes << std::flush;
    if (!out) std::abort();
}

/// Turns bits over, so that the content of that place changes in any case.
inline void spoil(const std::filesystem::path& file, std::uint64_t at) {
    std::ifstream in(file, std::ios::binary);
    const char was = static_cast<char>(in.seekg(static_cast<std::streamoff>(at)).get());
    if (!in) std::abort();
    const char spoilt = static_cast<char>(~was);
    overwrite(file, at, {&spoilt, 1});
}

/// Bytes that follow from a number.
inline std::string made_body(std::uint64_t seed, std::size_t size) {
    std::string body(size, '\0');
    auto word = seed * 0x9e3779b97f4a7c15 + 1;
    for (auto& byte : body) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        byte = static_cast<char>(word);
    }
    return body;
}

inline iovec part(std::string_view text) {
    return {const_cast<char*>(text.data()), text.size()};
}

inline DiskView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// A response with every field filled.
inline Record response(std::string_view uri, std::uint64_t seq, std::string_view body) {
    Record record;
    record.seq = seq;
    record.stored = DiskTime(std::chrono::milliseconds(1'700'000'000'123));
    record.expires = DiskTime(std::chrono::milliseconds(1'700'000'060'123));
    record.uri = uri;
    record.vary_names = "accept-encoding";
    record.variant = "gzip\n";
    record.meta = "\x01\x02\x03";
    record.head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\n";
    record.tags = {{1, 2}, {3, 4}};
    record.body_bytes = body.size();
    return record;
}

inline Record tombstone(RecordType type, std::uint64_t seq,
                        std::vector<summary::KeyHash> hashes = {}) {
    Record record;
    record.type = type;
    record.seq = seq;
    record.tags = std::move(hashes);
    return record;
}

/// The hash that stands for a URI in tombstones and indices.
inline summary::KeyHash hash_of(std::string_view uri) {
    const auto hash = XXH3_128bits(uri.data(), uri.size());
    return {hash.low64, hash.high64};
}

/// A disk that can be made to fail. The numbers are errno; 0: none.
struct FaultyCalls : DiskCalls {
    std::atomic<int> on_reserve{0}, on_write{0}, on_read{0}, on_sync{0}, on_read_now{0},
        on_remove{0}, on_open{0}, on_send{0};
    std::atomic<int> failures_left{1 << 30};  // then it works again
    std::atomic<bool> writes_half{false};     // of each part list, and says so
    enum class Cached { as_it_is, all, nothing };
    std::atomic<Cached> cached{Cached::as_it_is};  // by what it says

    int reserve(int fd, std::uint64_t bytes) override {
        return fails(on_reserve) ? -1 : DiskCalls::reserve(fd, bytes);
    }
    ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at) override {
        if (on_each_write) on_each_write();
        if (fails(on_write)) return -1;
        if (!writes_half || parts.empty()) return DiskCalls::write(fd, parts, at);
        const iovec half{parts[0].iov_base, (parts[0].iov_len + 1) / 2};
        return DiskCalls::write(fd, {&half, 1}, at);
    }
    std::function<void()> on_each_read, on_each_write;  // set while nobody does
    ssize_t read(int fd, std::span<std::byte> into, std::uint64_t at) override {
        if (on_each_read) on_each_read();
        return fails(on_read) ? -1 : DiskCalls::read(fd, into, at);
    }
    ssize_t read_now(int fd, std::span<std::byte> into, std::uint64_t at) override {
        return fails(on_read_now) ? -1 : DiskCalls::read_now(fd, into, at);
    }
    ssize_t cached_pages(int fd, std::uint64_t at, std::uint64_t bytes) override {
        if (cached == Cached::as_it_is) return DiskCalls::cached_pages(fd, at, bytes);
        const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        const auto pages = (at + bytes - 1) / page - at / page + 1;
        return cached == Cached::all ? static_cast<ssize_t>(pages) : 0;
    }
    ssize_t send(int socket, int fd, std::uint64_t at, std::size_t bytes) override {
        return fails(on_send) ? -1 : DiskCalls::send(socket, fd, at, bytes);
    }
    int remove(const char* path) override {
        return fails(on_remove) ? -1 : DiskCalls::remove(path);
    }
    int open(const char* path, int flags, unsigned mode) override {
        return fails(on_open) ? -1 : DiskCalls::open(path, flags, mode);
    }
    int sync(int fd) override { return fails(on_sync) ? -1 : DiskCalls::sync(fd); }

private:
    bool fails(const std::atomic<int>& with) {
        if (with == 0 || failures_left <= 0) return false;
        --failures_left;
        errno = with;
        return true;
    }
};

}  // namespace proxy::test
