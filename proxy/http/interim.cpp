#include "proxy/http/interim.hpp"

#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"

namespace proxy {

using boost::beast::http::field;

InterimResponse interim_response(const Head& received, std::string_view node) {
    InterimResponse response;
    response.status = received.status;
    const HopByHop hop_by_hop(received.fields);
    for (const auto& line : received.fields)
        if (line.id != field::content_length && !hop_by_hop(line))
            append_line(response.fields, line);
    response.fields.append("Via: 1.1 ").append(node).append("\r\n");
    return response;
}

InterimResponse switching_response(const Head& received, std::string_view node) {
    auto response = interim_response(received, node);
    for (const auto& line : received.fields)
        if (line.id == field::upgrade) append_line(response.fields, line);
    return response;
}

}  // namespace proxy
