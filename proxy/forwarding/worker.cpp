#include "proxy/forwarding/worker.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <limits>

#include "proxy/forwarding/client_session.hpp"
#include "proxy/forwarding/tls_contexts.hpp"

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

std::uint64_t descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

Worker::Worker(Shared& all, std::shared_ptr<const Config> config, int acceptor_fd)
    : shared(all),
      settings(std::move(config)),
      wheel(io.get_executor()),
      resolver(io.get_executor()),
      pool(io.get_executor(), wheel, resolver, settings, shared.windows),
      tasks(io.get_executor()),
      fetches(io.get_executor()),
      spare_(open_spare()) {
    listen(acceptor_fd, Scheme::http);
}

void Worker::listen_tls(int acceptor_fd) {
    listen(acceptor_fd, Scheme::https);
}

void Worker::listen(int acceptor_fd, Scheme scheme) {
    auto& acceptor = listeners_.emplace_back(Listener{tcp::acceptor(io), scheme}).acceptor;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(acceptor_fd, reinterpret_cast<sockaddr*>(&address), &size);
    acceptor.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), acceptor_fd);
    acceptor.non_blocking(true);
    acceptor.set_option(asio::socket_base::enable_connection_aborted(true));  // else it waits
}

Worker::~Worker() {
    if (spare_ >= 0) ::close(spare_);
}

HeadLimits Worker::head_limits() const {
    const auto& limits = config().limits;
    return {limits.request_line, limits.head, limits.head_lines};
}

void Worker::start() {
    for (auto& listener : listeners_) tasks.spawn(accept_loop(listener));
}

asio::awaitable<void> Worker::accept_loop(Listener& listener) {
    auto& acceptor = listener.acceptor;
    asio::steady_timer pause(io);
    while (!draining) {
        boost::system::error_code ec;
        co_await acceptor.async_wait(tcp::acceptor::wait_read,
                                     asio::redirect_error(asio::use_awaitable, ec));
        // Accepted one by one, each would wait behind all that is ready elsewhere.
        for (std::size_t taken = 0; !ec && taken < kAcceptsAtOnce; ++taken) {
            tcp::socket socket(io);
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

void Worker::admit(tcp::socket socket, Scheme scheme) {
    ++counters.connections_accepted;
    const auto allowed =
        std::min<std::uint64_t>(config().limits.connections, shared.connections_possible);
    if (shared.connections.load(std::memory_order_relaxed) >= allowed) {
        ++counters.refusals[RequestRefusal::too_many_connections];
        if (shared.crowded.met())
            spdlog::warn(
                "{} client connections are open: new ones are refused "
                "(limits.connections is {}, {} descriptors are allowed)",
                allowed, config().limits.connections, descriptor_limit());
        return;  // closed
    }
    if (shared.crowded.on() && shared.crowded.over(Episode::Clock::now()))
        spdlog::info("new connections are taken again");
    // A reload may have taken away what this listener needs.
    if (scheme == Scheme::https && !config().tls_contexts->server) return;
    auto task = serve_client(*this, std::move(socket), scheme);
    tasks.spawn(std::move(task));
}

/// No descriptor is left: who waits in the accept queue is told so by a close, at once, with the
/// one that was kept back for this.
void Worker::refuse_waiting(tcp::acceptor& acceptor) {
    if (shared.crowded.met())
        spdlog::warn("no file descriptor is left: new connections are refused");
    if (spare_ < 0) spare_ = open_spare();
    if (spare_ < 0) return;
    ::close(spare_);
    for (;;) {
        const auto refused =
            ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (refused < 0) break;
        ++counters.connections_accepted;
        ++counters.refusals[RequestRefusal::too_many_connections];
        ::close(refused);
    }
    spare_ = open_spare();  // if another thread was quicker: the next connections wait
}

void Worker::retire() {
    retiring = true;
    for (auto* session : sessions_) session->retire();
}

void Worker::drain() {
    if (draining) return;
    retiring = draining = true;
    boost::system::error_code ec;
    // Clients whose connection the kernel has accepted already are served; with the queue shut,
    // none is added between the last accept() and the close, which would be reset.
    for (auto& [acceptor, scheme] : listeners_) {
        ::listen(acceptor.native_handle(), 0);
        for (;;) {
            tcp::socket socket(io);
            acceptor.accept(socket, ec);
            if (ec) break;
            admit(std::move(socket), scheme);
        }
        acceptor.close(ec);
    }
    tasks.close();
    for (auto* session : sessions_) session->drain();
    pool.close_idle();
    asio::co_spawn(
        io,
        [](Worker& self) -> asio::awaitable<void> {
            co_await self.tasks.wait();
            self.fetches.close();
            co_await self.fetches.wait();
            self.wheel.stop();
            self.pool.close_idle();
        }(*this),
        asio::detached);
}

void Worker::stop() {
    retiring = draining = true;
    boost::system::error_code ec;
    for (auto& listener : listeners_) listener.acceptor.close(ec);
    tasks.cancel();
    fetches.cancel();
    wheel.stop();
    pool.close_idle();
}

void Worker::set_peers(std::shared_ptr<const protocol::PeerView> view) {
    const auto same =
        peers && view &&
        std::equal(peers->peers.begin(), peers->peers.end(), view->peers.begin(), view->peers.end(),
                   [](const auto& one, const auto& other) { return one.node == other.node; });
    if (!same && view) {  // peers have come or gone: a record goes with its name
        std::vector<PeerRecord> records(view->peers.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            auto* known = record_of(view->peers[i].node);
            if (known != nullptr) records[i] = std::exchange(*known, PeerRecord());
        }
        for (const auto& left : peer_records) gone_peers.add(left.counts());
        peer_records = std::move(records);
    }
    peers = std::move(view);
}

void Worker::invalidate(std::span<const std::string_view> uris) {
    const auto now = Store::Clock::now();
    for (const auto uri : uris) {
        const auto hash = shared.key_hasher(uri);
        shared.store.invalidate(hash, now);
        shared.hooks.tell_peers(hash, false);
    }
}

void Worker::invalidate_tags(std::span<const summary::KeyHash> tags) {
    const auto now = Store::Clock::now();
    for (const auto& tag : tags) {
        shared.store.invalidate_tag(tag, now);
        shared.hooks.tell_peers(tag, true);
    }
}

PeerRecord& Worker::record_or_gone(std::string_view node) {
    auto* record = record_of(node);
    return record != nullptr ? *record : gone_peers;
}

PeerRecord* Worker::record_of(std::string_view node) {
    if (node.empty()) return nullptr;
    for (std::size_t i = 0; peers && i < peers->peers.size(); ++i)
        if (peers->peers[i].node == node) return &peer_records[i];
    return nullptr;
}

void Worker::add(Session& session) {
    session.index_ = sessions_.size();
    sessions_.push_back(&session);
    shared.crowd.grew_to(shared.connections.fetch_add(1, std::memory_order_relaxed) + 1);
}

void Worker::remove(Session& session) {
    sessions_[session.index_] = sessions_.back();
    sessions_[session.index_]->index_ = session.index_;
    sessions_.pop_back();
    shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace proxy
