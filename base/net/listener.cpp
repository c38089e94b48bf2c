#include "base/net/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/detail/socket_ops.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/async/deadline.hpp"

namespace base {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using error_code = boost::system::error_code;

/// Asio's notes about a socket: flags of boost::asio::detail::socket_ops.
class SocketNotes : public tcp::socket {
public:
    static auto& of(tcp::socket& socket) {
        return (socket.*(&SocketNotes::impl_)).get_implementation().state_;
    }
};

int open_spare() {
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool has_room(const Listener::Hooks& hooks) {
    return !hooks.room || hooks.room();
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
    while (acceptor_.is_open()) {
        error_code error;
        if (has_room(hooks)) {
            const auto [unready] =
                co_await acceptor_.async_wait(tcp::acceptor::wait_read, as_result);
            error = unready;
            if (!error) error = take_waiting(hooks);
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

/// Takes connections up to the first error. Those that it leaves end the next wait at once.
error_code Listener::take_waiting(const Hooks& hooks) {
    const auto most = come_together_ || ++turns_ % kLookForSecond == 0 ? kAcceptsAtOnce : 1;
    std::size_t taken = 0;
    error_code error;
    while (!error && taken < most && acceptor_.is_open() && has_room(hooks)) {
        tcp::endpoint from;
        auto socket = accept(from, error);
        if (error) break;
        ++taken;
        error = give(hooks.take, std::move(socket), from);
    }
    come_together_ = taken > 1;
    return error;
}

/// The kernel makes the descriptor non-blocking, and Asio's notes say so, which saves an ioctl().
/// They forget that it may be a duplicate, as which Asio would take it out of epoll by a call
/// before it closes it. (Boost 1.81 has no function for either.)
tcp::socket Listener::accept(tcp::endpoint& from, error_code& error) {
    namespace notes = asio::detail::socket_ops;
    auto size = static_cast<socklen_t>(from.capacity());
    const auto taken =
        ::accept4(acceptor_.native_handle(), from.data(), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken < 0) error.assign(errno, boost::system::system_category());
    tcp::socket socket(acceptor_.get_executor());
    if (error) return socket;
    from.resize(size);
    socket.assign(from.protocol(), taken, error);
    if (error) {
        ::close(taken);
        return socket;
    }
    auto& state = SocketNotes::of(socket);
    state |= notes::user_set_non_blocking | notes::internal_non_blocking;
    state &= static_cast<notes::state_type>(~notes::possible_dup);
    return socket;
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
        tcp::endpoint from;
        auto socket = accept(from, error);
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
