#include "base/net/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <utility>

#include "base/async/deadline.hpp"

namespace base {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using error_code = boost::system::error_code;

int open_spare() {
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/// A connection without memory is closed; the loop goes on.
error_code give(const Listener::Take& take, tcp::socket&& socket, const tcp::endpoint& from) {
    try {
        take(std::move(socket), from);
    } catch (const std::exception&) {
        return make_error_code(boost::system::errc::not_enough_memory);
    }
    return {};
}

}  // namespace

Listener::Listener(asio::any_io_executor executor) : acceptor_(executor) {}

Listener::~Listener() {
    if (spare_ >= 0) ::close(spare_);
}

void Listener::assign(int descriptor) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
    acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), descriptor);
    acceptor_.non_blocking(true);
    // Otherwise accept() would wait for the next connection when one has gone again.
    acceptor_.set_option(asio::socket_base::enable_connection_aborted(true));
    if (spare_ < 0) spare_ = open_spare();
}

error_code Listener::listen(const tcp::endpoint& at) {
    error_code error;
    tcp::acceptor acceptor(acceptor_.get_executor());
    acceptor.open(at.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(at, error);
    if (!error) acceptor.set_option(tcp::no_delay(true), error);  // as listen_shared() does
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) assign(acceptor.release());
    return error;
}

int Listener::release() {
    return acceptor_.release();
}

asio::awaitable<void> Listener::run(Hooks hooks) {
    asio::steady_timer pause(acceptor_.get_executor());
    const auto room = [&hooks] { return !hooks.room || hooks.room(); };
    while (acceptor_.is_open()) {
        error_code error;
        if (room()) {
            const auto [unready] =
                co_await acceptor_.async_wait(tcp::acceptor::wait_read, as_result);
            error = unready;
            for (std::size_t taken = 0; !error && taken < kAcceptsAtOnce && room(); ++taken) {
                tcp::socket socket(acceptor_.get_executor());
                tcp::endpoint from;
                acceptor_.accept(socket, from, error);
                if (!error) error = give(hooks.take, std::move(socket), from);
            }
            if (!error || error == asio::error::would_block ||
                error == asio::error::connection_aborted)
                continue;
            if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return;
            const auto refused =
                error == asio::error::no_descriptors ? refuse_waiting() : std::size_t{0};
            if (hooks.trouble) hooks.trouble(error, refused);
        }
        pause.expires_after(kAcceptPause);
        const auto [stopped] = co_await pause.async_wait(as_result);
        if (stopped) co_return;
    }
}

std::size_t Listener::refuse_waiting() {
    if (spare_ < 0) spare_ = open_spare();
    if (spare_ < 0) return 0;
    ::close(spare_);
    std::size_t refused = 0;
    for (;; ++refused) {
        const auto one =
            ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (one < 0) break;
        ::close(one);
    }
    spare_ = open_spare();  // if another thread was quicker: the next connections wait
    return refused;
}

void Listener::drain(const Take& take) {
    if (!acceptor_.is_open()) return;
    ::listen(acceptor_.native_handle(), 0);
    for (;;) {
        error_code error;
        tcp::socket socket(acceptor_.get_executor());
        tcp::endpoint from;
        acceptor_.accept(socket, from, error);
        if (error) break;
        give(take, std::move(socket), from);
    }
    close();
}

void Listener::close() {
    error_code ignored;
    acceptor_.close(ignored);
}

std::uint16_t Listener::port() const {
    error_code none;
    return acceptor_.is_open() ? acceptor_.local_endpoint(none).port() : std::uint16_t{0};
}

}  // namespace base
