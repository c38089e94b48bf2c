#pragma once

#include <filesystem>
#include <span>
#include <utility>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/disk_calls.hpp"
#include "proxy/disk/disk_error.hpp"

namespace proxy {

/// An open file; the destructor closes it. Any thread may read. `calls` must outlive it.
class DiskFile {
public:
    DiskFile() = default;
    DiskFile(DiskFile&& other) noexcept : calls_(other.calls_), fd_(std::exchange(other.fd_, -1)) {}
    DiskFile& operator=(DiskFile&& other) noexcept {
        std::swap(calls_, other.calls_);
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~DiskFile() {
        if (fd_ >= 0) calls_->close(fd_);
    }

    /// `flags` as of open(2).
    static DiskResult<DiskFile> open(DiskCalls& calls, const std::filesystem::path& path,
                                     int flags);

    /// Writes all of it, or returns an error.
    boost::system::error_code write(std::span<const iovec> parts, std::uint64_t at) const;
    boost::system::error_code write(DiskView bytes, std::uint64_t at) const;
    /// Reads the available bytes; fewer than requested only at the end of the file.
    DiskResult<std::size_t> read_some(std::span<std::byte> into, std::uint64_t at) const;
    /// Reads all of it; cut_off if the file ends before.
    boost::system::error_code read(std::span<std::byte> into, std::uint64_t at) const;
    /// Reads all of it if the page cache has it.
    bool read_now(std::span<std::byte> into, std::uint64_t at) const;
    /// read_now() would succeed. False if the system cannot tell.
    bool is_cached(std::uint64_t at, std::uint64_t bytes) const;
    /// As DiskCalls::send().
    ssize_t send_to(int socket, std::uint64_t at, std::size_t bytes) const {
        return calls_->send(socket, fd_, at, bytes);
    }
    /// Switches off read-ahead: the device then delivers only requested pages.
    void read_nothing_ahead() const;
    DiskResult<std::uint64_t> size() const;
    /// The file has lost its name.
    bool is_removed() const;
    boost::system::error_code reserve(std::uint64_t bytes) const;
    boost::system::error_code sync() const;
    int fd() const { return fd_; }

private:
    DiskFile(DiskCalls& calls, int fd) : calls_(&calls), fd_(fd) {}

    DiskCalls* calls_ = nullptr;
    int fd_ = -1;
};

/// Succeeds also if the file is absent.
boost::system::error_code remove_file(DiskCalls& calls, const std::filesystem::path& path);
/// The content of a file. Errors: too_large, beyond `most` bytes; those of the system.
DiskResult<DiskBytes> content_of(DiskCalls& calls, const std::filesystem::path& path,
                                 std::uint64_t most);
/// Gives the file this content, and returns it open. The device gets the content under another name
/// first, so after a crash the file has the former content or this.
DiskResult<DiskFile> replace_file(DiskCalls& calls, const std::filesystem::path& path,
                                  DiskView content);
/// Waits until the device has the names in this directory.
boost::system::error_code sync_directory(DiskCalls& calls, const std::filesystem::path& directory);

}  // namespace proxy
