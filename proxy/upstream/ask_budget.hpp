#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/config/constants.hpp"
#include "proxy/upstream/round_trip.hpp"

namespace proxy {

// These functions of measured times decide when a peer is worth a request, and how long the fetch
// waits for it. A peer spares the origin, so it may be the slower of the two, within bounds. An
// unknown peer is measured by a request.

/// A near peer is late because its machine is busy, and a second request would only add to that. A
/// far peer is late because packets get lost. Every second request waits for kRepeatAfter at least.
inline constexpr std::chrono::milliseconds kRepeatFrom{5};
inline constexpr std::chrono::milliseconds kRepeatAfter{20};
/// A request goes on for this long after its budget. Its response may still come first, and
/// otherwise it shows how far the peer is.
inline constexpr std::chrono::seconds kLatestHead{2};

/// Returns the time above which a peer is too slow to get the request instead of this origin.
inline RoundTrip::Duration peer_limit(const RoundTrip& origin, const PeerTimes& bounds) {
    if (!origin.known()) return RoundTrip::Duration::max();
    return origin.mean() + std::max(origin.mean() / 2, bounds.detour);
}

/// True for an unknown peer, and for one within peer_limit().
inline bool is_worth_asking(const RoundTrip& peer, const RoundTrip& origin,
                            const PeerTimes& bounds) {
    return !peer.known() || peer.least() <= peer_limit(origin, bounds);
}

/// Returns the time after which the origin gets the request beside silent peers. It is half of the
/// origin's usual time, because a miss may cost that much more than without peers. A peer that is
/// worth a request gets its usual time.
inline RoundTrip::Duration peer_budget(const RoundTrip& peer, const RoundTrip& origin,
                                       const PeerTimes& bounds) {
    if (!origin.known()) return bounds.budget;
    auto budget = origin.mean() / 2;
    if (peer.known())
        budget = std::max(budget,
                          std::min(peer.mean() + 2 * peer.deviation(), peer_limit(origin, bounds)));
    return std::clamp(budget, bounds.budget_least, bounds.budget_most);
}

/// Returns the time after which a request to this peer was probably lost on the way.
inline RoundTrip::Duration patience_with(const RoundTrip& peer) {
    if (!peer.well_known() || peer.least() < kRepeatFrom) return RoundTrip::Duration::max();
    return std::max<RoundTrip::Duration>(peer.mean() + 3 * peer.deviation(), kRepeatAfter);
}

/// The requests of one fetch, as next_step() needs to know them.
struct AskState {
    using Time = std::chrono::steady_clock::time_point;

    Time origin_at;  // from then on the origin gets the request, too
    Time next_at;    // from then on one more peer gets the request
    unsigned left;   // requests to peers that may still go out
    unsigned open;   // requests to peers without an end yet
    bool origin_asked;
    bool origin_ended;  // without a response
};

/// The next step of a fetch with peers.
enum class AskStep {
    ask_peer,
    ask_origin,
    wait,      // for an end, or until `at`
    no_peers,  // no peer has it; the origin is next, unless it has failed already
};
/// A step, and for AskStep::wait the time until which it holds.
struct NextStep {
    AskStep step;
    AskState::Time at = AskState::Time::max();
};

/// Decides the next step: a peer first, the origin beside silent peers after their budget.
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
