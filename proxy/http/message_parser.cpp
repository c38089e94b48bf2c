#include "proxy/http/message_parser.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstring>

namespace proxy {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kMaxChunkExtensionBytes = 1024;

bool has_forbidden_octet(std::string_view value) {
    // RFC 9110 §5.5: field values hold no CR, LF or NUL; other controls but HTAB are invalid too.
    return std::any_of(value.begin(), value.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    });
}

/// RFC 9110 §7.2, RFC 3986 §3.2.2: enough to keep spaces, paths and user-info out.
bool valid_host(std::string_view host) {
    return std::none_of(host.begin(), host.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f || c == '/' || c == '@' || c == '\\' || c == ',' ||
               c == '?' || c == '#';
    });
}

ParseError translate(const boost::beast::error_code& ec) {
    if (!ec) return ParseError::ok;
    if (ec == http::error::header_limit) return ParseError::head_too_large;
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
    }
    return "unknown";
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
MessageParser<IsRequest>::MessageParser(Head& head, const HeadLimits& limits)
    : head_(head), limits_(limits) {
    head_.fields.clear();
    head_.status = 0;
    this->header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limits.head_bytes, UINT32_MAX)));
    this->body_limit(boost::none);
    this->eager(false);
}

template <bool IsRequest>
ParseError MessageParser<IsRequest>::parse_head(std::string_view bytes) {
    bytes_ = bytes;
    if constexpr (IsRequest) {
        const auto line = std::min(bytes.find('\n'), bytes.size());
        if (line > limits_.request_line_bytes) return ParseError::target_too_long;
        // Beast reports every unknown version alike; a later major version earns its own status.
        const auto version = bytes.substr(0, line).rfind(" HTTP/");
        if (version != std::string_view::npos) {
            const auto major = bytes.substr(version + 6, 2);
            if (major.size() == 2 && major[0] >= '2' && major[0] <= '9' && major[1] == '.')
                return ParseError::unsupported_version;
        }
    }
    error_code ec;
    std::size_t consumed = 0;
    while (!ec && !this->is_header_done() && consumed < bytes.size())
        consumed += this->put(
            boost::asio::const_buffer(bytes.data() + consumed, bytes.size() - consumed), ec);
    if (error_ != ParseError::ok) return error_;
    if (ec) return translate(ec);
    return this->is_header_done() && consumed == bytes.size() ? ParseError::ok
                                                              : ParseError::malformed;
}

template <bool IsRequest>
std::optional<std::size_t> MessageParser<IsRequest>::put_body(std::string_view bytes) {
    std::size_t consumed = 0;
    while (!this->is_done()) {
        // Beast 1.81 asserts when a last chunk is fed again with fewer than its five bytes; outside
        // of a chunk's data every chunked body still has at least that many to come.
        if (this->chunked() && chunk_rest_ == 0 && bytes.size() - consumed < 5) break;
        error_code ec;
        const auto n = this->put(
            boost::asio::const_buffer(bytes.data() + consumed, bytes.size() - consumed), ec);
        consumed += n;
        if (ec == http::error::need_more) break;
        if (ec || error_ != ParseError::ok) return std::nullopt;
        if (consumed == bytes.size()) break;
    }
    return consumed;
}

template <bool IsRequest>
bool MessageParser<IsRequest>::finish_at_eof() {
    if (this->is_done()) return true;
    if (!this->is_header_done() || !this->need_eof()) return false;
    error_code ec;
    this->put_eof(ec);
    return !ec;
}

template <bool IsRequest>
void MessageParser<IsRequest>::fail(ParseError error, error_code& ec) {
    error_ = error;
    ec = http::error::bad_value;
}

template <bool IsRequest>
void MessageParser<IsRequest>::on_request_impl(verb v, string_view method, string_view target,
                                               int version, error_code&) {
    head_.verb = v;
    head_.method = {method.data(), method.size()};
    head_.target = {target.data(), target.size()};
    head_.version = version;
}

template <bool IsRequest>
void MessageParser<IsRequest>::on_response_impl(int status, string_view reason, int version,
                                                error_code& ec) {
    if (status < 100 || status > 599) return fail(ParseError::malformed, ec);
    head_.status = static_cast<unsigned>(status);
    head_.reason = {reason.data(), reason.size()};
    head_.version = version;
}

template <bool IsRequest>
void MessageParser<IsRequest>::on_field_impl(field id, string_view name, string_view value,
                                             error_code& ec) {
    const Field line{id, {name.data(), name.size()}, {value.data(), value.size()}};
    if (has_forbidden_octet(line.value)) return fail(ParseError::malformed, ec);
    if (in_trailer_) {  // bounded, then dropped: trailers never become framing (RFC 9112 §7.1.2)
        if (++trailer_lines_ > limits_.lines) fail(ParseError::head_too_large, ec);
        return;
    }
    if (head_.fields.size() >= limits_.lines) return fail(ParseError::head_too_large, ec);
    // A value outside the input was put together from folded lines (RFC 9112 §5.2).
    if (!line.value.empty() &&
        (line.value.data() < bytes_.data() || line.value.data() >= bytes_.data() + bytes_.size()))
        return fail(ParseError::malformed, ec);
    if (id == field::transfer_encoding) {
        if (++transfer_encodings_ > 1) return fail(ParseError::malformed, ec);
        if (!boost::beast::iequals(value, "chunked")) {
            // RFC 9112 §6.1: a list that does not end in chunked has no framing; another coding is
            // unknown.
            const auto comma = line.value.rfind(',');
            auto last = line.value.substr(comma == std::string_view::npos ? 0 : comma + 1);
            while (!last.empty() && (last.front() == ' ' || last.front() == '\t'))
                last.remove_prefix(1);
            return fail(boost::beast::iequals(last, "chunked") ? ParseError::unsupported_coding
                                                               : ParseError::malformed,
                        ec);
        }
        if (head_.version < 11) return fail(ParseError::malformed, ec);
    }
    if constexpr (IsRequest) {
        if (id == field::host) {
            ++hosts_;
            if (!valid_host(line.value)) return fail(ParseError::malformed, ec);
        }
    }
    head_.fields.push_back(line);
}

template <bool IsRequest>
void MessageParser<IsRequest>::on_header_impl(error_code& ec) {
    if constexpr (IsRequest) {
        // RFC 9112 §3.2: exactly one Host in HTTP/1.1.
        if (hosts_ > 1 || (hosts_ == 0 && head_.version >= 11))
            return fail(ParseError::malformed, ec);
    }
    in_trailer_ = true;
}

template <bool IsRequest>
std::size_t MessageParser<IsRequest>::on_body_impl(string_view body, error_code&) {
    sink_(sink_context_, {body.data(), body.size()});
    return body.size();
}

template <bool IsRequest>
void MessageParser<IsRequest>::on_chunk_header_impl(std::uint64_t size, string_view extensions,
                                                    error_code& ec) {
    chunk_rest_ = size;
    if (extensions.size() > kMaxChunkExtensionBytes) fail(ParseError::malformed, ec);
}

template <bool IsRequest>
std::size_t MessageParser<IsRequest>::on_chunk_body_impl(std::uint64_t rest, string_view body,
                                                         error_code&) {
    sink_(sink_context_, {body.data(), body.size()});
    chunk_rest_ = rest - body.size();
    return body.size();
}

template class MessageParser<true>;
template class MessageParser<false>;

}  // namespace proxy
