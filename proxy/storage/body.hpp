#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory/memory.hpp"

namespace proxy {

inline constexpr std::size_t kBodyBlockBytes = 256 * 1024;
inline constexpr std::size_t kFirstBlockBytes = 4 * 1024;  // for a body of unknown length

class RecordBody;

/// The bytes of a body that can be sent now. With zero bytes, and neither `end` nor `failed`, the
/// sender waits.
struct BodyPiece {
    std::uint64_t bytes = 0;
    std::uint64_t peer_bytes = 0;  // the first of them that came from a peer
    bool end = false;              // after these bytes the body is complete
    bool failed = false;           // the rest is lost: cut the client's connection
    /// If set, the bytes are in this file only, from file_offset on, and the page cache had them
    /// just now.
    const RecordBody* file = nullptr;
    std::uint64_t file_offset = 0;
};

/// The bytes of a stored body: in pieces of memory with fixed addresses, or in place on the disk. A
/// growing body belongs to its Fill, whose mutex guards it. A complete body is immutable, and any
/// thread may read it.
class Body {
public:
    Body() = default;
    /// The body stays on the disk, and view() is empty.
    explicit Body(std::shared_ptr<const RecordBody> on_disk);
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    std::uint64_t size() const { return size_; }
    /// Null if the body is in memory.
    const std::shared_ptr<const RecordBody>& on_disk() const { return on_disk_; }
    /// The memory of its pieces, unused parts included, as it was charged.
    std::uint64_t memory_bytes() const;
    /// Bytes at the start that were dropped after all readers had passed them. Stored bodies keep
    /// all bytes.
    std::uint64_t dropped() const { return dropped_; }
    /// Bytes that append() takes before the next add_block().
    std::size_t room() const {
        return blocks_.empty() ? 0 : blocks_.back().capacity - blocks_.back().used;
    }

    /// The size of the next piece; `remaining` is the rest of the body, or 0 if it is unknown.
    std::size_t next_block_bytes(std::uint64_t remaining) const;
    /// Adds an empty piece of `capacity` bytes, which `charge` pays for.
    void add_block(std::size_t capacity, base::Charge charge);
    /// Copies as much of `data` as room() allows, and returns the number of bytes.
    std::size_t append(std::string_view data);

    /// Drops complete pieces in front of `offset`.
    void drop_before(std::uint64_t offset);

    /// Appends buffers from `offset` on to `out`, with at most `max_bytes` in at most
    /// `max_buffers`. Returns the number of bytes.
    std::uint64_t view(std::uint64_t offset, std::uint64_t max_bytes, std::size_t max_buffers,
                       std::vector<boost::asio::const_buffer>& out) const;

private:
    struct Block {
        std::unique_ptr<char[]> data;
        std::uint32_t capacity = 0;  // at most kBodyBlockBytes
        std::uint32_t used = 0;
        base::Charge charge;
    };

    boost::container::small_vector<Block, 1> blocks_;  // most bodies have one
    std::uint64_t size_ = 0;
    std::uint64_t dropped_ = 0;
    std::shared_ptr<const RecordBody> on_disk_;
};

}  // namespace proxy
