#include "proxy/cache/peer_copy.hpp"

#include <algorithm>
#include <span>

#include "proxy/cache/block_index.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/ask_budget.hpp"
#include "summary/directory.hpp"

namespace proxy {
namespace {

using Clock = std::chrono::steady_clock;

/// An age is the sum of two times that are each less than a second too short.
constexpr std::chrono::seconds kAgeGranularity{2};

/// Was what is wanted, or something with one of these tags, invalidated so short a time ago?
bool invalidated_within(const Cache& cache, const FetchJob& job, std::chrono::seconds time,
                        std::span<const summary::KeyHash> tags = {}) {
    const auto& store = cache.shared.store;
    auto at = store.invalidated_at(job.claim.hash(), tags);
    if (job.block) at = std::max(at, store.invalidated_at(job.block->target));
    return at && Clock::now() - *at < time;
}

/// Who holds the target may hold it in one piece, and this block with it.
summary::PeerSet may_hold_it_whole(const FetchJob& job, const protocol::PeerView& view) {
    if (!job.block) return {};
    const auto& block = *job.block;
    auto candidates = view.directory->candidates({block.target, job.request->key.uri()});
    if (block.in_parts) candidates -= peers_named(*block.in_parts, view);
    return candidates;
}

/// The copy that has arrived was made at most so long ago.
std::chrono::seconds greatest_age(const Draft& made) {
    return std::chrono::seconds(made.response->freshness.initial_age) + kAgeGranularity;
}

bool may_reuse(const FetchJob& job, const Draft& made) {
    return usable(decide_reuse(job.directives, made.response->freshness, std::chrono::seconds(0)));
}

}  // namespace

PeerTurns whom_to_ask(Cache& cache, const FetchJob& job, const protocol::PeerView& view,
                      const RoundTrip& origin) {
    PeerTurns result;
    const auto promised = view.directory->candidates(job.claim.key());
    const auto perhaps = may_hold_it_whole(job, view) - promised;
    if (promised.empty() && perhaps.empty()) return result;
    // Peers may not have heard of an invalidation yet; none can show that a copy is younger.
    if (invalidated_within(cache, job, kAgeGranularity)) return result;
    const auto now = Clock::now();
    std::optional<PeerTurn> far;
    const auto admit = [&](const PeerChoice& choice, std::size_t at_most, bool is_promised) {
        for (std::size_t i = 0; i < choice.count && at_most > 0; ++i) {
            const PeerTurn turn{choice.peers[i], is_promised};
            const auto& peer = view.peers[turn.peer];
            if (!peer.in_step || !peer.can_be_asked()) continue;
            if (is_worth_asking(cache.upstream.peer_records[turn.peer].round_trip(), origin,
                                *job.config->cluster)) {
                result.turns[result.count++] = turn;
                --at_most;
            } else if (!far) {
                far = turn;
            }
        }
    };
    admit(choose_peers(promised, cache.upstream.peer_records, now), kMaxPeersAsked, true);
    if (result.count < kMaxPeersAsked)
        admit(choose_peers(perhaps, cache.upstream.peer_records, now), 1, false);
    if (result.count > 0 || !far) return result;
    ++cache.upstream.counters.peers_too_far;
    auto& record = cache.upstream.peer_records[far->peer];
    if (!far->promised || (record.round_trip().well_known() && !record.measured_long_ago(now)))
        return result;
    record.measure_from(now);
    result.turns[result.count++] = *far;
    result.beside_the_origin = true;
    return result;
}

std::optional<std::chrono::seconds> wanted_max_age(const Cache& cache, const FetchJob& job) {
    const auto at = cache.shared.store.invalidated_at(job.claim.hash());
    if (!at || job.block) return std::nullopt;
    const auto since = std::chrono::floor<std::chrono::seconds>(Clock::now() - *at);
    return std::max(since - kAgeGranularity, std::chrono::seconds(0));
}

bool is_current_copy(const Cache& cache, const FetchJob& job, const Draft& made) {
    return may_reuse(job, made) &&
           !invalidated_within(cache, job, greatest_age(made), made.response->tags);
}

bool is_acceptable_copy(const Cache& cache, const FetchJob& job, const Exchange& exchange,
                        const Draft& made) {
    const auto& head = exchange.head();
    if (job.block)  // which ends where its range does, or it cannot go on elsewhere
        return is_wanted(*job.block, head) && exchange.content_length() == job.block->range.size();
    if (head.status < 200) return false;
    switch (made.verdict) {
        case StorageVerdict::store:
        case StorageVerdict::authorization:  // of this request
        case StorageVerdict::not_reusable:   // a client may want it stale
            return is_current_copy(cache, job, made);
        default:
            return false;  // no node stores that, so none has it to give
    }
}

}  // namespace proxy
