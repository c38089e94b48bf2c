#include "proxy/forwarding/interim.hpp"

#include "proxy/forwarding/response_head.hpp"
#include "proxy/http/hop_by_hop.hpp"

namespace proxy {

void append_interim(std::string& out, const Head& interim, std::string_view node) {
    using boost::beast::http::field;
    const HopByHop hop_by_hop(interim.fields);
    append_status_line(out, interim.status);
    for (const auto& line : interim.fields)
        if (line.id != field::content_length && !hop_by_hop(line)) append_line(out, line);
    out.append("Via: 1.1 ").append(node).append("\r\n\r\n");
}

}  // namespace proxy
