#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace proxy {

/// The calls by which the disk tier reads, writes and removes files, each as the system has it: -1
/// and errno when it fails, less than asked for is possible. Here they are the system's own; tests
/// put faults between. (Locks, listings, names and hints do not go by them.) Any thread.
class DiskCalls {
public:
    virtual ~DiskCalls() = default;

    virtual int open(const char* path, int flags, unsigned mode);
    virtual int close(int fd);
    /// Room for so many bytes from the beginning, so that writing there cannot fail for lack of it.
    /// File systems that cannot promise only get the length.
    virtual int reserve(int fd, std::uint64_t bytes);
    virtual ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at);
    virtual ssize_t read(int fd, std::span<std::byte> into, std::uint64_t at);
    /// Only what can be had without waiting for a device; EAGAIN when nothing, EOPNOTSUPP where
    /// the file system cannot tell.
    virtual ssize_t read_now(int fd, std::span<std::byte> into, std::uint64_t at);
    /// From a file to a socket that does not block, as sendfile(2).
    virtual ssize_t send(int socket, int fd, std::uint64_t at, std::size_t bytes);
    /// How many of the pages that hold these bytes the page cache has; ENOSYS on kernels
    /// before 6.5.
    virtual ssize_t cached_pages(int fd, std::uint64_t at, std::uint64_t bytes);
    virtual int sync(int fd);
    virtual int remove(const char* path);
};

}  // namespace proxy
