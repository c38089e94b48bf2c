#include "proxy/client/acceptor.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "proxy/client/client_session.hpp"
#include "proxy/net/tls_contexts.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// After accept() failed for want of descriptors or memory: what runs goes on, and some of it will
/// end.
constexpr std::chrono::milliseconds kAcceptPause{50};

constexpr std::size_t kAcceptsAtOnce = 64;

int open_spare() {
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Acceptor::Acceptor(Frontend& frontend, asio::io_context& io)
    : frontend_(frontend), io_(io), tasks_(io.get_executor()), spare_(open_spare()) {}

Acceptor::~Acceptor() {
    if (spare_ >= 0) ::close(spare_);
}

void Acceptor::listen(int acceptor_fd, Scheme scheme) {
    auto& acceptor = listeners_.emplace_back(Listener{tcp::acceptor(io_), scheme}).acceptor;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(acceptor_fd, reinterpret_cast<sockaddr*>(&address), &size);
    acceptor.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), acceptor_fd);
    acceptor.non_blocking(true);
    acceptor.set_option(asio::socket_base::enable_connection_aborted(true));  // else it waits
}

void Acceptor::start() {
    for (auto& listener : listeners_) tasks_.spawn(accept_loop(listener));
}

asio::awaitable<void> Acceptor::accept_loop(Listener& listener) {
    auto& acceptor = listener.acceptor;
    asio::steady_timer pause(io_);
    while (!frontend_.draining()) {
        boost::system::error_code ec;
        co_await acceptor.async_wait(tcp::acceptor::wait_read,
                                     asio::redirect_error(asio::use_awaitable, ec));
        // Accepted one by one, each would wait behind all that is ready elsewhere.
        for (std::size_t taken = 0; !ec && taken < kAcceptsAtOnce; ++taken) {
            tcp::socket socket(io_);
            acceptor.accept(socket, ec);
            if (!ec) admit(std::move(socket), listener.scheme);
        }
        if (!ec || ec == asio::error::would_block || ec == asio::error::connection_aborted)
            continue;
        if (ec == asio::error::operation_aborted || !acceptor.is_open()) break;
        if (ec == asio::error::no_descriptors) refuse_waiting(acceptor);
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    }
}

void Acceptor::admit(tcp::socket socket, Scheme scheme) {
    ++frontend_.counters.connections_accepted;
    const auto allowed = std::min<std::uint64_t>(frontend_.config().limits.connections,
                                                 frontend_.shared.connections_possible);
    if (frontend_.shared.connections.load(std::memory_order_relaxed) >= allowed) {
        ++frontend_.counters.refusals[RequestRefusal::too_many_connections];
        if (frontend_.shared.crowded.met())
            spdlog::warn(
                "{} client connections are open: new ones are refused "
                "(limits.connections is {}, {} descriptors are allowed)",
                allowed, frontend_.config().limits.connections, descriptor_limit());
        return;  // closed
    }
    if (frontend_.shared.crowded.on() && frontend_.shared.crowded.over(Episode::Clock::now()))
        spdlog::info("new connections are taken again");
    // A reload may have taken away what this listener needs.
    if (scheme == Scheme::https && !frontend_.config().tls_contexts->server) return;
    auto task = serve_client(frontend_, std::move(socket), scheme);
    tasks_.spawn(std::move(task));
}

/// No descriptor is left: who waits in the accept queue is told so by a close, at once, with the
/// one that was kept back for this.
void Acceptor::refuse_waiting(tcp::acceptor& acceptor) {
    if (frontend_.shared.crowded.met())
        spdlog::warn("no file descriptor is left: new connections are refused");
    if (spare_ < 0) spare_ = open_spare();
    if (spare_ < 0) return;
    ::close(spare_);
    for (;;) {
        const auto refused =
            ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (refused < 0) break;
        ++frontend_.counters.connections_accepted;
        ++frontend_.counters.refusals[RequestRefusal::too_many_connections];
        ::close(refused);
    }
    spare_ = open_spare();  // if another thread was quicker: the next connections wait
}

void Acceptor::drain() {
    frontend_.begin_drain();
    boost::system::error_code ec;
    // Clients whose connection the kernel has accepted already are served; with the queue shut,
    // none is added between the last accept() and the close, which would be reset.
    for (auto& [acceptor, scheme] : listeners_) {
        ::listen(acceptor.native_handle(), 0);
        for (;;) {
            tcp::socket socket(io_);
            acceptor.accept(socket, ec);
            if (ec) break;
            admit(std::move(socket), scheme);
        }
        acceptor.close(ec);
    }
    tasks_.close();
    frontend_.drain();
}

void Acceptor::stop() {
    frontend_.begin_drain();
    boost::system::error_code ec;
    for (auto& listener : listeners_) listener.acceptor.close(ec);
    tasks_.cancel();
}

}  // namespace proxy
