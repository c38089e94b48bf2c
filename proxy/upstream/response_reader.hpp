#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/read_buffer.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Takes the heads and the body of one response out of the buffer of its connection. Without I/O;
/// one thread.
class ResponseReader {
public:
    explicit ResponseReader(const HeadLimits& limits) : limits_(limits) {}

    /// The response to another request begins.
    void begin() { interim_bytes_ = 0; }

    /// A call of take_head() on `buffer` would return another result than `more`, as far as the
    /// length of the head decides it. `scanned` carries the position between calls.
    bool has_head(const base::ReadBuffer& buffer, std::size_t& scanned) const;
    enum class Step { more, head, malformed };
    /// Takes the next head, which may be an interim one (RFC 9110 §15.2). One limit holds for all
    /// heads of a response together. `to_head`: it answers HEAD, so no body follows. `is_mended`:
    /// mend_response_head() may correct its faults.
    Step take_head(base::ReadBuffer& buffer, std::size_t& scanned, bool to_head, bool is_mended);

    /// The last head. Its fields view this object, or what replaces them.
    Head& head() { return head_; }
    const Head& head() const { return head_; }

    /// Decodes bytes of the body at the front of `buffer` into pieces(), which view them until
    /// drop_pieces(). Adds their number to `counter`, which may be null. False: malformed.
    bool decode(const base::ReadBuffer& buffer, std::uint64_t* counter);
    void drop_pieces(base::ReadBuffer& buffer);
    std::vector<std::string_view>& pieces() { return pieces_; }
    const std::vector<std::string_view>& pieces() const { return pieces_; }
    /// A chunk line or trailer that never ends: more of it than a head may have has come.
    bool is_stuck(const base::ReadBuffer& buffer) const {
        return buffer.size() > limits_.head_bytes;
    }
    /// The connection has ended. True if the response is complete by it.
    bool finish_at_end() { return parser_->finish_at_eof(); }

    /// The body ended as its framing said.
    bool is_done() const { return parser_ && parser_->is_done(); }
    /// A head has come, and not all of the body.
    bool is_partial() const { return parser_ && !parser_->is_done(); }
    /// The connection can carry another request after this response.
    bool keep_alive() const { return parser_ && parser_->keep_alive(); }
    /// The framing shows the end of the body: a length, chunks, or no body.
    bool has_framing() const { return parser_ && !parser_->need_eof(); }
    std::optional<std::uint64_t> content_length() const;
    /// It answers HEAD, and its head announces a body.
    bool announces_a_body() const;

    /// The fault of a malformed response.
    ParseError malformed() const { return malformed_; }
    FetchError refuse(ParseError fault) {
        malformed_ = fault;
        return FetchError::malformed;
    }

private:
    ParseError parse_head(bool to_head);

    const HeadLimits limits_;
    std::string head_bytes_;  // viewed by head_, as the buffer moves on
    Head head_;
    std::optional<ResponseParser> parser_;
    std::size_t interim_bytes_ = 0;
    std::vector<std::string_view> pieces_;
    std::size_t pending_ = 0;  // bytes at the front of the buffer that pieces_ still view
    ParseError malformed_ = ParseError::ok;
};

}  // namespace proxy
