#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/disk/disk_threads.hpp"
#include "proxy/disk/segment.hpp"

namespace proxy {

/// The body of a record in its segment. It keeps the file open, so the body stays readable after
/// the removal of the segment; the room is free after that. This process has verified its bytes or
/// written them. It trusts the page cache, and verifies bytes again that come from the device
/// again. Any thread, while the threads of the disk run.
class RecordBody {
public:
    struct RecordSource {
        SegmentPtr segment;
        RecordLocation place;  // of its record, as the reader asked for it
        std::uint64_t at = 0;  // in the file
        std::uint64_t bytes = 0;
    };
    using Failed = std::function<void(const boost::system::error_code&)>;
    /// `sums` has one checksum for each kSliceBytes. `failed` gets errors of reads, on one of the
    /// threads.
    RecordBody(RecordSource where, std::vector<std::uint64_t> sums, DiskThreads& threads,
               Failed failed)
        : where_(std::move(where)),
          sums_(std::move(sums)),
          threads_(threads),
          failed_(std::move(failed)) {}

    std::uint64_t size() const { return where_.bytes; }
    RecordLocation place() const { return where_.place; }
    std::uint64_t memory_bytes() const { return sizeof *this + sums_.size() * sizeof sums_[0]; }
    /// Called after `failed`. Its maker sets it before others have the object.
    void when_spoilt(std::function<void(const RecordBody&)> then) { spoilt_ = std::move(then); }

    // Offsets count from the start of the body. Precondition: the range lies within it.

    /// The page cache has these bytes. False while a thread reads a slice, as its pages count as
    /// cached before they arrive and are verified.
    bool is_cached(std::uint64_t offset, std::uint64_t bytes) const {
        return loading_ == 0 && where_.segment->file.is_cached(where_.at + offset, bytes);
    }
    /// Reads all of it if it is_cached(). The check excludes bytes that the system invents, such as
    /// the zeros of a hole in a file.
    bool read_now(std::span<std::byte> into, std::uint64_t offset) const {
        return is_cached(offset, into.size()) &&
               where_.segment->file.read_now(into, where_.at + offset);
    }
    /// As DiskCalls::send(). May wait for a device unless is_cached().
    ssize_t send_to(int socket, std::uint64_t offset, std::size_t bytes) const {
        return where_.segment->file.send_to(socket, where_.at + offset, bytes);
    }

    struct Slice {
        std::uint64_t begin = 0, end = 0;
    };
    static constexpr std::uint64_t kSliceBytes = kRecordSliceBytes;
    Slice slice_at(std::uint64_t offset) const;
    using Answer = std::function<void(DiskResult<DiskBytes>)>;
    /// Calls `answer` once, on one of the threads, with the slice around `offset`; the receiver
    /// posts from there. The read is left out if `asker` has gone before its turn. A sender asks
    /// for one slice at a time, which bounds them.
    void read_slice(std::shared_ptr<const RecordBody> self, std::uint64_t offset,
                    std::weak_ptr<const void> asker, Answer answer) const;

private:
    DiskResult<DiskBytes> load(Slice slice) const;

    RecordSource where_;
    std::vector<std::uint64_t> sums_;
    DiskThreads& threads_;
    Failed failed_;
    std::function<void(const RecordBody&)> spoilt_;
    mutable std::atomic<unsigned> loading_{0};  // slices in the hands of threads
};

}  // namespace proxy
