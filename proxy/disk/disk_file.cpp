#include "proxy/disk/disk_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

namespace proxy {
namespace {

/// Repeats the call while a signal interrupts it.
template <class Call>
boost::system::error_code repeated(Call call) {
    while (call() != 0)
        if (errno != EINTR) return last_error();
    return {};
}

}  // namespace

DiskResult<DiskFile> DiskFile::open(DiskCalls& calls, const std::filesystem::path& path,
                                    int flags) {
    const int fd = calls.open(path.c_str(), flags, 0640);
    if (fd < 0) return last_error();
    return DiskFile(calls, fd);
}

boost::system::error_code DiskFile::write(std::span<const iovec> parts, std::uint64_t at) const {
    std::vector<iovec> left(parts.begin(), parts.end());
    for (std::size_t first = 0; first < left.size();) {
        const auto count = std::min<std::size_t>(left.size() - first, IOV_MAX);
        const auto done = calls_->write(fd_, std::span(left).subspan(first, count), at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return last_error();
        auto bytes = static_cast<std::size_t>(done);
        at += bytes;
        bool moved = bytes > 0;
        for (; first < left.size() && bytes >= left[first].iov_len; ++first) {
            bytes -= left[first].iov_len;
            moved = true;
        }
        if (!moved) return of_system(EIO);  // otherwise the loop would not end
        if (bytes == 0) continue;
        left[first].iov_base = static_cast<char*>(left[first].iov_base) + bytes;
        left[first].iov_len -= bytes;
    }
    return {};
}

boost::system::error_code DiskFile::write(DiskView bytes, std::uint64_t at) const {
    const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    return write({&part, 1}, at);
}

DiskResult<std::size_t> DiskFile::read_some(std::span<std::byte> into, std::uint64_t at) const {
    std::size_t got = 0;
    while (got < into.size()) {
        const auto done = calls_->read(fd_, into.subspan(got), at + got);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return last_error();
        if (done == 0) break;
        got += static_cast<std::size_t>(done);
    }
    return got;
}

boost::system::error_code DiskFile::read(std::span<std::byte> into, std::uint64_t at) const {
    const auto got = read_some(into, at);
    if (!got) return got.error();
    if (*got < into.size()) return DiskError::cut_off;
    return {};
}

bool DiskFile::read_now(std::span<std::byte> into, std::uint64_t at) const {
    return calls_->read_now(fd_, into, at) == static_cast<ssize_t>(into.size());
}

bool DiskFile::is_cached(std::uint64_t at, std::uint64_t bytes) const {
    static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (bytes == 0) return true;
    const auto pages = (at + bytes - 1) / kPage - at / kPage + 1;
    return calls_->cached_pages(fd_, at, bytes) == static_cast<ssize_t>(pages);
}

void DiskFile::read_nothing_ahead() const {
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);  // slower at worst
}

bool DiskFile::is_removed() const {
    struct stat found {};
    return fd_ >= 0 && ::fstat(fd_, &found) == 0 && found.st_nlink == 0;
}

DiskResult<std::uint64_t> DiskFile::size() const {
    struct stat found {};
    if (::fstat(fd_, &found) != 0) return last_error();
    return static_cast<std::uint64_t>(found.st_size);
}

boost::system::error_code DiskFile::reserve(std::uint64_t bytes) const {
    return repeated([&] { return calls_->reserve(fd_, bytes); });
}

boost::system::error_code DiskFile::sync() const {
    return repeated([&] { return calls_->sync(fd_); });
}

boost::system::error_code remove_file(DiskCalls& calls, const std::filesystem::path& path) {
    if (calls.remove(path.c_str()) == 0 || errno == ENOENT) return {};
    return last_error();
}

DiskResult<DiskBytes> content_of(DiskCalls& calls, const std::filesystem::path& path,
                                 std::uint64_t most) {
    const auto file = DiskFile::open(calls, path, O_RDONLY);
    if (!file) return file.error();
    const auto size = file->size();
    if (!size) return size.error();
    if (*size > most) return DiskError::too_large;
    DiskBytes bytes(*size);
    const auto got = file->read_some(bytes, 0);
    if (!got) return got.error();
    bytes.resize(*got);
    return bytes;
}

DiskResult<DiskFile> replace_file(DiskCalls& calls, const std::filesystem::path& path,
                                  DiskView content) {
    auto fresh = path;
    fresh += ".new";
    auto file = DiskFile::open(calls, fresh, O_RDWR | O_CREAT | O_TRUNC);
    if (!file) return file.error();
    if (const auto error = file->write(content, 0)) return error;
    if (const auto error = file->sync()) return error;
    std::error_code error;
    std::filesystem::rename(fresh, path, error);
    if (error) return of_system(error.value());
    return file;
}

boost::system::error_code sync_directory(DiskCalls& calls, const std::filesystem::path& directory) {
    const auto opened = DiskFile::open(calls, directory, O_RDONLY | O_DIRECTORY);
    return opened ? opened->sync() : opened.error();
}

}  // namespace proxy
