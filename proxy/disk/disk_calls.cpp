#include "proxy/disk/disk_calls.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace proxy {

int DiskCalls::open(const char* path, int flags, unsigned mode) {
    return ::open(path, flags | O_CLOEXEC, mode);
}

int DiskCalls::close(int fd) {
    return ::close(fd);
}

int DiskCalls::reserve(int fd, std::uint64_t bytes) {
    const auto length = static_cast<off_t>(bytes);
    if (::fallocate(fd, 0, 0, length) == 0) return 0;
    return errno == EOPNOTSUPP ? ::ftruncate(fd, length) : -1;
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

int DiskCalls::sync(int fd) {
    return ::fdatasync(fd);
}

int DiskCalls::remove(const char* path) {
    return ::unlink(path);
}

}  // namespace proxy
