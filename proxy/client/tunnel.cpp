#include "proxy/client/tunnel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "proxy/client/error_response.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/upstream/origin_request.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// Bytes passed on at a time. What the other side does not take at once is kept, and nothing more
/// is read until it has: this bounds what a tunnel holds in each direction.
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kSmallPieceBytes = 4 * 1024;  // when limits.body_windows are in use

/// One of the two connections.
struct Side {
    tcp::socket& socket;
    TlsSession* tls;  // null: in the clear

    using Step = TlsSession::Step;

    Step read(asio::mutable_buffer into, std::size_t& got) const {
        if (tls) return tls->read(into, got);
        return after(::recv(socket.native_handle(), into.data(), into.size(), MSG_DONTWAIT), got,
                     Step::wait_read);
    }
    Step write(asio::const_buffer from, std::size_t& sent) const {
        if (tls) return tls->write(from, sent);
        return after(
            ::send(socket.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
            sent, Step::wait_write);
    }
    void end() const {
        if (tls) tls->close_notify();
        boost::system::error_code ignored;
        socket.shutdown(tcp::socket::shutdown_send, ignored);
    }

private:
    static Step after(ssize_t result, std::size_t& bytes, Step wait) {
        bytes = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
        if (result > 0) return Step::done;
        if (result == 0) return Step::end;
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? wait : Step::failed;
    }
};

bool waits(Side::Step step) {
    return step == Side::Step::wait_read || step == Side::Step::wait_write;
}

/// Two connections, and what passes between them. One thread; several coroutines, which all end
/// before it does.
class Tunnel final : TimerWheel::Timer {
public:
    /// `bytes_down` grows by what the client is sent.
    Tunnel(Frontend& frontend, Side client, Side upstream, std::uint64_t& bytes_down)
        : frontend_(frontend), client_(client), upstream_(upstream), bytes_down_(bytes_down) {}

    enum class End { clean, idle, cancelled, client_reset, upstream_reset };

    /// `early_up`, `early_down`: what came behind the heads.
    asio::awaitable<End> run(std::string early_up, std::string early_down) {
        const auto executor = co_await asio::this_coro::executor;
        still_alive();
        auto up = copy(client_, upstream_, std::move(early_up));
        auto down = copy(upstream_, client_, std::move(early_down));
        auto client_watch = watch(client_);
        auto upstream_watch = watch(upstream_);
        auto all = asio::experimental::make_parallel_group(
            asio::co_spawn(executor, std::move(up), asio::deferred),
            asio::co_spawn(executor, std::move(down), asio::deferred),
            asio::co_spawn(executor, std::move(client_watch), asio::deferred),
            asio::co_spawn(executor, std::move(upstream_watch), asio::deferred));
        co_await std::move(all).async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
        frontend_.wheel.disarm(*this);
        co_return end_.value_or(End::cancelled);
    }

private:
    using Step = Side::Step;

    void still_alive() {
        frontend_.wheel.arm(*this, Clock::now() + frontend_.config().timeouts.tunnel_idle);
    }
    void expire() override { finish(End::idle); }

    /// The first reason counts. Wakes all coroutines.
    void finish(End how) {
        if (end_) return;
        end_ = how;
        boost::system::error_code ignored;
        client_.socket.cancel(ignored);
        upstream_.socket.cancel(ignored);
    }

    void was_reset(const Side& side) {
        finish(&side == &client_ ? End::client_reset : End::upstream_reset);
    }

    /// False when it is over.
    asio::awaitable<bool> wait_for(const Side& side, tcp::socket::wait_type what) {
        if (end_) co_return false;
        boost::system::error_code ec;
        co_await side.socket.async_wait(what, asio::redirect_error(asio::use_awaitable, ec));
        if (ec)
            finish(End::cancelled);  // from outside, as nothing is cancelled here before the end
        co_return !end_.has_value();
    }
    asio::awaitable<bool> wait_for(const Side& side, Step step) {
        return wait_for(
            side, step == Step::wait_write ? tcp::socket::wait_write : tcp::socket::wait_read);
    }

    /// One direction, until its end has been passed on. `held` goes first.
    asio::awaitable<void> copy(const Side& from, const Side& to, std::string held) {
        auto wanted = Step::done;    // there may be more at hand
        std::optional<Charge> room;  // for what is held
        for (;;) {
            while (!held.empty()) {
                std::size_t sent = 0;
                const auto step = to.write(asio::buffer(held), sent);
                passed_on(to, sent);
                held.erase(0, sent);
                if (step == Step::done) continue;
                if (!waits(step)) co_return was_reset(to);
                const auto ready = co_await wait_for(to, step);
                if (!ready) co_return;
            }
            held = std::string();  // an idle tunnel holds nothing
            room.reset();
            if (wanted != Step::done || !from.tls || !from.tls->has_pending()) {
                const auto ready = co_await wait_for(from, wanted);
                if (!ready) co_return;
            }
            room = read_ahead(frontend_.cache.shared.windows, kPieceBytes);
            const auto at_most = room ? kPieceBytes : kSmallPieceBytes;
            const auto moved = move_some(from, to, held, at_most, wanted);
            if (moved == Moved::from_broke) co_return was_reset(from);
            if (moved == Moved::to_broke) co_return was_reset(to);
            if (moved == Moved::some) continue;
            to.end();
            if (++ended_ == 2) finish(End::clean);
            co_return;
        }
    }

    enum class Moved { some, end, from_broke, to_broke };

    /// Passes on what is there, `at_most` so much; `held` is what `to` did not take at once, and
    /// `wanted` what the next read waits for. The piece is on the stack: it need not outlive a
    /// wait.
    Moved move_some(const Side& from, const Side& to, std::string& held, std::size_t at_most,
                    Step& wanted) {
        std::array<char, kPieceBytes> piece;
        std::size_t got = 0;
        const auto received = from.read(asio::buffer(piece, at_most), got);
        wanted = received;
        if (&from == &upstream_) frontend_.counters.bytes_from_origins += got;
        if (received == Step::end) return Moved::end;
        if (received == Step::failed) return Moved::from_broke;
        std::string_view rest(piece.data(), got);
        while (!rest.empty()) {
            std::size_t sent = 0;
            const auto step = to.write(asio::buffer(rest), sent);
            passed_on(to, sent);
            rest.remove_prefix(sent);
            if (waits(step)) break;
            if (step != Step::done) return Moved::to_broke;
        }
        held.assign(rest);
        return Moved::some;
    }

    /// Notices a reset even while nothing is read from `side`: its other direction has ended,
    /// or is held up by the other side.
    asio::awaitable<void> watch(const Side& side) {
        const auto noticed = co_await wait_for(side, tcp::socket::wait_error);
        if (!noticed) co_return;
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(side.socket.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) was_reset(side);
    }

    void passed_on(const Side& to, std::size_t bytes) {
        still_alive();
        if (&to != &client_) return;
        bytes_down_ += bytes;
    }

    Frontend& frontend_;
    const Side client_, upstream_;
    std::optional<End> end_;
    unsigned ended_ = 0;  // directions
    std::uint64_t& bytes_down_;
};

std::string take_all(ReadBuffer& buffer) {
    std::string all(buffer.data());
    buffer.consume(buffer.size());
    buffer.trim();
    return all;
}

asio::awaitable<void> refuse(ClientContext& client, RequestRefusal reason, unsigned status,
                             std::string_view text) {
    ++client.frontend.counters.refusals[reason];
    co_await client.refuse(status, text);
}

}  // namespace

asio::awaitable<void> tunnel(ClientContext& client) {
    auto& frontend = client.frontend;
    const auto& config = client.config();
    const auto& fields = client.head.fields;
    // RFC 9110 §9.3.6: a CONNECT has no content. What a length would say of the bytes behind the
    // head, and what the client means by them, could differ.
    const auto framed =
        find(fields, field::content_length) || find(fields, field::transfer_encoding);
    client.parser.reset();  // no other request on this connection
    Authority authority;
    const auto bad = parse_connect_target(client.head.target, authority);
    if (bad != TargetError::none || framed) {
        std::string text("The CONNECT request is refused: ");
        text.append(bad != TargetError::none ? to_string(bad) : "it has content").append(".");
        co_return co_await refuse(client, RequestRefusal::malformed, 400, text);
    }
    // 403, as for other requests that a forward proxy would take: the method is known here, and
    // 405 would promise that another one helps.
    if (!config.forward.enabled)
        co_return co_await refuse(
            client, RequestRefusal::no_route, 403,
            "This is no forward proxy (forward.enabled is false), so it opens "
            "no tunnels.");
    if (!client.requester.rights().forward) {
        const auto text = "This is no forward proxy for " + client.requester.described() +
                          " (forward.clients), so it opens no tunnels.";
        co_return co_await refuse(client, RequestRefusal::forward_client, 403, text);
    }
    const auto& ports = config.forward.connect_ports;
    if (std::find(ports.begin(), ports.end(), authority.port) == ports.end()) {
        std::string text("Tunnels to port ");
        text.append(std::to_string(authority.port))
            .append(" are not allowed (forward.connect_ports).");
        co_return co_await refuse(client, RequestRefusal::destination, 403, text);
    }

    UpstreamTarget target{{{}, authority.port}, true};
    append_lower(target.host, authority.address());
    target.client = client.requester.text();
    OriginRequest asked(frontend.upstream, target);
    UpstreamPool::Result<UpstreamPtr> acquired = FetchError::origin_down;
    if (asked.allowed())
        acquired = co_await frontend.upstream.pool.acquire(
            target, Clock::now() + config.timeouts.origin_connect, Kept::none);
    asked.ended(acquired ? FetchError::none : acquired.error());
    if (!acquired) {
        const auto error = acquired.error();
        client.note_refused(error);
        CacheStatus status;
        status.forward = went_forward(error) ? Forward::method : Forward::nowhere;
        status.detail = to_string(error);
        const auto text = explain(error, target.host);
        co_await client.refuse(status_of(error), text, status);
        co_return;
    }
    const auto upstream = std::move(*acquired);
    client.transaction.note_server(upstream->address);
    upstream->deadline.clear();

    // No Via or Cache-Status: nobody but this node made this answer, and no cache was in its way.
    static constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";
    auto& transaction = client.transaction;
    transaction.status = 200;
    transaction.outcome = Outcome::uncacheable;
    transaction.source = Source::origin;
    client.buffers.assign(1, asio::buffer(kEstablished));
    const auto sent = co_await client.connection.send(client.buffers);
    if (!sent) {
        transaction.aborted = true;
        co_return;
    }
    co_await run_tunnel(client, *upstream);
}

asio::awaitable<void> run_tunnel(ClientContext& client, UpstreamConnection& upstream) {
    auto& transaction = client.transaction;
    auto early_up = take_all(client.connection.input());
    auto early_down = take_all(upstream.buffer);
    Tunnel passage(client.frontend, {client.connection.socket(), client.connection.tls()},
                   {upstream.socket, upstream.tls.get()}, transaction.body_bytes);
    transaction.tunnelled = true;
    const auto end = co_await passage.run(std::move(early_up), std::move(early_down));
    switch (end) {
        case Tunnel::End::clean:
        case Tunnel::End::idle:
            break;
        case Tunnel::End::client_reset: {
            transaction.aborted = true;
            boost::system::error_code ignored;
            upstream.tls.reset();  // it works on the descriptor
            upstream.socket.set_option(asio::socket_base::linger(true, 0), ignored);
            upstream.socket.close(ignored);  // the destructor would take the option back first
            break;
        }
        case Tunnel::End::upstream_reset:
            transaction.aborted = true;
            client.connection.reset();
            break;
        case Tunnel::End::cancelled:
            transaction.aborted = true;
            break;
    }
}

}  // namespace proxy
