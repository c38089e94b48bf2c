#pragma once

#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/storage/memory.hpp"

namespace proxy {

inline constexpr std::size_t kBodyBlockBytes = 256 * 1024;
inline constexpr std::size_t kFirstBlockBytes =
    4 * 1024;  // when the length is not known beforehand

class RecordBody;

/// What of a body can be sent now. With no bytes, and neither `end` nor `failed`, the next ones
/// have to be waited for.
struct BodyPiece {
    std::uint64_t bytes = 0;
    std::uint64_t peer_bytes = 0;  // the first of them, which a peer gave
    bool end = false;              // after these bytes the body is complete
    bool failed = false;           // no more will come: cut the client's connection
    /// If set, the bytes stand in no buffer but here, from file_offset on, and the page cache has
    /// just had them.
    const RecordBody* file = nullptr;
    std::uint64_t file_offset = 0;
};

/// The bytes of a stored body, in blocks that never move, or left where they stand on the disk.
/// While it grows it belongs to its Fill, whose mutex guards it; once complete it is immutable and
/// may be read by any thread without a lock.
class Body {
public:
    Body() = default;
    /// All of it stands there; view() has nothing of it.
    explicit Body(std::shared_ptr<const RecordBody> on_disk);
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    std::uint64_t size() const { return size_; }
    /// Null: it is in memory.
    const std::shared_ptr<const RecordBody>& on_disk() const { return on_disk_; }
    /// What its blocks take there, what is free in them included: as much as was paid for them.
    std::uint64_t memory_bytes() const;
    /// Bytes at the start that were dropped after all readers passed them (never so for stored
    /// bodies).
    std::uint64_t dropped() const { return dropped_; }
    /// Bytes that append() takes without a new block.
    std::size_t room() const {
        return blocks_.empty() ? 0 : blocks_.back().capacity - blocks_.back().used;
    }

    /// How large the next block should be; `remaining` is what is still to come, if known (else 0).
    std::size_t next_block_bytes(std::uint64_t remaining) const;
    /// Adds an empty block of `capacity` bytes, paid for by `charge`.
    void add_block(std::size_t capacity, Charge charge);
    /// Copies as much of `data` as room() allows; returns how much.
    std::size_t append(std::string_view data);

    /// Drops whole blocks in front of `offset`.
    void drop_before(std::uint64_t offset);

    /// Appends to `out` what there is from `offset` on, at most `max_bytes` and `max_buffers`;
    /// returns the bytes.
    std::uint64_t view(std::uint64_t offset, std::uint64_t max_bytes, std::size_t max_buffers,
                       std::vector<boost::asio::const_buffer>& out) const;

private:
    struct Block {
        std::unique_ptr<char[]> data;
        std::size_t capacity = 0;
        std::size_t used = 0;
        Charge charge;
    };

    std::vector<Block> blocks_;
    std::uint64_t size_ = 0;
    std::uint64_t dropped_ = 0;
    std::shared_ptr<const RecordBody> on_disk_;
};

}  // namespace proxy
