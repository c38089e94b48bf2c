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

/// True if the link that `probed` came by is still the link of that peer.
bool has_same_link(const Upstream& upstream, const PeerOfView::Peer& probed) {
    if (!upstream.peers.view()) return false;
    const auto& peers = upstream.peers.view()->peers;
    for (std::size_t i = 0; i < peers.size(); ++i)
        if (peers[i].node == probed.node)
            return peers[i].can_be_asked() && peers[i].token == probed.token;
    return false;
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

asio::awaitable<void> probe_peer(Upstream& upstream, PeerOfView of, const ProbeTurns& turns,
                                 Clock::time_point at) {
    const auto& peer = *of;
    const auto taken = Clock::now();
    for (; at > Clock::now(); at = turns.put_off(taken)) {
        asio::steady_timer turn(upstream.executor, at);
        const auto [cancelled] = co_await turn.async_wait(base::as_result);
        if (cancelled || !has_same_link(upstream, peer)) co_return;
    }
    auto fault = co_await probe_once(upstream, of);
    // A link is up before each worker thread of the peer knows its token. Until then a probe gets
    // the response for a stranger.
    if (fault == kNotAPeer) {
        asio::steady_timer pause(upstream.executor, kProbeAgainAfter);
        const auto [cancelled] = co_await pause.async_wait(base::as_result);
        if (cancelled || !has_same_link(upstream, peer)) co_return;
        fault = co_await probe_once(upstream, of);
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
        const auto at = turns.take(Clock::now(), peers.size());
        upstream.probes.spawn(
            probe_peer(upstream, PeerOfView{upstream.peers.view(), i}, turns, at));
    }
}

}  // namespace proxy
