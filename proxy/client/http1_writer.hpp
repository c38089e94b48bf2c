#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/client/client_connection.hpp"
#include "proxy/client/http1_request_reader.hpp"
#include "proxy/request/response_writer.hpp"

namespace proxy {

/// Writes responses as HTTP/1.1 text (RFC 9112): status line, field lines, chunks, and the fields
/// of framing and connection. Head and first bytes of the body leave in one gathered write; stored
/// fields and bodies are sent from where they stand. Connection, reader and request outlive this.
/// One thread.
class Http1Writer final : public ResponseWriter {
public:
    /// `request`: the head of the request at hand, whose version decides about framing.
    Http1Writer(ClientConnection& connection, const Http1RequestReader& reader, const Head& request)
        : connection_(connection), reader_(reader), request_(request) {}

    /// Begins with the response to the next request.
    void start();
    /// The response has gone out, and the connection can carry another request.
    bool may_be_followed() const;

    void begin(const ResponseHead& head) override;
    std::vector<boost::asio::const_buffer>& next_piece() override;
    Progress write_now(BodyPiece& piece) override;
    boost::asio::awaitable<bool> write_rest(const Fill::Reader* reader) override;
    boost::asio::awaitable<void> interim(unsigned status, FieldBlock fields) override;
    bool takes_files() const override { return framing_ != Framing::chunked && !connection_.tls(); }
    bool complete() const override;
    bool client_has_left() override { return connection_.has_left(); }
    std::int64_t given() const override {
        return static_cast<std::int64_t>(connection_.response_bytes());
    }
    std::int64_t taken() override { return connection_.taken(); }
    std::uint64_t sent_bytes() const override { return connection_.response_bytes(); }

    /// Bytes of memory that are kept from response to response.
    std::size_t kept_bytes() const;
    void give_back();

private:
    /// How the end of the body shows (RFC 9112 §6).
    enum class Framing : std::uint8_t {
        length,   // Content-Length, or no body at all
        chunked,  // for HTTP/1.1
        close,    // for HTTP/1.0: the connection's end
    };

    void append_connection_fields(const ResponseHead& head);
    void frame(const BodyPiece& piece);
    bool send_now();
    Progress send_file(BodyPiece& piece);
    void count(std::uint64_t bytes);

    ClientConnection& connection_;
    const Http1RequestReader& reader_;
    const Head& request_;
    Framing framing_ = Framing::length;
    bool begun_ = false;
    bool says_close_ = false;      // the head does
    bool ends_ = false;            // the last piece ends the body
    std::uint64_t expected_ = 0;   // bytes of the body, with Framing::length
    std::uint64_t before_ = 0;     // bytes of head and framing in front of the piece's bytes
    std::uint64_t in_flight_ = 0;  // bytes of the piece that have not gone out
    /// The buffer for the size of the chunk that next_piece() has begun.
    std::optional<std::size_t> chunk_place_;
    unsigned status_of_line_ = 0;
    std::string status_line_;                         // kept while the status is the same
    std::string chunk_;                               // a chunk's size
    std::vector<boost::asio::const_buffer> buffers_;  // not gone yet
};

}  // namespace proxy
