#include "proxy/request/tunnel.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

namespace {

/// Bytes passed on at a time. A rest that the other side does not take at once is kept, and nothing
/// more is read before it has gone.
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kSmallPieceBytes = 4 * 1024;  // when limits.body_windows are in use
constexpr std::chrono::seconds kLingerAfterInside{2};

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
    service_.wheel.disarm(*this);
    co_return end_.value_or(End::cancelled);
}

void Tunnel::still_alive() {
    if (lingers()) return;
    service_.wheel.arm(*this, Clock::now() + service_.config().timeouts.tunnel_idle);
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
    if (inside_over_ && &side == &upstream_) return;
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
    const auto ready = share_->ready_at(now);  // as Transaction::wait_for_bandwidth() has it
    if (ready > now) ++service_.counters.bandwidth_waits;
    while (!end_ && ready > now) {
        service_.wheel.arm(*this, ready + service_.config().timeouts.tunnel_idle);
        co_await held_->wait_until(ready);
        now = Clock::now();
    }
    co_return !end_.has_value();
}

/// One direction, until its end has been passed on. `unsent` goes first.
asio::awaitable<void> Tunnel::copy(TunnelSide& from, TunnelSide& to, std::string unsent) {
    auto wanted = Step::done;          // there may be more at hand
    std::optional<base::Charge> room;  // for `unsent`
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
        room = base::read_ahead(service_.cache.shared.windows, kPieceBytes);
        std::size_t at_most = room ? kPieceBytes : kSmallPieceBytes;
        if (is_held) at_most = std::min<std::uint64_t>(at_most, share_->piece());
        const auto moved = move_some(from, to, unsent, at_most, wanted);
        const auto is_over = inside_over_ && &from == &upstream_;
        if (moved == TransferResult::from_broke && !is_over) co_return was_reset(from);
        if (moved == TransferResult::to_broke) co_return was_reset(to);
        if (moved == TransferResult::some) continue;
        co_return pass_end(from, to);
    }
}

void Tunnel::pass_end(const TunnelSide& from, TunnelSide& to) {
    to.end();
    if (&from == &upstream_) down_ended_ = true;
    if (++ended_ == 2) return finish(End::clean);
    linger_at_the_end();
}

void Tunnel::inside_is_over() {
    inside_over_ = true;
    linger_at_the_end();
}

void Tunnel::linger_at_the_end() {
    if (lingers() && !end_) service_.wheel.arm(*this, Clock::now() + kLingerAfterInside);
}

/// Passes on the bytes that are there, `at_most` so many. `unsent` becomes the rest that `to` did
/// not take at once, `wanted` the condition for the next read. The piece is on the stack, because
/// it need not outlive a wait.
Tunnel::TransferResult Tunnel::move_some(TunnelSide& from, TunnelSide& to, std::string& unsent,
                                         std::size_t at_most, Step& wanted) {
    std::array<char, kPieceBytes> piece;
    std::size_t got = 0;
    const auto received = from.read(asio::buffer(piece, at_most), got);
    wanted = received;
    if (&from == &upstream_ && leads_ == Leads::to_origin)
        service_.counters.bytes_from_origins += got;
    if (received == Step::end) return TransferResult::end;
    if (received == Step::failed) return TransferResult::from_broke;
    if (&to == &upstream_ && inside_over_) return TransferResult::some;
    std::string_view rest(piece.data(), got);
    while (!rest.empty()) {
        std::size_t sent = 0;
        const auto step = to.write(asio::buffer(rest), sent);
        passed_on(to, sent);
        rest.remove_prefix(sent);
        if (waits(step)) break;
        if (step != Step::done) return TransferResult::to_broke;
    }
    unsent.assign(rest);
    return TransferResult::some;
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

asio::awaitable<void> run_tunnel(Transaction& transaction, UpstreamConnection& upstream,
                                 unsigned status, FieldBlock fields) {
    auto& stats = transaction.stats;
    auto& opener = *transaction.opener;
    stats.status = status;
    stats.outcome = Outcome::uncacheable;
    stats.source = Source::origin;
    const auto open = co_await opener.open(status, fields);
    stats.aborted = !open;
    if (!open) co_return;
    auto early_up = opener.take_early();
    auto early_down = upstream.buffer.take_all();
    auto& client = opener.side();
    SocketSide far(upstream.socket, upstream.tls.get());
    Tunnel tunnel(transaction.service, client, far, stats.tunnel_bytes,
                  transaction.request.share.get());
    const auto end = co_await tunnel.run(std::move(early_up), std::move(early_down));
    stats.aborted = end != Tunnel::End::clean && end != Tunnel::End::idle;
    if (end == Tunnel::End::client_reset) {
        upstream.tls.reset();  // it works on the descriptor
        far.reset();
    } else if (end == Tunnel::End::upstream_reset) {
        client.reset();
    }
}

}  // namespace proxy
