#include "proxy/upstream/parent_tunnel.hpp"

#include <charconv>

namespace proxy {

std::string connect_request(std::string_view authority, std::string_view credentials,
                            std::string_view node) {
    std::string out("CONNECT ");
    out.append(authority).append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
    if (!credentials.empty())
        out.append("Proxy-Authorization: Basic ").append(credentials).append("\r\n");
    return out.append("Via: 1.1 ").append(node).append("\r\n\r\n");
}

unsigned status_in_head(std::string_view head) {
    constexpr std::size_t kAt = 9;  // behind `HTTP/1.1 `
    unsigned status = 0;
    if (!head.starts_with("HTTP/1.") || head.size() < kAt + 3) return 0;
    const auto* const from = head.data() + kAt;
    const auto read = std::from_chars(from, from + 3, status);
    return read.ptr == from + 3 && status >= 100 ? status : 0;
}

}  // namespace proxy
