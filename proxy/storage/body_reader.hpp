#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "proxy/net/wakeup.hpp"
#include "proxy/storage/body.hpp"
#include "proxy/storage/disk_body_reader.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// Reads one body from its beginning to its end, whatever holds it: the memory of the store, the
/// disk, or a fill that is under way. This is all that whoever sends a body knows of where it
/// stands: a further place is a further alternative here, and none that asks. One thread; but for
/// what stands on the disk it allocates nothing.
class BodyReader {
public:
    /// Of what is stored, which must outlive this. `wakeup` is notified when bytes have come for
    /// which peek() let its caller wait; those in memory are there from the start. `windows`, which
    /// must outlive this, is charged for what is read from the disk and not sent yet.
    BodyReader(const StoredResponse& response, const std::shared_ptr<Wakeup>& wakeup,
               MemoryBudget& windows) {
        const auto& body = *response.body;
        if (body.on_disk())
            from_ = std::make_unique<DiskBodyReader>(body.on_disk(), wakeup, windows);
        else
            from_ = Stored{&body};
    }
    /// Of what is being fetched, from where `reader` is, which must outlive this; its wakeup is
    /// notified.
    explicit BodyReader(Fill::Reader& reader) : from_(&reader) {}

    /// Appends buffers to `out` that hold the bytes from the present position on, at most so many
    /// of both, or names a file that has them; they stay valid until consume().
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
    /// Goes on by so many bytes, be they sent or left out.
    void consume(std::uint64_t bytes) {
        if (auto* stored = std::get_if<Stored>(&from_))
            stored->offset += bytes;
        else if (auto* on_disk = std::get_if<OnDisk>(&from_))
            (*on_disk)->consume(bytes);
        else
            std::get<Fill::Reader*>(from_)->consume(bytes);
    }
    /// From now on peek() names no file: the bytes are to be framed or enciphered, or could not be
    /// sent from there.
    void give_bytes_only() {
        if (auto* on_disk = std::get_if<OnDisk>(&from_)) (*on_disk)->give_bytes_only();
    }

private:
    /// What goes out at once of a body that is there; of one that is being fetched it is a block,
    /// as room is made for more when bytes were taken.
    static constexpr std::uint64_t kMaxStoredBytes = 4 * 1024 * 1024;

    struct Stored {
        const Body* body;
        std::uint64_t offset = 0;
    };
    using OnDisk = std::unique_ptr<DiskBodyReader>;
    std::variant<Stored, Fill::Reader*, OnDisk> from_{Stored{nullptr}};
};

}  // namespace proxy
