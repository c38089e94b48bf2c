#pragma once

#include <boost/asio/buffer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "proxy/disk/record_body.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/storage/body.hpp"
#include "proxy/storage/memory.hpp"

namespace proxy {

/// Reads a body that is left where it stands on the disk, a slice of RecordBody::kSliceBytes at a
/// time: what the page cache has can be sent from there, or is copied if bytes are wanted; all else
/// is read, and proved, by the disk's threads. The bytes that it holds while they are sent are
/// charged as what is read ahead is; where there is no room, it holds kUncharged of them. One
/// thread; it never waits for a device.
class DiskBodyReader {
public:
    static constexpr std::uint64_t kUncharged = 16 * 1024;

    /// `wakeup` is notified when a slice for which peek() let its caller wait was read.
    /// `windows`, which must outlive this, is charged.
    DiskBodyReader(std::shared_ptr<const RecordBody> body, std::shared_ptr<Wakeup> wakeup,
                   MemoryBudget& windows)
        : body_(std::move(body)), wakeup_(std::move(wakeup)), windows_(windows) {}

    /// As BodyReader has them.
    BodyPiece peek(std::uint64_t max_bytes, std::vector<boost::asio::const_buffer>& out);
    void consume(std::uint64_t bytes) { offset_ += bytes; }
    void give_bytes_only() { bytes_only_ = true; }

private:
    /// By a thread of the disk, which may be done when nobody wants it any more.
    struct Reading {
        explicit Reading(std::uint64_t from) : begin(from) {}
        const std::uint64_t begin;  // of the slice; whoever asked may have gone on meanwhile
        std::mutex mutex;
        std::optional<DiskResult<DiskBytes>> answer;
    };
    bool have(std::uint64_t offset) const {
        return offset >= bytes_at_ && offset - bytes_at_ < bytes_.size();
    }
    std::uint64_t make_room(std::uint64_t bytes);
    bool read_now(std::uint64_t bytes);
    void let_go();
    void ask();
    enum class Came { no, yes, failed };
    Came take();

    std::shared_ptr<const RecordBody> body_;
    std::shared_ptr<Wakeup> wakeup_;
    MemoryBudget& windows_;
    std::uint64_t offset_ = 0;
    bool bytes_only_ = false;
    Charge charge_;    // for bytes_
    DiskBytes bytes_;  // of the body from bytes_at_ on
    std::uint64_t bytes_at_ = 0;
    std::shared_ptr<Reading> reading_;
};

}  // namespace proxy
