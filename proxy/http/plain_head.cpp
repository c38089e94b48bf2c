#include "proxy/http/plain_head.hpp"

#include <algorithm>
#include <cstring>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

namespace http = boost::beast::http;
using http::field;

constexpr std::string_view kVersion = "HTTP/1.1";
constexpr std::size_t kMaxLengthDigits = 18;  // below 63 bits
constexpr std::size_t kLinesUsual = 16;       // of a head; more grow

/// The next line, up to its LF and without its CR LF. Nothing: it does not end so.
std::optional<std::string_view> take_line(std::string_view& rest) {
    if (rest.empty()) return std::nullopt;
    const auto* const end = static_cast<const char*>(std::memchr(rest.data(), '\n', rest.size()));
    if (!end || end == rest.data() || end[-1] != '\r') return std::nullopt;
    const auto size = static_cast<std::size_t>(end - rest.data());
    const auto line = rest.substr(0, size - 1);
    rest.remove_prefix(size + 1);
    return line;
}

bool split_request_line(std::string_view line, const HeadLimits& limits, Head& head) {
    // With its CR, as the limit counts it.
    if (line.size() + 1 > limits.request_line_bytes) return false;
    const auto end = line.size() - std::min(line.size(), kVersion.size() + 1);
    const auto begin = line.find(' ');
    if (begin >= end || line[end] != ' ' || line.substr(end + 1) != kVersion) return false;
    head.method = line.substr(0, begin);
    head.target = line.substr(begin + 1, end - begin - 1);
    if (head.target.empty() || has_control(head.target, ' ' + 1) ||
        head.target.find('#') != std::string_view::npos || !is_token(head.method))
        return false;
    head.verb = http::string_to_verb({head.method.data(), head.method.size()});
    return true;
}

bool split_status_line(std::string_view line, Head& head) {
    constexpr std::size_t kCode = kVersion.size() + 1;
    if (line.size() < kCode + 4 || !line.starts_with(kVersion) || line[kCode - 1] != ' ' ||
        line[kCode + 3] != ' ')
        return false;
    head.status = 0;
    for (const char c : line.substr(kCode, 3)) {
        if (c < '0' || c > '9') return false;
        head.status = head.status * 10 + static_cast<unsigned>(c - '0');
    }
    head.reason = line.substr(kCode + 4);
    return head.status >= 100 && head.status <= 599 && !has_control(head.reason);
}

/// A line of name and value.
std::optional<Field> split_field(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    Field out;
    out.name = line.substr(0, colon);
    out.value = trim(line.substr(colon + 1));
    // A line that begins with white space continues the one before; no name has any.
    if (!is_token(out.name) || has_forbidden_octet(out.value)) return std::nullopt;
    out.id = http::string_to_field({out.name.data(), out.name.size()});
    return out;
}

std::optional<std::uint64_t> plain_length(std::string_view value) {
    if (value.empty() || value.size() > kMaxLengthDigits) return std::nullopt;
    std::uint64_t length = 0;
    for (const char c : value) {
        if (c < '0' || c > '9') return std::nullopt;
        length = length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return length;
}

/// Notes what a line says about framing. False: more than is plain.
bool note_framing(const Field& line, PlainFraming& framing) {
    if (line.id == field::content_length) {
        if (framing.length) return false;
        framing.length = plain_length(line.value);
        return framing.length.has_value();
    }
    if (line.id == field::connection) {
        if (iequals(line.value, "keep-alive")) return true;
        framing.keep_alive = false;
        return iequals(line.value, "close");
    }
    return line.id != field::transfer_encoding && line.id != field::proxy_connection &&
           line.id != field::upgrade;
}

/// RFC 9112 §6.3. A response without a length, or with one that a status forbids, is not plain.
bool shows_its_end(unsigned status, const PlainFraming& framing) {
    const auto has_no_body = status < 200 || status == 204 || status == 304;
    return has_no_body ? !framing.length : framing.length.has_value();
}

}  // namespace

template <bool IsRequest>
std::optional<PlainFraming> split_plain_head(std::string_view bytes, const HeadLimits& limits,
                                             Head& head) {
    head.fields.clear();
    if (head.fields.capacity() == 0) head.fields.reserve(kLinesUsual);
    if (bytes.size() > limits.head_bytes) return std::nullopt;
    const auto first = take_line(bytes);
    if (!first) return std::nullopt;
    if constexpr (IsRequest) {
        if (!split_request_line(*first, limits, head)) return std::nullopt;
    } else {
        if (!split_status_line(*first, head)) return std::nullopt;
    }
    head.version = 11;
    PlainFraming framing;
    auto hosts = 0;
    for (;;) {
        const auto line = take_line(bytes);
        if (!line) return std::nullopt;
        if (line->empty()) break;
        const auto parts = split_field(*line);
        if (!parts || head.fields.size() >= limits.lines || !note_framing(*parts, framing))
            return std::nullopt;
        if (IsRequest && parts->id == field::host && (++hosts > 1 || !is_valid_host(parts->value)))
            return std::nullopt;
        head.fields.push_back(*parts);
    }
    const auto is_whole =
        bytes.empty() && (IsRequest ? hosts == 1 : shows_its_end(head.status, framing));
    return is_whole ? std::optional(framing) : std::nullopt;
}

template std::optional<PlainFraming> split_plain_head<true>(std::string_view, const HeadLimits&,
                                                            Head&);
template std::optional<PlainFraming> split_plain_head<false>(std::string_view, const HeadLimits&,
                                                             Head&);

}  // namespace proxy
