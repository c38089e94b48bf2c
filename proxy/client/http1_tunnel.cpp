#include "proxy/client/http1_tunnel.hpp"

#include <vector>

#include "proxy/http/response_head.hpp"

namespace proxy {

namespace asio = boost::asio;

asio::awaitable<bool> Http1Tunnel::open(unsigned status, FieldBlock fields) {
    connection_.retire();
    std::string head;
    if (status == 101) {
        append_status_line(head, status);
        head.append(fields.text()).append("Connection: Upgrade\r\n\r\n");
    } else {
        // No Via or Cache-Status: this node alone made this response, and no cache was in its way.
        head = "HTTP/1.1 200 Connection established\r\n\r\n";
    }
    std::vector<asio::const_buffer> buffers{asio::buffer(head)};
    const auto sent = co_await connection_.send(buffers);
    if (sent) side_.emplace(connection_);
    co_return sent;
}

}  // namespace proxy
