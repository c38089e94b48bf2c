#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace proxy {

/// A file without a name: it ends with its descriptor, also after a kill. One thread writes, and
/// calls block on the disk.
class UnlinkedFile {
public:
    UnlinkedFile() = default;
    ~UnlinkedFile();
    UnlinkedFile(UnlinkedFile&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), bytes_(std::exchange(other.bytes_, 0)) {}
    UnlinkedFile& operator=(UnlinkedFile&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    /// Opens an empty file in the folder, in place of the present one.
    std::error_code open(const std::filesystem::path& folder);
    std::error_code append(std::string_view bytes);
    /// Appends the whole content to `out`.
    std::error_code read(std::string& out) const { return read(0, bytes_, out); }
    /// Appends `size` bytes from `at` on. A file that has lost them gives an error. Any number of
    /// threads.
    std::error_code read(std::uint64_t at, std::size_t size, std::string& out) const;

    bool is_open() const { return fd_ >= 0; }
    std::uint64_t bytes() const { return bytes_; }

private:
    int fd_ = -1;
    std::uint64_t bytes_ = 0;
};

}  // namespace proxy
