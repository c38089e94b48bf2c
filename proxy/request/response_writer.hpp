#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory/kept_memory.hpp"
#include "proxy/http/field_block.hpp"
#include "proxy/storage/body.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// The head of one response, apart from the fields that belong to this response alone
/// (ResponseWriter::fields()).
struct ResponseHead {
    unsigned status = 0;
    /// Fields of the stored response. Their text must stay until the head has gone out.
    FieldBlock stored = {};
    /// The length of the body as the head states it. Empty: the length is unknown, or not stated.
    std::optional<std::uint64_t> length = {};
    /// False: no body follows, as after HEAD or with a 304.
    bool has_body = true;
};

/// The seam between a response and its transport. The code above the seam states a status, fields
/// and body bytes; an implementation renders them for its transport, waits for the client with
/// deadlines, and counts the bytes of the body as they go out. One object serves the responses of a
/// client one after the other, so its buffers are reused. One thread, one coroutine at a time.
///
/// A response is: fields(), begin(), then for each piece of the body next_piece() and write_now().
/// Interim responses may come before begin(). A response has no trailers, because the parser drops
/// those of upstreams (RFC 9110 §6.5.1). The transport breaks off a response that is not complete()
/// when its request ends, in a way that the client notices.
class ResponseWriter {
public:
    virtual ~ResponseWriter() = default;

    /// Text of a FieldBlock: the fields of this response alone, which the caller appends before
    /// begin(). Empty at the start of each response.
    std::string& fields() { return fields_; }

    /// States the head, which goes out with the first piece.
    virtual void begin(const ResponseHead& head) = 0;

    /// Where the caller appends views of the next bytes of the body, kMaxBuffers at most. They stay
    /// valid until write_now() or write_rest() reports them gone.
    virtual std::vector<boost::asio::const_buffer>& next_piece() = 0;
    static constexpr std::size_t kMaxBuffers = 56;

    enum class Progress : std::uint8_t {
        all,         // the client's connection took the head and the piece
        blocked,     // it took less: write_rest() waits, and says if the client is gone
        unreadable,  // the bytes in the piece's file cannot be read
    };
    /// Writes as much as goes out without waiting. `piece` describes the views that were appended,
    /// or a part of a file; of a file, `piece.bytes` becomes what has gone out. An empty piece
    /// writes the head alone. `piece.end` ends a body without a stated length.
    virtual Progress write_now(BodyPiece& piece) = 0;
    /// Waits until the rest of the piece has gone out; of a file, until the client takes more.
    /// False: the client is gone, or takes less than limits.client_rate_min. `reader`: the reader
    /// of the piece's fill, whose other readers are not to wait for long (SharedPace); or null.
    virtual boost::asio::awaitable<bool> write_rest(const Fill::Reader* reader) = 0;
    /// Both: true when all of the piece, which is no file, has gone out.
    boost::asio::awaitable<bool> write(BodyPiece piece);

    /// Sends an interim response, if the client's version has them.
    virtual boost::asio::awaitable<void> interim(unsigned status, FieldBlock fields) = 0;
    /// A piece may name a file.
    virtual bool takes_files() const = 0;
    /// All of the response has gone out.
    virtual bool complete() const = 0;
    /// A look at the client, for a caller that waits for something else: has it left?
    virtual bool client_has_left() = 0;
    /// Bytes that have gone to the client's connection, and those of them that the client has
    /// taken. Only differences count, within one response.
    virtual std::int64_t given() const = 0;
    virtual std::int64_t taken() = 0;
    /// Bytes that have gone out for this response, heads and framing included.
    virtual std::uint64_t sent_bytes() const = 0;
    /// Of these, bytes of the body.
    std::uint64_t body_bytes() const { return body_bytes_; }

protected:
    std::string fields_;
    std::uint64_t body_bytes_ = 0;
};

}  // namespace proxy
