#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace proxy {

/// A file without a name: it ends with its last descriptor or mapping, also after a kill. One
/// thread. Calls block on the disk.
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
    std::error_code read(std::string& out) const;

    bool is_open() const { return fd_ >= 0; }
    int descriptor() const { return fd_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    int fd_ = -1;
    std::uint64_t bytes_ = 0;
};

/// The content of a file, mapped for reading. Any thread.
///
/// The pages that a look-up touches become resident. release() bounds them: it gives them back to
/// the page cache. A device that fails to read a page ends the process (SIGBUS).
class FileMapping {
public:
    FileMapping() = default;
    ~FileMapping();
    FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    FileMapping& operator=(FileMapping&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    /// Maps the file, which stays when its descriptor is closed. An empty file has no mapping.
    std::error_code map(const UnlinkedFile& file);
    std::string_view bytes() const { return bytes_; }
    void release() const;

private:
    std::string_view bytes_;
};

}  // namespace proxy
