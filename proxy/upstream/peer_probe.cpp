#include "proxy/upstream/peer_probe.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/steady_timer.hpp>
#include <optional>

#include "base/async/deadline.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

/// The fault of the port; empty: none.
std::string_view fault_of(FetchError error, const Exchange& exchange) {
    if (exchange.malformed() != ParseError::ok) return to_string(exchange.malformed());
    if (error == FetchError::tls_failed) return kNotAPeer;  // it lacks the cluster's key
    if (error != FetchError::none) return to_string(error);
    const auto& head = exchange.head();
    const auto is_a_peer = head.status == 504 && refusal_of(head.fields) != Refusal::unknown;
    return is_a_peer ? std::string_view() : kNotAPeer;
}

/// Sends one probe. Returns the fault of the port, empty without one, or nullopt if it was
/// cancelled.
asio::awaitable<std::optional<std::string_view>> probe_once(Upstream& upstream,
                                                            const PeerOfView& of) {
    Exchange exchange(upstream.pool, upstream.head_limits(), {.with_peer = true});
    const auto target = of.target();
    const Exchange::Request out{probe_text(upstream.config().node, of->token), true, true};
    const auto latest = Clock::now() + kProbePatience;
    const Exchange::Patience patience{latest, kProbePatience, latest};
    const auto error = co_await exchange.run(target, out, patience);
    if (error == FetchError::abandoned) co_return std::nullopt;
    const auto fault = fault_of(error, exchange);
    if (error == FetchError::none) exchange.finish();
    co_return fault;
}

/// The peer with this name, if it can be asked.
std::optional<PeerOfView> peer_to_probe(const Upstream& upstream, const std::string& node) {
    const auto& view = upstream.peers.view();
    if (!view) return std::nullopt;
    for (std::size_t i = 0; i < view->peers.size(); ++i)
        if (view->peers[i].node == node && view->peers[i].can_be_asked())
            return PeerOfView{view, i};
    return std::nullopt;
}

asio::awaitable<bool> wait_until(Upstream& upstream, Clock::time_point at) {
    asio::steady_timer turn(upstream.executor, at);
    const auto [cancelled] = co_await turn.async_wait(base::as_result);
    co_return !cancelled;
}

}  // namespace

std::string probe_text(std::string_view node, std::string_view token) {
    std::string out("HEAD ");
    out.append(kProbeTarget)
        .append(" HTTP/1.1\r\nHost: probe.hearsay.invalid\r\nCache-Control: only-if-cached\r\n");
    out.append(kPeerField).append(": ").append(node).append(" ").append(token);
    out.append("\r\nVia: 1.1 ").append(node).append("\r\n\r\n");
    return out;
}

std::optional<Clock::time_point> ProbeTurns::take(const std::string& node, Clock::time_point now,
                                                  std::size_t peers) {
    const auto count = static_cast<int>(peers);
    quiet_from_ = now + kApart * (count - 1);
    if (!waiting_.insert(node).second) return std::nullopt;
    const auto turn = std::max(now, next_);
    next_ =
        turn + std::min<Clock::duration>(kApart * count, Clock::duration(kLongestRound) / count);
    return std::max(turn, quiet_from_);
}

asio::awaitable<void> probe_peer(Upstream& upstream, std::string node, ProbeTurns& turns,
                                 Clock::time_point at) {
    const auto taken = Clock::now();
    auto wanted = true;
    for (; wanted && at > Clock::now(); at = turns.put_off(taken))
        wanted = co_await wait_until(upstream, at);
    turns.went(node);
    const auto of = wanted ? peer_to_probe(upstream, node) : std::nullopt;
    if (!of) co_return;
    const auto& peer = **of;
    auto fault = co_await probe_once(upstream, *of);
    // A link is up before each worker thread of the peer knows its token. Until then a probe gets
    // the response for a stranger.
    if (fault == kNotAPeer) {
        const auto waited = co_await wait_until(upstream, Clock::now() + kProbeAgainAfter);
        const auto still = waited ? peer_to_probe(upstream, node) : std::nullopt;
        if (!still || (*still)->token != peer.token) co_return;
        fault = co_await probe_once(upstream, *of);
    }
    if (!fault) co_return;
    auto* const record = upstream.peers.of(peer.node, peer.instance);
    if (record == nullptr) co_return;  // that instance is no peer any more
    if (fault->empty()) {
        record->recognised(Clock::now());
        co_return;
    }
    record->failed_by(*fault, Clock::now());
    if (const auto more = upstream.log.admit(peer.node, Clock::now()))
        spdlog::warn("peer {} is in step, but its http port does not answer as a peer's [{} {}]{}",
                     peer.node, peer.http.text(), *fault, *more);
}

void probe_newcomers(Upstream& upstream, ProbeTurns& turns) {
    if (!upstream.peers.view()) return;
    const auto& peers = upstream.peers.view()->peers;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const auto& peer = peers[i];
        if (!peer.in_sync || !peer.can_be_asked()) continue;
        if (!upstream.peers.all()[i].comes_by(peer.token)) continue;
        const auto at = turns.take(peer.node, Clock::now(), peers.size());
        if (at) upstream.probes.spawn(probe_peer(upstream, peer.node, turns, *at));
    }
}

}  // namespace proxy
