#include "proxy/fetch/peer_request_plan.hpp"

#include <algorithm>

#include "proxy/http/redirects.hpp"
#include "proxy/http/request_policy.hpp"

namespace proxy {
namespace {

bool invalidated_within(const SinceInvalidation& invalidated, std::chrono::seconds time) {
    return invalidated && *invalidated < time;
}

}  // namespace

bool pays_in_spite_of_no(const PeerRecord& record, const RoundTrip& origin) {
    if (!origin.known() || !record.round_trip().known()) return false;
    const std::chrono::duration<double> origins = origin.mean();
    return record.false_miss_rate() * origins.count() > record.cost();
}

bool stays_encrypted(const ClusterConfig& cluster, const CacheKey& key) {
    return cluster.encrypt && key.scheme() == Scheme::https;
}

PeerTurns whom_to_ask(const summary::PeerSet& promised, const summary::PeerSet& perhaps,
                      const SinceInvalidation& invalidated, const PeerFacts& known) {
    PeerTurns result;
    // Peers may not have heard of an invalidation yet; none can show that a copy is younger.
    if (is_just_invalidated(invalidated)) return result;
    std::optional<PeerTurn> far;
    const auto admit = [&](const summary::PeerSet& candidates, std::size_t at_most,
                           bool is_promised) {
        summary::PeerSet askable;
        for (const auto peer : candidates)
            if (peer < known.peers.size() && known.peers[peer].in_sync &&
                may_get_request(known.peers[peer], known.only_encrypted))
                askable.insert(peer);
        const auto choice = choose_peers(askable, known.records, known.now, known.body_bytes);
        for (std::size_t i = 0; i < choice.count && at_most > 0; ++i) {
            const PeerTurn turn{choice.peers[i], is_promised};
            if (is_worth_asking(known.records[turn.peer].round_trip(), known.origin,
                                known.bounds)) {
                result.add(turn);
                --at_most;
            } else if (!far) {
                far = turn;
            }
        }
    };
    admit(promised, kMaxPeersAsked, true);
    if (result.count < kMaxPeersAsked) admit(perhaps, 1, false);
    if (result.count > 0) return result;
    summary::PeerSet denying;
    for (const auto peer : known.denying)
        if (peer < known.records.size() && !promised.contains(peer) &&
            pays_in_spite_of_no(known.records[peer], known.origin))
            denying.insert(peer);
    admit(denying, 1, false);
    if (result.count > 0 || !far) return result;
    result.too_far = true;
    const auto& record = known.records[far->peer];
    if (!far->promised ||
        (record.round_trip().well_known() && !record.measured_long_ago(known.now)))
        return result;
    result.add(*far);
    result.beside_the_origin = true;
    return result;
}

std::optional<std::chrono::seconds> wanted_max_age(const SinceInvalidation& invalidated) {
    if (!invalidated) return std::nullopt;
    const auto since = std::chrono::floor<std::chrono::seconds>(*invalidated);
    return std::max(since - kAgeGranularity, std::chrono::seconds(0));
}

bool is_current_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                     const SinceInvalidation& invalidated) {
    const auto made_within = std::chrono::seconds(copy.freshness.initial_age) + kAgeGranularity;
    return usable(decide_reuse(directives, copy.freshness, std::chrono::seconds(0))) &&
           !invalidated_within(invalidated, made_within);
}

PeerVerdict judge_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                       const SinceInvalidation& invalidated) {
    if (is_current_copy(directives, copy, invalidated)) return PeerVerdict::hit;
    // A peer gives what may be reused there. With a lifetime here as well, the nodes agree on it.
    return copy.freshness.serves_others() ? PeerVerdict::too_old : PeerVerdict::unusable;
}

bool can_be_copy(const StoredMetadata& copy, StorageVerdict verdict) {
    return copy.status >= 200 &&
           (verdict == StorageVerdict::store ||
            verdict == StorageVerdict::authorization ||  // of this request
            verdict == StorageVerdict::not_reusable);    // a client may want it stale
}

PeerVerdict judge_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                       StorageVerdict verdict, const SinceInvalidation& invalidated) {
    return can_be_copy(copy, verdict) ? judge_copy(directives, copy, invalidated)
                                      : PeerVerdict::unusable;
}

CopyUse use_of_copy(CopyPolicy policy, const RemoteHit& hit, RemoteHits& lately) {
    switch (policy) {
        case CopyPolicy::always:
            return CopyUse::stored;
        case CopyPolicy::while_room:
        case CopyPolicy::second_use:
            if (lately.note(hit.key) || hit.awaited || hit.renews) return CopyUse::stored;
            return hit.room && policy == CopyPolicy::while_room ? CopyUse::stored
                                                                : CopyUse::passed_on_once;
        case CopyPolicy::never:
            break;
    }
    return hit.renews ? CopyUse::stored : CopyUse::passed_on;
}

std::optional<StaleCopy> stale_copy_at(std::string_view peer, const Head& refusal) {
    const auto known = validators_of(refusal.fields);
    if (!known.any()) return std::nullopt;
    return StaleCopy{std::string(peer), std::string(known.etag), std::string(known.last_modified),
                     std::string(source_of(refusal.fields))};
}

bool is_that_copy(const StaleCopy& copy, const Head& head, bool head_alone) {
    const auto held = validators_of(head.fields);
    return (head.status == 200 || head_alone) && held.etag == copy.etag &&
           held.last_modified == copy.last_modified && source_of(head.fields) == copy.source;
}

PeerRequestPlan::PeerRequestPlan(const PeerTurns& whom, const RoundTrip& nearest,
                                 const RoundTrip& origin, const PeerTimes& bounds, bool asks_origin,
                                 Time now)
    : whom_(whom),
      budget_(whom.beside_the_origin ? Duration(0) : peer_budget(nearest, origin, bounds)),
      origin_at_(asks_origin ? now + budget_ : Time::max()) {}

void PeerRequestPlan::spare_origin(const PeerTimes& bounds, Time now) {
    if (origin_at_ != Time::max()) origin_at_ = std::max(origin_at_, now + bounds.budget_most);
}

NextStep PeerRequestPlan::next(const InFlightRequests& now_open, Time now) const {
    AskState state{};
    state.origin_at = origin_at_;
    state.next_at = next_at_;
    state.open = now_open.peers;
    state.origin_asked = now_open.origin;
    state.origin_ended = now_open.origin && now_open.origin_ended;
    state.left = static_cast<unsigned>(whom_.count - next_);
    // A peer whose summary has the key may get the request again, on another connection.
    if (state.open > 0 && state.left == 0 && whom_.turns[0].promised && !whom_.beside_the_origin)
        state.left = static_cast<unsigned>(kMaxPeersAsked - sent_);
    return next_step(state, now);
}

PeerRequestPlan::Request PeerRequestPlan::ask(unsigned peers_open) {
    Request request;
    request.turn = whom_.turns[next_ < whom_.count ? next_++ : 0];
    request.again = peers_open > 0;
    request.budget = whom_.beside_the_origin ? latest() : budget_;
    return request;
}

void PeerRequestPlan::asked(const RoundTrip& known, Time now) {
    const auto patience = patience_with(known);
    next_at_ = patience < budget_ ? now + patience : Time::max();
    ++sent_;
}

}  // namespace proxy
