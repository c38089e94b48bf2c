#include "proxy/http/message_parser.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstring>
#include <functional>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxChunkExtensionBytes = 1024;
constexpr std::size_t kMaxChunkLineBytes = 2048;  // until its end arrives

bool names_close(const Field& connection) {
    FieldMembers options({&connection, 1}, http::field::connection);
    while (const auto option = options.next())
        if (iequals(*option, "close")) return true;
    return false;
}

/// RFC 9112 §6.1: a value that ends in another coding than `chunked`, or has it twice, makes the
/// framing unreliable. Other codings are unimplemented.
ParseError judge_transfer_encoding(std::string_view value) {
    std::size_t members = 0;
    for (;; ++members) {
        const auto comma = value.find(',');
        const auto member = trim(value.substr(0, comma));
        const auto last = comma == std::string_view::npos;
        if (member.empty() || iequals(member, "chunked") != last) return ParseError::bad_framing;
        if (last) break;
        value.remove_prefix(comma + 1);
    }
    return members == 0 ? ParseError::ok : ParseError::unsupported_coding;
}

/// The major version at the end of a request line, if it is a number other than 1.
bool has_other_major_version(std::string_view line) {
    constexpr std::string_view kForm = " HTTP/d.d\r";
    if (line.size() < kForm.size()) return false;
    const auto end = line.substr(line.size() - kForm.size());
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return end.starts_with(" HTTP/") && digit(end[6]) && end[6] != '1' && end[7] == '.' &&
           digit(end[8]) && end[9] == '\r';
}

/// The connection preface of HTTP/2 (RFC 9113 §3.4), which looks like a request.
constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n";

/// Whether a line of `data` ends without CR.
bool first_line_ends_badly(std::string_view data, std::size_t line) {
    return line < data.size() && (line == 0 || data[line - 1] != '\r');
}

/// `bytes` begin with the line of a chunk, or with the CR LF before it.
ChunkPadding chunk_padding(std::string_view bytes) {
    const std::size_t begin = bytes.starts_with("\r\n") ? 2 : 0;
    const auto at = bytes.find_first_not_of("0123456789abcdefABCDEF", begin);
    if (at == std::string_view::npos || at == begin || (bytes[at] != ' ' && bytes[at] != '\t'))
        return {};
    const auto end = std::min(bytes.find_first_not_of(" \t", at), bytes.size());
    if (end < bytes.size() && bytes[end] != '\r') return {};  // an extension, or a fault
    const auto size = bytes.substr(begin, at - begin);
    return {at, end - at, size.find_first_not_of('0') == std::string_view::npos};
}

/// The error for a complaint of Beast.
ParseError named(const boost::system::error_code& ec) {
    const auto is = [&](http::error error) { return ec == error; };
    if (is(http::error::bad_line_ending)) return ParseError::bad_line_ending;
    if (is(http::error::bad_method)) return ParseError::bad_request_line;
    if (is(http::error::bad_target)) return ParseError::bad_target;
    if (is(http::error::bad_version)) return ParseError::bad_version;
    if (is(http::error::bad_status) || is(http::error::bad_reason)) return ParseError::bad_status;
    if (is(http::error::bad_field)) return ParseError::bad_field;
    if (is(http::error::bad_value)) return ParseError::bad_value;
    if (is(http::error::bad_obs_fold)) return ParseError::folded_line;
    if (is(http::error::bad_content_length) || is(http::error::multiple_content_length))
        return ParseError::bad_length;
    if (is(http::error::bad_transfer_encoding)) return ParseError::bad_framing;
    if (is(http::error::bad_chunk) || is(http::error::bad_chunk_extension))
        return ParseError::bad_chunk;
    return ParseError::malformed;
}

}  // namespace

std::string_view to_string(ParseError error) {
    switch (error) {
        case ParseError::ok:
            return "ok";
        case ParseError::malformed:
            return "malformed message";
        case ParseError::unsupported_version:
            return "unsupported HTTP version";
        case ParseError::unsupported_coding:
            return "unsupported transfer coding";
        case ParseError::head_too_large:
            return "head too large";
        case ParseError::target_too_long:
            return "request line too long";
        case ParseError::not_http:
            return "this is not HTTP";
        case ParseError::http2:
            return "this is HTTP/2, and HTTP/1 is spoken here";
        case ParseError::bad_line_ending:
            return "a line does not end in CR LF";
        case ParseError::bad_request_line:
            return "malformed request line";
        case ParseError::bad_target:
            return "the request target has a fragment, or a character that must not be in it";
        case ParseError::bad_version:
            return "malformed HTTP version";
        case ParseError::bad_status:
            return "malformed status line";
        case ParseError::bad_field:
            return "a field line has no colon, or a name that is none";
        case ParseError::bad_value:
            return "control characters in the value of a field";
        case ParseError::folded_line:
            return "a field goes on over a second line";
        case ParseError::bad_host:
            return "Host names no host";
        case ParseError::host_count:
            return "there must be exactly one Host";
        case ParseError::bad_length:
            return "Content-Length is no number, contradicts itself or is too large";
        case ParseError::bad_framing:
            return "Content-Length and Transfer-Encoding do not say where the body ends";
        case ParseError::bad_chunk:
            return "a chunk of the body is malformed";
        case ParseError::bad_connection:
            return "Connection has too many options";
        case ParseError::bad_coding:
            return "the body does not have the content coding that its head states";
    }
    return "unknown";
}

ParseError judge_request_start(std::string_view data, const HeadLimits& limits) {
    const auto method = data.substr(0, data.find(' '));
    if (!method.empty() && method != "\r" && !is_token(method)) return ParseError::not_http;
    if (method.empty() && !data.empty()) return ParseError::bad_request_line;
    const auto line =
        std::min(data.substr(0, limits.request_line_bytes + 1).find('\n'), data.size());
    if (line > limits.request_line_bytes) return ParseError::target_too_long;
    return first_line_ends_badly(data, line) ? ParseError::bad_line_ending : ParseError::ok;
}

ParseError judge_response_start(std::string_view data) {
    constexpr std::string_view kProtocol = "HTTP/";
    if (data.substr(0, kProtocol.size()) != kProtocol.substr(0, data.size()))
        return ParseError::not_http;
    return ParseError::ok;
}

std::size_t find_head_end(std::string_view data, std::size_t& scanned) {
    auto at = scanned;
    while (at < data.size()) {
        const auto* found =
            static_cast<const char*>(std::memchr(data.data() + at, '\n', data.size() - at));
        if (!found) {
            scanned = data.size();
            return 0;
        }
        const auto lf = static_cast<std::size_t>(found - data.data());
        const auto next = lf + 1;
        if (next < data.size() && data[next] == '\n') return next + 1;
        if (next + 1 < data.size() && data[next] == '\r' && data[next + 1] == '\n') return next + 2;
        if (next + 1 >= data.size()) {  // the next line may turn out to be the empty one
            scanned = lf;
            return 0;
        }
        at = next;
    }
    scanned = at;
    return 0;
}

template <bool IsRequest>
BeastParser<IsRequest>::BeastParser(Head& head, const HeadLimits& limits)
    : head_(head), limits_(limits) {
    head_.fields.clear();
    head_.status = 0;
    this->header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limits.head_bytes, UINT32_MAX)));
    this->body_limit(boost::none);
    this->eager(false);
}

template <bool IsRequest>
ParseError BeastParser<IsRequest>::parse_head(std::string_view bytes) {
    bytes_ = bytes;
    if constexpr (IsRequest) {
        const auto line = std::min(bytes.find('\n'), bytes.size());
        if (line > limits_.request_line_bytes) return ParseError::target_too_long;
        if (bytes.starts_with(kHttp2Preface)) return ParseError::http2;
        // Beast reports every unknown version alike; another major one earns its own status.
        if (has_other_major_version(bytes.substr(0, line))) return ParseError::unsupported_version;
    }
    if constexpr (!IsRequest) {
        if (!bytes.starts_with("HTTP/")) return ParseError::not_http;
    }
    if (bytes.size() > limits_.head_bytes) return ParseError::head_too_large;
    error_code ec;
    std::size_t consumed = 0;
    while (!ec && !this->is_header_done() && consumed < bytes.size())
        consumed += this->put(
            boost::asio::const_buffer(bytes.data() + consumed, bytes.size() - consumed), ec);
    if (error_ != ParseError::ok) return error_;
    // Beast's own limit is above ours, so only long folded lines reach it.
    if (ec) return error_ = named(ec);
    return this->is_header_done() && consumed == bytes.size() ? ParseError::ok
                                                              : ParseError::malformed;
}

template <bool IsRequest>
std::optional<std::size_t> BeastParser<IsRequest>::put_body(std::string_view bytes) {
    bytes_ = bytes;
    std::size_t consumed = 0;
    while (!this->is_done()) {
        // Beast 1.81 asserts when a last chunk is fed again with fewer than its five bytes; outside
        // of a chunk's data every chunked body still has at least that many to come.
        if (this->chunked() && chunk_rest_ == 0 && bytes.size() - consumed < 5) break;
        error_code ec;
        const auto n = put_piece(bytes.substr(consumed), ec);
        consumed += n;
        if (ec == http::error::need_more) {
            const auto verdict = judge_chunk_so_far(bytes.substr(consumed));
            if (verdict != ParseError::ok) return refuse_body(verdict);
            break;
        }
        if (error_ != ParseError::ok) return std::nullopt;
        if (ec) return refuse_body(named(ec));
        // The last chunk's line and all trailers come in one step.
        if (this->chunked() && this->is_done() && n > limits_.head_bytes)
            return refuse_body(ParseError::head_too_large);
        if (consumed == bytes.size()) break;
    }
    return consumed;
}

template <bool IsRequest>
std::size_t BeastParser<IsRequest>::put_piece(std::string_view bytes, error_code& ec) {
    if constexpr (!IsRequest) {
        if (this->chunked() && chunk_rest_ == 0)
            if (const auto padding = chunk_padding(bytes); padding.count > 0)
                return put_without_padding(bytes, padding, ec);
    }
    return this->put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
}

/// Feeds a copy of a chunk's line without its padding. Beast gets a whole line only, and behind a
/// last one all trailers, because it remembers how far it has read a part.
template <bool IsRequest>
std::size_t BeastParser<IsRequest>::put_without_padding(std::string_view bytes,
                                                        const ChunkPadding& padding,
                                                        error_code& ec) {
    const auto line_end = padding.at + padding.count;
    const auto end = bytes.find(padding.is_last ? "\r\n\r\n" : "\r\n", line_end);
    if (end == std::string_view::npos || end > limits_.head_bytes) {
        ec = http::error::need_more;
        return 0;
    }
    const auto fed = end + (padding.is_last ? 4 : 2);
    std::string line(bytes.substr(0, padding.at));
    line.append(bytes.substr(line_end, fed - line_end));
    bytes_ = line;
    const auto n = this->put(boost::asio::const_buffer(line.data(), line.size()), ec);
    bytes_ = bytes;
    return n == line.size() ? fed : n;
}

/// Judges the present part of a chunk's line, or of the trailers. Beast itself would look for the
/// second quote of an extension beyond the end of the line, or for the CR LF behind trailers whose
/// lines end in LF alone, and wait without end.
template <bool IsRequest>
ParseError BeastParser<IsRequest>::judge_chunk_so_far(std::string_view rest) const {
    if (!this->chunked() || chunk_rest_ > 0) return ParseError::ok;
    for (auto lf = rest.find('\n'); lf != std::string_view::npos; lf = rest.find('\n', lf + 1))
        if (lf > 0 && rest[lf - 1] != '\r') return ParseError::bad_chunk;
    const std::size_t begin = rest.starts_with("\r\n") ? 2 : 0;  // the end of the last chunk's data
    const auto end = rest.find("\r\n", begin);
    const auto size = rest.substr(begin, rest.find_first_of(";\r \t", begin) - begin);
    if (size.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
        return ParseError::bad_chunk;
    if (end == std::string_view::npos)
        return rest.size() <= kMaxChunkLineBytes ? ParseError::ok : ParseError::bad_chunk;
    const auto last = size.find_first_not_of('0') == std::string_view::npos;
    if (!last || rest.find("\r\n\r\n", end) != std::string_view::npos) return ParseError::bad_chunk;
    return rest.size() <= limits_.head_bytes ? ParseError::ok : ParseError::head_too_large;
}

template <bool IsRequest>
bool BeastParser<IsRequest>::finish_at_eof() {
    if (this->is_done()) return true;
    if (!this->is_header_done() || !this->need_eof()) return false;
    error_code ec;
    this->put_eof(ec);
    return !ec;
}

template <bool IsRequest>
std::nullopt_t BeastParser<IsRequest>::refuse_body(ParseError error) {
    error_ = error;
    return std::nullopt;
}

template <bool IsRequest>
void BeastParser<IsRequest>::fail(ParseError error, error_code& ec) {
    error_ = error;
    ec = http::error::bad_value;
}

template <bool IsRequest>
void BeastParser<IsRequest>::on_request_impl(verb v, string_view method, string_view target,
                                             int version, error_code& ec) {
    // RFC 9112 §3.2: every form of a target excludes a fragment. Octets beyond ASCII pass, because
    // real requests have them, and they end neither a line nor a field.
    if (target.find('#') != string_view::npos) return fail(ParseError::bad_target, ec);
    head_.verb = v;
    head_.method = {method.data(), method.size()};
    head_.target = {target.data(), target.size()};
    head_.version = version;
}

template <bool IsRequest>
void BeastParser<IsRequest>::on_response_impl(int status, string_view reason, int version,
                                              error_code& ec) {
    if (status < 100 || status > 599) return fail(ParseError::bad_status, ec);
    head_.status = static_cast<unsigned>(status);
    head_.reason = {reason.data(), reason.size()};
    head_.version = version;
}

template <bool IsRequest>
void BeastParser<IsRequest>::on_field_impl(field id, string_view name, string_view value,
                                           error_code& ec) {
    const Field line{id, {name.data(), name.size()}, {value.data(), value.size()}};
    if (folded(line)) return fail(ParseError::folded_line, ec);
    if (has_forbidden_octet(line.value)) return fail(ParseError::bad_value, ec);
    // Trailers are bounded, then dropped, and never become framing (RFC 9112 §7.1.2). Beast itself
    // refuses the message when a trailer has Content-Length, as it judges that field before this.
    if (in_trailer_) {
        if (++trailer_lines_ > limits_.lines) fail(ParseError::head_too_large, ec);
        return;
    }
    if (head_.fields.size() >= limits_.lines) return fail(ParseError::head_too_large, ec);
    if (id == field::transfer_encoding) {
        const auto has_none = head_.version < 11;
        if (has_none) is_last_ = true;
        if (++transfer_encodings_ > 1 || (IsRequest && has_none))
            return fail(ParseError::bad_framing, ec);
        const auto verdict = judge_transfer_encoding(line.value);
        if (verdict != ParseError::ok) return fail(verdict, ec);
    }
    if (id == field::connection && head_.version < 11 && names_close(line)) is_last_ = true;
    if constexpr (IsRequest) {
        if (id == field::host) {
            ++hosts_;
            if (!is_valid_host(line.value)) return fail(ParseError::bad_host, ec);
        }
    }
    head_.fields.push_back(line);
}

/// Whether Beast has joined folded lines (RFC 9112 §5.2): in memory of its own, or in place after
/// white space alone.
template <bool IsRequest>
bool BeastParser<IsRequest>::folded(const Field& line) const {
    const std::less<const char*> before;
    const auto* const end = bytes_.data() + bytes_.size();
    const auto* const value = line.value.data();
    if (before(value, bytes_.data()) || before(end, value)) return true;
    return std::any_of(line.name.data() + line.name.size() + 1, value,
                       [](char c) { return c != ' ' && c != '\t'; });
}

template <bool IsRequest>
void BeastParser<IsRequest>::on_header_impl(error_code& ec) {
    if constexpr (IsRequest) {
        // RFC 9112 §3.2: exactly one Host in HTTP/1.1.
        if (hosts_ > 1 || (hosts_ == 0 && head_.version >= 11))
            return fail(ParseError::host_count, ec);
    }
    if (this->content_length().value_or(0) > kMaxMessageBody)
        return fail(ParseError::bad_length, ec);
    in_trailer_ = true;
}

template <bool IsRequest>
std::size_t BeastParser<IsRequest>::on_body_impl(string_view body, error_code&) {
    sink_(sink_context_, {body.data(), body.size()});
    return body.size();
}

template <bool IsRequest>
void BeastParser<IsRequest>::on_chunk_header_impl(std::uint64_t size, string_view extensions,
                                                  error_code& ec) {
    chunk_rest_ = size;
    // Beast accepts every byte between quotes.
    const std::string_view text(extensions.data(), extensions.size());
    if (size > kMaxMessageBody || text.size() > kMaxChunkExtensionBytes ||
        has_forbidden_octet(text))
        fail(ParseError::bad_chunk, ec);
}

template <bool IsRequest>
std::size_t BeastParser<IsRequest>::on_chunk_body_impl(std::uint64_t rest, string_view body,
                                                       error_code&) {
    sink_(sink_context_, {body.data(), body.size()});
    chunk_rest_ = rest - body.size();
    return body.size();
}

template class BeastParser<true>;
template class BeastParser<false>;

template <bool IsRequest>
ParseError MessageParser<IsRequest>::parse_head(std::string_view bytes) {
    if (const auto plain = split_plain_head<IsRequest>(bytes, limits_, head_)) {
        framing_ = *plain;
        rest_ = skips_body_ ? 0 : framing_.length.value_or(0);
        return ParseError::ok;
    }
    auto& beast = beast_.emplace(head_, limits_);
    if (skips_body_) beast.skip(true);
    return beast.parse_head(bytes);
}

template <bool IsRequest>
std::optional<std::uint64_t> MessageParser<IsRequest>::content_length() const {
    if (!beast_) return framing_.length;
    const auto stated = beast_->content_length();
    return stated ? std::optional<std::uint64_t>(*stated) : std::nullopt;
}

template class MessageParser<true>;
template class MessageParser<false>;

}  // namespace proxy
