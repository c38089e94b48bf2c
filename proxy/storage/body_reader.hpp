#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/async/wakeup.hpp"
#include "proxy/storage/body.hpp"
#include "proxy/storage/disk_body_reader.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// Reads a body from start to end, from the memory of the store, from the disk, or from a
/// fill. The place of a body stays hidden from its sender; a further place becomes a further
/// alternative here. One thread. It allocates memory only for a body on the disk.
class BodyReader {
public:
    /// Reads a stored response, which must outlive this object. `wakeup` is notified when bytes
    /// have come that peek() lacked; bytes in memory are there from the start. `windows`, which
    /// must outlive this object, is charged for bytes between the disk and the client.
    BodyReader(const StoredResponse& response, const std::shared_ptr<base::Wakeup>& wakeup,
               base::MemoryBudget& windows) {
        const auto& body = *response.body;
        if (body.on_disk())
            from_ = std::make_unique<DiskBodyReader>(body.on_disk(), wakeup, windows);
        else
            from_ = Stored{&body};
    }
    /// Reads the body that `reader` follows, from its position on. `reader` must outlive this
    /// object, and its wakeup is notified.
    explicit BodyReader(Fill::Reader& reader) : from_(&reader) {}

    /// Appends buffers from the present position on to `out`, within both limits, or names a file
    /// that has the bytes. They stay valid until consume().
    BodyPiece peek(std::uint64_t max_bytes, std::size_t max_buffers,
                   std::vector<boost::asio::const_buffer>& out) const {
        if (const auto* stored = std::get_if<Stored>(&from_)) {
            BodyPiece piece;
            piece.bytes = stored->body->view(stored->offset, std::min(max_bytes, kMaxStoredBytes),
                                             max_buffers, out);
            piece.end = stored->offset + piece.bytes >= stored->body->size();
            return piece;
        }
        if (const auto* on_disk = std::get_if<OnDisk>(&from_))
            return (*on_disk)->peek(max_bytes, out);
        return std::get<Fill::Reader*>(from_)->peek(
            std::min<std::uint64_t>(max_bytes, kBodyBlockBytes), max_buffers, out);
    }
    /// Advances by so many bytes, sent or skipped.
    void consume(std::uint64_t bytes) {
        if (auto* stored = std::get_if<Stored>(&from_))
            stored->offset += bytes;
        else if (auto* on_disk = std::get_if<OnDisk>(&from_))
            (*on_disk)->consume(bytes);
        else
            std::get<Fill::Reader*>(from_)->consume(bytes);
    }
    /// The reader of a fill, if it reads one; else null.
    Fill::Reader* of_fill() const {
        const auto* reader = std::get_if<Fill::Reader*>(&from_);
        return reader ? *reader : nullptr;
    }
    /// Makes peek() return bytes in place of files, because the bytes must be framed or enciphered,
    /// or a send from the file has failed.
    void give_bytes_only() {
        if (auto* on_disk = std::get_if<OnDisk>(&from_)) (*on_disk)->give_bytes_only();
    }

private:
    /// The most that goes out at once from a complete body. From a fill it is a piece, because the
    /// room for the next bytes is made when these are taken.
    static constexpr std::uint64_t kMaxStoredBytes = 1024 * 1024;

    struct Stored {
        const Body* body;
        std::uint64_t offset = 0;
    };
    using OnDisk = std::unique_ptr<DiskBodyReader>;
    std::variant<Stored, Fill::Reader*, OnDisk> from_{Stored{nullptr}};
};

}  // namespace proxy
