#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/disk/disk_threads.hpp"
#include "proxy/disk/segment.hpp"

namespace proxy {

/// The body of a record where it stands: in a segment, whose file it keeps open, so that it can be
/// read when the segment has been given back (which frees the room only then). Its bytes have been
/// proved in this process, or were written by it; what the page cache has of them is taken for
/// that, what has to come from the device again is proved again. Any thread, as long as the disk's
/// threads are there; once made, its bytes do not change.
class RecordBody {
public:
    struct Where {
        SegmentPtr segment;
        DiskPlace place;       // of its record, as who asked for that gave it
        std::uint64_t at = 0;  // in the file
        std::uint64_t bytes = 0;
    };
    using Failed = std::function<void(const boost::system::error_code&)>;
    /// `sums`: one checksum for each kSliceBytes. `failed` hears, on one of the threads, why bytes
    /// cannot be had.
    RecordBody(Where where, std::vector<std::uint64_t> sums, DiskThreads& threads, Failed failed)
        : where_(std::move(where)),
          sums_(std::move(sums)),
          threads_(threads),
          failed_(std::move(failed)) {}

    std::uint64_t size() const { return where_.bytes; }
    DiskPlace place() const { return where_.place; }
    std::uint64_t memory_bytes() const { return sizeof *this + sums_.size() * sizeof sums_[0]; }
    /// Is called after `failed`. Whoever made this sets it before others have it.
    void when_spoilt(std::function<void(const RecordBody&)> then) { spoilt_ = std::move(then); }

    // Offsets count from the body's beginning; what is asked for lies within it.

    /// No device has to be waited for. Never while a slice is being read by a thread: its pages are
    /// counted from the moment when they are asked of the device, and are not proved.
    bool is_cached(std::uint64_t offset, std::uint64_t bytes) const {
        return loading_ == 0 && where_.segment->file.is_cached(where_.at + offset, bytes);
    }
    /// All of it if it is_cached(): what the system makes up while it is asked, such as the zeros
    /// where a file has a hole, would not be proved.
    bool read_now(std::span<std::byte> into, std::uint64_t offset) const {
        return is_cached(offset, into.size()) &&
               where_.segment->file.read_now(into, where_.at + offset);
    }
    /// As DiskCalls::send(). May wait for a device unless it is_cached().
    ssize_t send_to(int socket, std::uint64_t offset, std::size_t bytes) const {
        return where_.segment->file.send_to(socket, where_.at + offset, bytes);
    }

    struct Slice {
        std::uint64_t begin = 0, end = 0;
    };
    static constexpr std::uint64_t kSliceBytes = kRecordSliceBytes;
    Slice slice_at(std::uint64_t offset) const;
    using Answer = std::function<void(DiskResult<DiskBytes>)>;
    /// `answer` is called once, on one of the threads, with the slice that holds `offset`; post
    /// from there. Not at all, and nothing is read, when `asker` has gone before its turn. Bounded
    /// by who asks: one slice for each that is being sent.
    void read_slice(std::shared_ptr<const RecordBody> self, std::uint64_t offset,
                    std::weak_ptr<const void> asker, Answer answer) const;

private:
    DiskResult<DiskBytes> load(Slice slice) const;

    Where where_;
    std::vector<std::uint64_t> sums_;
    DiskThreads& threads_;
    Failed failed_;
    std::function<void(const RecordBody&)> spoilt_;
    mutable std::atomic<unsigned> loading_{0};  // slices, by threads
};

}  // namespace proxy
