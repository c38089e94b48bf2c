#include "proxy/request/tunnel_side.hpp"

#include <sys/socket.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

TunnelSide::Step SocketSide::read(asio::mutable_buffer into, std::size_t& got) {
    return read_now(socket_, tls_, into, got);
}

TunnelSide::Step SocketSide::write(asio::const_buffer from, std::size_t& sent) {
    return write_now(socket_, tls_, from, sent);
}

asio::awaitable<bool> SocketSide::wait_for(tcp::socket::wait_type what) {
    boost::system::error_code ec;
    co_await socket_.async_wait(what, asio::redirect_error(asio::use_awaitable, ec));
    co_return !ec;
}

asio::awaitable<bool> SocketSide::wait(Step step) {
    return wait_for(step == Step::wait_write ? tcp::socket::wait_write : tcp::socket::wait_read);
}

asio::awaitable<bool> SocketSide::wait_for_reset() {
    const auto noticed = co_await wait_for(tcp::socket::wait_error);
    if (!noticed) co_return false;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
    co_return error != 0;
}

void SocketSide::cancel() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
}

void SocketSide::end() {
    if (tls_) tls_->close_notify();
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void SocketSide::reset() {
    boost::system::error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);  // the destructor would take the option back first
}

}  // namespace proxy
