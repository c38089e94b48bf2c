#include "proxy/http/response_head.hpp"

#include <boost/beast/http/status.hpp>

#include "base/text/number.hpp"
#include "base/text/short_text.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"

namespace proxy {
namespace {

using namespace std::string_view_literals;  // appended without counting
using boost::beast::http::field;

bool is_cache_status(const Field& line) {
    return line.id == field::unknown && iequals(line.name, "Cache-Status");
}

/// Space for the fields that render_response() writes: exact if nothing but Content-Length is left
/// out, so that nothing has to be given back.
std::size_t rendered_bytes(Fields received, std::string_view node) {
    constexpr auto kVia = "Via: 1.1 \r\n"sv;
    constexpr auto kDate = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"sv;
    auto bytes = kVia.size() + node.size() + kDate.size();
    for (const auto& line : received) {
        if (line.id == field::date) bytes -= std::min(bytes, kDate.size());
        if (line.id != field::content_length) bytes += line.name.size() + line.value.size() + 4;
    }
    return bytes;
}

}  // namespace

void append_status_line(std::string& out, unsigned code) {
    using boost::beast::http::status;
    const auto known = boost::beast::http::int_to_status(code);
    base::ShortText text(out);
    text.append("HTTP/1.1 "sv).append(code).append(" "sv);
    if (known != status::unknown) {  // a reason may be empty (RFC 9112 §4)
        const auto reason = boost::beast::http::obsolete_reason(known);
        text.append({reason.data(), reason.size()});
    }
    text.append("\r\n"sv);
}

void append_chunk_size(std::string& out, std::uint64_t bytes) {
    base::append_number(out, bytes, 16);
    out.append("\r\n"sv);
}

void render_response(const Head& received, std::string_view node, const StoredFields& stored,
                     WallTime response_time, std::string& out, LiveFields& live) {
    const auto& hop_by_hop = stored.hop_by_hop();
    out.reserve(rendered_bytes(received.fields, node));
    base::ShortText text(out);
    bool dated = false;
    for (const auto& line : received.fields) {
        if (line.id == field::content_length || hop_by_hop(line)) continue;
        if (is_cache_status(line)) {
            if (!live.cache_status.empty()) live.cache_status.append(", "sv);
            live.cache_status.append(line.value);
        } else if (line.id == field::age) {
            live.has_age = true;
        } else if (stored.takes_end_to_end(line)) {
            append_line(text, line);
            dated = dated || line.id == field::date;
        } else {
            append_line(live.lines, line);
        }
    }
    if (!dated) {
        text.append("Date: "sv).flush();
        append_http_date(out, response_time);
        text.append("\r\n"sv);
    }
    text.append("Via: 1.1 "sv).append(node).append("\r\n"sv);
}

}  // namespace proxy
