#include "proxy/upstream/peer_head_request.hpp"

#include <utility>

#include "proxy/http/cache_status.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

PeerHeadResult what_peer_has(const Head& answer) {
    if (answer.status == 200) return PeerHeadResult::has;
    if (answer.status != 504) return PeerHeadResult::unknown;
    switch (refusal_of(answer.fields)) {
        case Refusal::absent:
            return PeerHeadResult::absent;
        case Refusal::variant:
            return PeerHeadResult::variant;
        case Refusal::stale:
            return PeerHeadResult::stale;
        case Refusal::busy:
            return PeerHeadResult::busy;
        case Refusal::draining:
            return PeerHeadResult::draining;
        case Refusal::unknown:
            break;
    }
    return PeerHeadResult::unknown;
}

asio::awaitable<PeerHeadResult> send_peer_head_request(Upstream& upstream, PeerOfView peer,
                                                       std::string text,
                                                       std::chrono::nanoseconds patience) {
    Exchange exchange(upstream.pool, upstream.head_limits(), {.with_peer = true});
    const auto target = peer.target();
    const Exchange::Request out{std::move(text), true, true};
    const auto latest = Clock::now() + patience;
    const auto error = co_await exchange.run(target, out, {latest, patience, latest});
    if (error != FetchError::none) co_return PeerHeadResult::unknown;
    const auto has = what_peer_has(exchange.head());
    exchange.finish();
    co_return has;
}

}  // namespace proxy
