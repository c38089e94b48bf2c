#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace proxy {

/// The system calls of the disk tier: it reads, writes and removes files through them. Each behaves
/// like its system call: it returns -1 and sets errno on failure, and it may transfer fewer bytes
/// than requested. Tests override them to inject faults. Locks, directory listings, renames and
/// hints bypass this class. Any thread.
class DiskCalls {
public:
    virtual ~DiskCalls() = default;

    virtual int open(const char* path, int flags, unsigned mode);
    virtual int close(int fd);
    /// Reserves room for so many bytes from the start of the file, so that a later write cannot
    /// fail for lack of room. A file system that cannot reserve only extends the file.
    virtual int reserve(int fd, std::uint64_t bytes);
    virtual ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at);
    virtual ssize_t read(int fd, std::span<std::byte> into, std::uint64_t at);
    /// Reads the bytes that are available at once. EAGAIN: a device would have to be awaited.
    /// EOPNOTSUPP: the file system cannot decide.
    virtual ssize_t read_now(int fd, std::span<std::byte> into, std::uint64_t at);
    /// Sends from a file to a non-blocking socket, as sendfile(2).
    virtual ssize_t send(int socket, int fd, std::uint64_t at, std::size_t bytes);
    /// Counts the pages of this range that the page cache has. ENOSYS on kernels before 6.5.
    virtual ssize_t cached_pages(int fd, std::uint64_t at, std::uint64_t bytes);
    /// A file system that cannot sync has done all it can.
    virtual int sync(int fd);
    virtual int remove(const char* path);
};

}  // namespace proxy
