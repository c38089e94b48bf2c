#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/config/config.hpp"
#include "proxy/upstream/round_trip.hpp"

namespace proxy {

// When a peer is worth asking, and how long it is waited for: functions of what was measured. A
// peer spares the origin, so it may be the slower one of the two, within bounds; what is not known
// is found out by asking.

/// A peer that is nearer is late because machines have much to do, to which a second question would
/// only add; on a longer way packets get lost. Nor is any asked sooner than kRepeatAfter.
inline constexpr std::chrono::milliseconds kRepeatFrom{5};
inline constexpr std::chrono::milliseconds kRepeatAfter{20};
/// A question goes on for so long after its budget: its answer may still come first, and if not, it
/// shows how far the peer is.
inline constexpr std::chrono::seconds kLatestHead{2};

/// A peer that takes longer is not asked in place of an origin that takes so long.
inline RoundTrip::Duration peer_limit(const RoundTrip& origin, const ClusterConfig& bounds) {
    if (!origin.known()) return RoundTrip::Duration::max();
    return origin.mean() + std::max(origin.mean() / 2, bounds.peer_detour);
}

inline bool is_worth_asking(const RoundTrip& peer, const RoundTrip& origin,
                            const ClusterConfig& bounds) {
    return !peer.known() || peer.least() <= peer_limit(origin, bounds);
}

/// The origin is asked as well when peers have not answered for so long: half of what the origin
/// takes, as this is what a miss may cost more than without peers; but a peer worth asking is given
/// what it usually takes.
inline RoundTrip::Duration peer_budget(const RoundTrip& peer, const RoundTrip& origin,
                                       const ClusterConfig& bounds) {
    if (!origin.known()) return bounds.peer_budget;
    auto budget = origin.mean() / 2;
    if (peer.known())
        budget = std::max(budget,
                          std::min(peer.mean() + 2 * peer.deviation(), peer_limit(origin, bounds)));
    return std::clamp(budget, bounds.peer_budget_min, bounds.peer_budget_max);
}

/// A question that is not answered by then was probably lost on the way.
inline RoundTrip::Duration patience_with(const RoundTrip& peer) {
    if (!peer.well_known() || peer.least() < kRepeatFrom) return RoundTrip::Duration::max();
    return std::max<RoundTrip::Duration>(peer.mean() + 3 * peer.deviation(), kRepeatAfter);
}

/// The questions of one fetch, and what is to be done next.
struct AskState {
    using Time = std::chrono::steady_clock::time_point;

    Time origin_at;  // then the origin is asked as well
    Time next_at;    // then another question is asked beside those under way
    unsigned left;   // questions to peers that may still be asked
    unsigned open;   // to peers, without an end yet
    bool origin_asked;
    bool origin_ended;  // without an answer
};

enum class AskStep {
    ask_peer,
    ask_origin,
    wait,      // for an end, or until `at`
    no_peers,  // none has it, and it is the origin's turn, if that has not failed already
};
struct NextStep {
    AskStep step;
    AskState::Time at = AskState::Time::max();
};

inline NextStep next_step(const AskState& state, AskState::Time now) {
    if (state.open == 0) {
        if (state.origin_ended) return {AskStep::no_peers};
        if (state.origin_asked) return {AskStep::wait};
        return {state.left > 0 ? AskStep::ask_peer : AskStep::no_peers};
    }
    if (state.origin_asked) return {AskStep::wait};
    if (now >= state.origin_at) return {AskStep::ask_origin};
    if (state.left == 0) return {AskStep::wait, state.origin_at};
    if (now >= state.next_at) return {AskStep::ask_peer};
    return {AskStep::wait, std::min(state.origin_at, state.next_at)};
}

}  // namespace proxy
