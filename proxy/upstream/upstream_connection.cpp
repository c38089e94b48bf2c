#include "proxy/upstream/upstream_connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "base/net/host_port.hpp"
#include "base/net/plain_address.hpp"

namespace proxy {

namespace asio = boost::asio;

base::AddressText address_text(const boost::asio::ip::tcp::endpoint& endpoint) {
    return std::string_view(
        base::HostPort{base::plain_address(endpoint.address()).to_string(), endpoint.port()}
            .text());
}

asio::awaitable<std::size_t> UpstreamConnection::read_some(asio::mutable_buffer into,
                                                           boost::system::error_code& ec) {
    if (tls) return tls_read_some(socket, *tls, into, ec);
    return socket.async_read_some(into, asio::redirect_error(asio::use_awaitable, ec));
}

asio::awaitable<std::size_t> UpstreamConnection::write(asio::const_buffer from,
                                                       boost::system::error_code& ec) {
    if (tls) return tls_write(socket, *tls, from, ec);
    return asio::async_write(socket, from, asio::redirect_error(asio::use_awaitable, ec));
}

std::size_t UpstreamConnection::write_now(asio::const_buffer from, boost::system::error_code& ec) {
    std::size_t sent = 0;
    const auto step = base::write_now(socket, tls.get(), from, sent);
    if (step != base::TlsSession::Step::failed) return sent;
    if (tls)
        ec = asio::error::connection_reset;
    else
        ec.assign(errno, boost::system::system_category());
    return sent;
}

base::TlsSession::Step UpstreamConnection::read_now(asio::mutable_buffer into, std::size_t& got) {
    return base::read_now(socket, tls.get(), into, got);
}

}  // namespace proxy
