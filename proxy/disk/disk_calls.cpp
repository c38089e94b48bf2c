#include "proxy/disk/disk_calls.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace proxy {
namespace {

/// The file system, the kernel, or a filter of system calls lacks the call: they say so in
/// different words.
bool is_unsupported(int error) {
    return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

}  // namespace

int DiskCalls::open(const char* path, int flags, unsigned mode) {
    return ::open(path, flags | O_CLOEXEC, mode);
}

int DiskCalls::close(int fd) {
    return ::close(fd);
}

int DiskCalls::reserve(int fd, std::uint64_t bytes) {
    const auto length = static_cast<off_t>(bytes);
    if (::fallocate(fd, 0, 0, length) == 0) return 0;
    return is_unsupported(errno) ? ::ftruncate(fd, length) : -1;
}

ssize_t DiskCalls::write(int fd, std::span<const iovec> parts, std::uint64_t at) {
    return ::pwritev(fd, parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(at));
}

ssize_t DiskCalls::read(int fd, std::span<std::byte> into, std::uint64_t at) {
    return ::pread(fd, into.data(), into.size(), static_cast<off_t>(at));
}

ssize_t DiskCalls::read_now(int fd, std::span<std::byte> into, std::uint64_t at) {
    const iovec part{into.data(), into.size()};
    return ::preadv2(fd, &part, 1, static_cast<off_t>(at), RWF_NOWAIT);
}

ssize_t DiskCalls::send(int socket, int fd, std::uint64_t at, std::size_t bytes) {
    auto offset = static_cast<off_t>(at);
    return ::sendfile(socket, fd, &offset, bytes);
}

ssize_t DiskCalls::cached_pages(int fd, std::uint64_t at, std::uint64_t bytes) {
    // <linux/mman.h> of Debian 12 is older than the call.
    constexpr long kCachestat = 451;
    struct {
        std::uint64_t offset, length;
    } const range{at, bytes};
    struct {
        std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } counts{};
    if (::syscall(kCachestat, fd, &range, &counts, 0u) != 0) return -1;
    return static_cast<ssize_t>(counts.cached);
}

int DiskCalls::sync(int fd) {
    return ::fdatasync(fd) == 0 || is_unsupported(errno) ? 0 : -1;
}

int DiskCalls::remove(const char* path) {
    return ::unlink(path);
}

}  // namespace proxy
