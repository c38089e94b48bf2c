#include "proxy/http/interim.hpp"

#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"

namespace proxy {

namespace {

using boost::beast::http::field;

void append_head(std::string& out, const Head& interim, std::string_view node) {
    const HopByHop hop_by_hop(interim.fields);
    append_status_line(out, interim.status);
    for (const auto& line : interim.fields)
        if (line.id != field::content_length && !hop_by_hop(line)) append_line(out, line);
    out.append("Via: 1.1 ").append(node).append("\r\n");
}

}  // namespace

void append_interim(std::string& out, const Head& interim, std::string_view node) {
    append_head(out, interim, node);
    out.append("\r\n");
}

void append_switching(std::string& out, const Head& switching, std::string_view node) {
    append_head(out, switching, node);
    out.append("Connection: Upgrade\r\n");
    for (const auto& line : switching.fields)
        if (line.id == field::upgrade) append_line(out, line);
    out.append("\r\n");
}

}  // namespace proxy
