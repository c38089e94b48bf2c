#include "proxy/upstream/peer_probe.hpp"

#include <spdlog/spdlog.h>

#include <utility>

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
    if (error != FetchError::none) return to_string(error);
    const auto& head = exchange.head();
    const auto is_a_peer = head.status == 504 && refusal_of(head.fields) != Refusal::unknown;
    return is_a_peer ? std::string_view() : "not_a_peer";
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

asio::awaitable<void> probe_peer(Upstream& upstream, PeerOfView of) {
    const auto& peer = *of;
    Exchange exchange(upstream.pool, upstream.head_limits());
    exchange.with_peer();
    const auto target = of.target();
    const Exchange::Request out{probe_text(upstream.config().node, peer.token), true, true};
    const auto latest = Clock::now() + kProbePatience;
    const Exchange::Patience patience{latest, kProbePatience, latest};
    const auto error = co_await exchange.run(target, out, patience);
    if (error == FetchError::abandoned) co_return;
    const auto fault = fault_of(error, exchange);
    if (error == FetchError::none) exchange.finish();
    if (fault.empty()) co_return;
    auto* const record = upstream.record_of(peer.node, peer.instance);
    if (record == nullptr) co_return;  // that instance is no peer any more
    record->failed_by(fault, Clock::now());
    if (const auto more = upstream.log.admit(peer.node, Clock::now()))
        spdlog::warn("peer {} is in step, but its http port does not answer as a peer's [{} {}]{}",
                     peer.node, peer.http.text(), fault, *more);
}

void probe_newcomers(Upstream& upstream) {
    if (!upstream.peers) return;
    const auto& peers = upstream.peers->peers;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const auto& peer = peers[i];
        if (!peer.in_sync || !peer.can_be_asked()) continue;
        if (!upstream.peer_records[i].comes_by(peer.token)) continue;
        upstream.probes.spawn(probe_peer(upstream, PeerOfView{upstream.peers, i}));
    }
}

}  // namespace proxy
