#pragma once

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "proxy/http/head.hpp"
#include "proxy/http/plain_head.hpp"

namespace proxy {

/// The reason for which a message is refused, for clients and the log. status_of() in
/// request/error_response.hpp gives the status of a refused request.
enum class ParseError {
    ok,
    malformed,            // other than HTTP/1, without a code of its own below: 400
    unsupported_version,  // HTTP/2 and above: 505
    unsupported_coding,   // a transfer coding other than chunked: 501
    head_too_large,       // more bytes or lines than the limits: 431
    target_too_long,      // 414

    // Malformed messages: 400.
    not_http,
    http2,  // its preface
    bad_line_ending,
    bad_request_line,
    bad_target,
    bad_version,
    bad_status,
    bad_field,
    bad_value,
    folded_line,
    bad_host,
    host_count,
    bad_length,
    bad_framing,
    bad_chunk,
    bad_connection,  // see HopByHop::too_many()
    bad_coding,      // content that does not have the coding that it states
};

std::string_view to_string(ParseError error);  // a part of a sentence

/// The largest length of a body that a message may state: 63 bits.
inline constexpr std::uint64_t kMaxMessageBody = std::numeric_limits<std::int64_t>::max();

/// Judges an incomplete head, so that a caller stops waiting for a head that is already invalid: a
/// request that begins with other bytes than a method (as TLS does), a response other than HTTP, a
/// bare LF after a request line, a request line above its limit. `ok`: wait for more bytes.
ParseError judge_request_start(std::string_view data, const HeadLimits& limits);
ParseError judge_response_start(std::string_view data);

/// Length of the head at the start of `data`, with its empty line; 0 if the end has yet to come. A
/// bare LF ends a line here, too; mend_response_head() then corrects it, or the parser refuses it.
/// `scanned` carries the position between calls on growing data.
std::size_t find_head_end(std::string_view data, std::size_t& scanned);

/// The blanks between a chunk's size and the end of its line.
struct ChunkPadding {
    std::size_t at = 0, count = 0;  // count: 0: there are none
    bool is_last = false;           // the size is 0
};

/// Beast's incremental HTTP/1 parser with stricter rules in its callbacks, for MessageParser.
///
/// Beyond Beast 1.81 it takes blanks behind the size of a chunk in a response, as other recipients
/// do. It refuses (RFC 9112 §2.2 to §7.1): line folding, also in trailers; control
/// characters in values and chunk extensions; transfer codings other than one `chunked`, and in
/// requests of HTTP/1.0 this one, too; lengths and chunk sizes of more than 63 bits; a missing,
/// repeated or malformed Host; a fragment in the target; statuses outside 100 to 599.
template <bool IsRequest>
class BeastParser : public boost::beast::http::basic_parser<IsRequest> {
public:
    using Base = boost::beast::http::basic_parser<IsRequest>;
    using error_code = boost::beast::error_code;

    /// Clears `head` and fills it. `head` outlives the parser.
    BeastParser(Head& head, const HeadLimits& limits);

    /// Parses `bytes`: exactly one head (see find_head_end), in a buffer that stays in place.
    ParseError parse_head(std::string_view bytes);

    /// Feeds body bytes; each decoded piece goes to `sink(string_view)`. Returns the number of
    /// consumed bytes, or nullopt for broken framing. Call it again with the rest and more.
    template <class Sink>
    std::optional<std::size_t> parse_body(std::string_view bytes, Sink&& sink) {
        // A plain pointer keeps the parser independent of the sink's type.
        sink_ = [](void* context, std::string_view piece) {
            (*static_cast<std::remove_reference_t<Sink>*>(context))(piece);
        };
        sink_context_ = &sink;
        return put_body(bytes);
    }

    /// The reason, after a refusal of a head or a body.
    ParseError error() const { return error_; }

    /// Reports the end of the connection. True if the message is complete by it.
    bool finish_at_eof();

    /// Whether the connection can carry another message. False in HTTP/1.0 for a transfer coding,
    /// because that version has none and its sender may mean something else (RFC 9112 §6.1), and
    /// for `close`, whatever else stands beside it (§9.3).
    bool keep_alive() const { return !is_last_ && Base::keep_alive(); }

private:
    using verb = boost::beast::http::verb;
    using field = boost::beast::http::field;
    using string_view = boost::beast::string_view;

    std::optional<std::size_t> put_body(std::string_view bytes);
    std::size_t put_piece(std::string_view bytes, error_code& ec);
    std::size_t put_without_padding(std::string_view bytes, const ChunkPadding& padding,
                                    error_code& ec);
    ParseError judge_chunk_so_far(std::string_view rest) const;
    void fail(ParseError error, error_code& ec);
    std::nullopt_t refuse_body(ParseError error);
    bool folded(const Field& line) const;

    void on_request_impl(verb, string_view method, string_view target, int version,
                         error_code&) override;
    void on_response_impl(int status, string_view reason, int version, error_code&) override;
    void on_field_impl(field, string_view name, string_view value, error_code&) override;
    void on_header_impl(error_code&) override;
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view body, error_code&) override;
    void on_chunk_header_impl(std::uint64_t, string_view extensions, error_code&) override;
    std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override;
    void on_finish_impl(error_code&) override {}

    Head& head_;
    HeadLimits limits_;
    std::string_view bytes_;  // the parsed bytes; Beast keeps a folded value outside of them
    ParseError error_ = ParseError::ok;
    bool in_trailer_ = false;
    bool is_last_ = false;  // as its head says, for which Beast does not look
    unsigned hosts_ = 0;
    unsigned transfer_encodings_ = 0;
    std::size_t trailer_lines_ = 0;
    std::uint64_t chunk_rest_ = 0;  // data still to come of the present chunk
    void (*sink_)(void*, std::string_view) = nullptr;
    void* sink_context_ = nullptr;
};

extern template class BeastParser<true>;
extern template class BeastParser<false>;

/// Parses a head, and then decodes the body as it comes. Heads become views, and a sink gets the
/// pieces of a body without a copy. Each byte is parsed once, or twice where a head is not plain
/// (plain_head.hpp): Beast judges all other heads. One message; one thread.
template <bool IsRequest>
class MessageParser {
public:
    /// parse_head() clears `head` and fills it. `head` outlives the parser.
    MessageParser(Head& head, const HeadLimits& limits) : head_(head), limits_(limits) {}

    /// No body follows, whatever the head says: it answers HEAD. Before parse_head().
    void skip_body() { skips_body_ = true; }
    bool skips_body() const { return skips_body_; }

    /// Parses `bytes`: exactly one head (see find_head_end), in a buffer that stays in place.
    ParseError parse_head(std::string_view bytes);

    /// Feeds body bytes; each decoded piece goes to `sink(string_view)`. Returns the number of
    /// consumed bytes, or nullopt for broken framing. Call it again with the rest and more.
    template <class Sink>
    std::optional<std::size_t> parse_body(std::string_view bytes, Sink&& sink) {
        if (beast_) return beast_->parse_body(bytes, sink);
        const auto piece =
            bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(rest_, bytes.size())));
        if (!piece.empty()) sink(piece);
        rest_ -= piece.size();
        return piece.size();
    }

    /// The reason, after a refusal of a head or a body.
    ParseError error() const { return beast_ ? beast_->error() : ParseError::ok; }

    /// The message has ended.
    bool is_done() const { return beast_ ? beast_->is_done() : rest_ == 0; }

    /// Reports the end of the connection. True if the message is complete by it.
    bool finish_at_eof() { return beast_ ? beast_->finish_at_eof() : rest_ == 0; }

    /// Whether the connection can carry another message. False for a transfer coding in HTTP/1.0,
    /// because that version has none and its sender may mean something else (RFC 9112 §6.1).
    bool keep_alive() const { return beast_ ? beast_->keep_alive() : framing_.keep_alive; }

    /// The end of the connection ends the body.
    bool need_eof() const { return beast_ && beast_->need_eof(); }

    bool chunked() const { return beast_ && beast_->chunked(); }
    /// What Content-Length states.
    std::optional<std::uint64_t> content_length() const;
    /// Whether Content-Length frames the body.
    bool sized() const { return !chunked() && content_length().has_value(); }

private:
    Head& head_;
    HeadLimits limits_;
    bool skips_body_ = false;
    PlainFraming framing_;                         // of a plain head
    std::uint64_t rest_ = 0;                       // of its body
    std::optional<BeastParser<IsRequest>> beast_;  // for a head that is not plain
};

extern template class MessageParser<true>;
extern template class MessageParser<false>;

using RequestParser = MessageParser<true>;
using ResponseParser = MessageParser<false>;

}  // namespace proxy
