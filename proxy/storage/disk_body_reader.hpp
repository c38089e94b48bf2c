#pragma once

#include <boost/asio/buffer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/async/wakeup.hpp"
#include "base/memory/memory.hpp"
#include "proxy/disk/record_body.hpp"
#include "proxy/storage/body.hpp"

namespace proxy {

/// Reads a body that stays on the disk, a slice of RecordBody::kSliceBytes at a time. Bytes in the
/// page cache are sent from there, or copied if a caller requires bytes. The threads of the disk
/// read and verify all others, so its own thread only polls. The bytes between reading and sending
/// are charged as read-ahead; in a full budget it keeps kUncharged of them. One thread.
class DiskBodyReader {
public:
    static constexpr std::uint64_t kUncharged = 16 * 1024;

    /// `wakeup` is notified when a slice was read that peek() lacked. `windows`, which must outlive
    /// this object, is charged.
    DiskBodyReader(std::shared_ptr<const RecordBody> body, std::shared_ptr<base::Wakeup> wakeup,
                   base::MemoryBudget& windows)
        : body_(std::move(body)), wakeup_(std::move(wakeup)), windows_(windows) {}

    /// As in BodyReader.
    BodyPiece peek(std::uint64_t max_bytes, std::vector<boost::asio::const_buffer>& out);
    void consume(std::uint64_t bytes) { offset_ += bytes; }
    void give_bytes_only() { bytes_only_ = true; }

private:
    /// A read in the hands of a thread, which may end after its reader has gone.
    struct Reading {
        explicit Reading(std::uint64_t from) : begin(from) {}
        const std::uint64_t begin;  // of the slice; the reader may have moved on meanwhile
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
    std::shared_ptr<base::Wakeup> wakeup_;
    base::MemoryBudget& windows_;
    std::uint64_t offset_ = 0;
    bool bytes_only_ = false;
    base::Charge charge_;  // for bytes_
    DiskBytes bytes_;      // of the body from bytes_at_ on
    std::uint64_t bytes_at_ = 0;
    std::shared_ptr<Reading> reading_;
};

}  // namespace proxy
