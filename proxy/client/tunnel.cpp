#include "proxy/client/tunnel.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>
#include <vector>

#include "proxy/access/intercepted.hpp"
#include "proxy/client/error_response.hpp"
#include "proxy/client/intercept.hpp"
#include "proxy/client/listed_target.hpp"
#include "proxy/client/request_admission.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/upstream/origin_request.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

namespace {

/// Bytes passed on at a time. A rest that the other side does not take at once is kept, and nothing
/// more is read before it has gone.
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kSmallPieceBytes = 4 * 1024;  // when limits.body_windows are in use

}  // namespace

asio::awaitable<Tunnel::End> Tunnel::run(std::string early_up, std::string early_down) {
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

void Tunnel::still_alive() {
    frontend_.wheel.arm(*this, Clock::now() + frontend_.config().timeouts.tunnel_idle);
}

/// The first reason counts. Wakes all coroutines.
void Tunnel::finish(End how) {
    if (end_) return;
    end_ = how;
    client_.cancel();
    upstream_.cancel();
    if (held_) held_->notify();
}

void Tunnel::was_reset(const TunnelSide& side) {
    finish(&side == &client_ ? End::client_reset : End::upstream_reset);
}

/// False when the tunnel is over.
asio::awaitable<bool> Tunnel::wait_for(TunnelSide& side, Step step) {
    if (end_) co_return false;
    const auto ready = co_await side.wait(step);
    if (!ready)
        finish(End::cancelled);  // from outside, as nothing is cancelled here before the end
    co_return !end_.has_value();
}

/// False when the tunnel is over. A tunnel is not idle while it is held.
asio::awaitable<bool> Tunnel::wait_for_bandwidth() {
    auto now = Clock::now();
    if (share_->ready_at(now) > now) ++frontend_.counters.bandwidth_waits;
    for (auto ready = share_->ready_at(now); !end_ && ready > now; ready = share_->ready_at(now)) {
        frontend_.wheel.arm(*this, ready + frontend_.config().timeouts.tunnel_idle);
        co_await held_->wait_until(ready);
        now = Clock::now();
    }
    co_return !end_.has_value();
}

/// One direction, until its end has been passed on. `unsent` goes first.
asio::awaitable<void> Tunnel::copy(TunnelSide& from, TunnelSide& to, std::string unsent) {
    auto wanted = Step::done;    // there may be more at hand
    std::optional<Charge> room;  // for `unsent`
    const auto is_held = share_ && &to == &client_;
    for (;;) {
        while (!unsent.empty()) {
            std::size_t sent = 0;
            const auto step = to.write(asio::buffer(unsent), sent);
            passed_on(to, sent);
            unsent.erase(0, sent);
            if (step == Step::done) continue;
            if (!waits(step)) co_return was_reset(to);
            const auto ready = co_await wait_for(to, step);
            if (!ready) co_return;
        }
        unsent = std::string();  // an idle tunnel holds nothing
        room.reset();
        if (wanted != Step::done || !from.has_pending()) {
            const auto ready = co_await wait_for(from, wanted);
            if (!ready) co_return;
        }
        if (is_held) {
            const auto goes_on = co_await wait_for_bandwidth();
            if (!goes_on) co_return;
        }
        room = read_ahead(frontend_.cache.shared.windows, kPieceBytes);
        std::size_t at_most = room ? kPieceBytes : kSmallPieceBytes;
        if (is_held) at_most = std::min<std::uint64_t>(at_most, share_->piece());
        const auto moved = move_some(from, to, unsent, at_most, wanted);
        if (moved == Moved::from_broke) co_return was_reset(from);
        if (moved == Moved::to_broke) co_return was_reset(to);
        if (moved == Moved::some) continue;
        to.end();
        if (++ended_ == 2) finish(End::clean);
        co_return;
    }
}

/// Passes on the bytes that are there, `at_most` so many. `unsent` becomes the rest that `to` did
/// not take at once, `wanted` the condition for the next read. The piece is on the stack, because
/// it need not outlive a wait.
Tunnel::Moved Tunnel::move_some(TunnelSide& from, TunnelSide& to, std::string& unsent,
                                std::size_t at_most, Step& wanted) {
    std::array<char, kPieceBytes> piece;
    std::size_t got = 0;
    const auto received = from.read(asio::buffer(piece, at_most), got);
    wanted = received;
    if (&from == &upstream_ && leads_ == Leads::to_origin)
        frontend_.counters.bytes_from_origins += got;
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
    unsent.assign(rest);
    return Moved::some;
}

/// Notices a reset even while nothing is read from `side`: its other direction has ended, or is
/// unsent up by the other side.
asio::awaitable<void> Tunnel::watch(TunnelSide& side) {
    if (end_) co_return;
    const auto broken = co_await side.wait_for_reset();
    if (broken && !end_) was_reset(side);
}

void Tunnel::passed_on(const TunnelSide& to, std::size_t bytes) {
    still_alive();
    if (&to != &client_) return;
    bytes_down_ += bytes;
    if (share_) share_->sent(bytes, Clock::now());
}

namespace {

/// Why a CONNECT is refused, if so.
struct ConnectRefusal {
    RequestRefusal reason;
    unsigned status;
    std::string text;
};

std::optional<ConnectRefusal> judge_connect(const Request& request, Authority& authority) {
    const auto& fields = request.head.fields;
    const auto& forward = request.config().forward;
    if (request.inside)
        return ConnectRefusal{RequestRefusal::no_route, 403,
                              "There are no tunnels inside a connection to " +
                                  request.inside->authority() + " (forward.intercept)."};
    if (!request.requester.rights().ask)
        return ConnectRefusal{
            RequestRefusal::client, 403,
            explain_refused_client(RequestRefusal::client, request.requester.described())};
    // RFC 9110 §9.3.6: a CONNECT has no content. Both meanings of the bytes behind the head, by a
    // length and by the client, could differ.
    const auto framed =
        find(fields, field::content_length) || find(fields, field::transfer_encoding);
    const auto bad = parse_connect_target(request.head.target, authority);
    if (bad != TargetError::none || framed) {
        std::string text("The CONNECT request is refused: ");
        text.append(bad != TargetError::none ? to_string(bad) : "it has content").append(".");
        return ConnectRefusal{RequestRefusal::malformed, 400, std::move(text)};
    }
    // 403, as for other requests that a forward proxy would take: the method is known here, and
    // 405 would promise that another one helps.
    if (!forward.enabled)
        return ConnectRefusal{RequestRefusal::no_route, 403,
                              "This is no forward proxy (forward.enabled is false), so it opens no "
                              "tunnels."};
    if (!request.requester.rights().forward)
        return ConnectRefusal{RequestRefusal::forward_client, 403,
                              "This is no forward proxy for " + request.requester.described() +
                                  " (forward.clients), so it opens no tunnels."};
    const auto& ports = forward.connect_ports;
    if (std::find(ports.begin(), ports.end(), authority.port) == ports.end())
        return ConnectRefusal{RequestRefusal::destination, 403,
                              "Tunnels to port " + std::to_string(authority.port) +
                                  " are not allowed (forward.connect_ports)."};
    return std::nullopt;
}

}  // namespace

asio::awaitable<void> serve_connect(Transaction& transaction) {
    auto& frontend = transaction.frontend;
    auto& request = transaction.request;
    const auto& config = transaction.config();
    request.requester.look(config, request.head.fields);
    Authority authority;
    if (const auto refusal = judge_connect(request, authority)) {
        ++frontend.counters.refusals[refusal->reason];
        co_await transaction.refuse(refusal->status, refusal->text);
        co_return;
    }
    if (config.access) {
        const AskedPlace place{authority.host, authority.port, true};
        const auto admitted = co_await admit_request(transaction, place);
        if (!admitted) co_return;
    }
    // Nobody but client and origin knows the path.
    if (const auto page = judge_by_blocklists(transaction, authority.host, std::nullopt))
        co_return co_await refuse_listed(transaction, *page);
    if (auto name = intercepted_name(config.forward, authority.host, authority.port))
        co_return co_await intercept_connect(transaction, std::move(*name), authority.port);
    UpstreamTarget target{{{}, authority.port}, true};
    append_lower(target.host, authority.address());
    target.client = request.requester.text();
    target.tunnel = true;
    const auto& forward = config.forward;
    if (forward.parents && !forward.no_proxy.contains(target.host)) target.group = forward.parents;
    OriginRequest asked(frontend.upstream, target);
    const auto deadline = Clock::now() + config.timeouts.origin_connect;
    UpstreamPool::Result<UpstreamPtr> acquired = FetchError::origin_down;
    while (asked.allowed()) {
        acquired = co_await frontend.upstream.pool.acquire(asked.target(),
                                                           asked.connect_by(deadline), Kept::none);
        if (acquired || !asked.goes_on_after(acquired.error())) break;
    }
    asked.ended(acquired ? FetchError::none : acquired.error());
    if (!acquired) {
        const auto error = acquired.error();
        CacheStatus status;
        status.forward = went_forward(error) ? Forward::method : Forward::nowhere;
        status.detail = to_string(error);
        co_await transaction.refuse_fetch(error, target.host, asked_server(target), status);
        co_return;
    }
    const auto upstream = std::move(*acquired);
    transaction.books.note_server(upstream->address);
    upstream->deadline.clear();
    co_await run_tunnel(transaction, *upstream, 200, {});
}

asio::awaitable<void> run_tunnel(Transaction& transaction, UpstreamConnection& upstream,
                                 unsigned status, FieldBlock fields) {
    auto& books = transaction.books;
    auto& opener = *transaction.opener;
    books.status = status;
    books.outcome = Outcome::uncacheable;
    books.source = Source::origin;
    const auto open = co_await opener.open(status, fields);
    books.aborted = !open;
    if (!open) co_return;
    auto early_up = opener.take_early();
    auto early_down = upstream.buffer.take_all();
    auto& client = opener.side();
    SocketSide far(upstream.socket, upstream.tls.get());
    Tunnel tunnel(transaction.frontend, client, far, books.tunnel_bytes,
                  transaction.request.share.get());
    const auto end = co_await tunnel.run(std::move(early_up), std::move(early_down));
    books.aborted = end != Tunnel::End::clean && end != Tunnel::End::idle;
    if (end == Tunnel::End::client_reset) {
        upstream.tls.reset();  // it works on the descriptor
        far.reset();
    } else if (end == Tunnel::End::upstream_reset) {
        client.reset();
    }
}

}  // namespace proxy
