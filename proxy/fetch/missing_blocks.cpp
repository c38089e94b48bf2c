#include "proxy/fetch/missing_blocks.hpp"

#include <chrono>

#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/storage/blocks.hpp"
#include "summary/directory/directory.hpp"

namespace proxy {

using Clock = std::chrono::steady_clock;

std::optional<std::size_t> likely_peer(const Cache& cache, const BodyAsked& body,
                                       const summary::Key& part) {
    const auto& view = cache.upstream.peers.view();
    const auto& cluster = body.config.cluster;
    if (!view || !view->directory || !cluster) return std::nullopt;
    auto candidates = view->directory->candidates(part);
    candidates -= peers_named(body.peers.slow, *view);
    if (candidates.empty()) return std::nullopt;
    const auto now = Clock::now();
    const auto invalidated = cache.shared.store.invalidated_at(body.hash, body.key.uri());
    const auto since = invalidated ? SinceInvalidation(now - *invalidated) : std::nullopt;
    const auto& origin = body.origin;
    const PeerFacts known{view->peers,
                          cache.upstream.peers.all(),
                          body.config.constants.peers,
                          origin ? cache.upstream.origin_times.of(origin->key) : RoundTrip(),
                          now,
                          {},
                          stays_encrypted(*cluster, body.key),
                          body.block_bytes};
    const auto whom = whom_to_ask(candidates, {}, since, known);
    if (whom.count == 0 || whom.beside_the_origin) return std::nullopt;
    return whom.turns[0].peer;
}

std::optional<std::uint64_t> end_of_missing(const Cache& cache, const FetchJob& job) {
    const auto& request = *job.wanted.request;
    const auto& block = *job.wanted.block;
    auto& shared = cache.shared;
    const auto uri = request.key.uri();
    const BodyAsked body{request.key,      block.target, request.config(),
                         request.origin(), *block.peers, block.block_bytes};
    // The whole may be at a peer in one piece, unless a node fetches its blocks.
    const auto is_of_run =
        job.from.of_run || !shared.cooperation.fetchers.of(block.target, Clock::now()).empty();
    std::optional<std::uint64_t> end;
    if (!is_of_run && likely_peer(cache, body, {block.target, uri})) return end;
    const Blocks blocks{block.length, block.block_bytes};
    const auto last = block.range.last + block.bytes_behind;
    auto offset = block.range.last + 1;
    for (std::uint64_t i = 0; offset <= last && i < kMaxBlocksExpected; ++i) {
        const auto next = blocks.at(offset);
        const auto name = block_key(uri, block.version.etag, block.version.form, next);
        const auto hash = shared.key_hasher(name);
        const auto is_here = shared.store.peek(hash, name, {}) != Store::StoredAt::nowhere;
        if (is_here || likely_peer(cache, body, {hash, name})) break;
        end = next.last;
        offset = next.last + 1;
    }
    return end;
}

}  // namespace proxy
