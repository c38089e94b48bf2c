#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/live_fields.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/storage_verdict.hpp"

namespace proxy {

class StoredFields;

/// "HTTP/1.1 200 OK\r\n"; the reason phrase is the standard one.
void append_status_line(std::string& out, unsigned code);
/// `out`: a std::string or a ShortText.
void append_line(auto& out, const Field& line) {
    constexpr std::string_view colon = ": ", end = "\r\n";
    out.append(line.name).append(colon).append(line.value).append(end);
}
/// The line before a chunk's data (RFC 9112 §7.1).
void append_chunk_size(std::string& out, std::uint64_t bytes);

/// Appends the fields of a received head to `out` as a FieldBlock, for the store and for the
/// clients: with our Via, and with a Date when the head has none (RFC 9110 §6.6.1). Fields that
/// belong to the first response alone go to `live`.
void render_response(const Head& received, std::string_view node, const StoredFields& stored,
                     WallTime response_time, std::string& out, LiveFields& live);

}  // namespace proxy
