#include "proxy/fetch/explain_plan.hpp"

#include <algorithm>

namespace proxy {

PeerSelection why_chosen(std::size_t peer, const summary::PeerSet& promised, const PeerTurns& turns,
                         const SinceInvalidation& invalidated, const PeerFacts& known) {
    const auto* end = turns.turns.begin() + turns.count;
    if (std::any_of(turns.turns.begin(), end, [&](const auto& turn) { return turn.peer == peer; }))
        return PeerSelection::asked;
    const auto& its = known.peers[peer];
    if (!its.in_sync || !its.can_be_asked()) return PeerSelection::not_in_step;
    if (!promised.contains(static_cast<unsigned>(peer))) return PeerSelection::no_claim;
    if (!may_get_request(its, known.only_encrypted)) return PeerSelection::in_the_clear;
    if (is_just_invalidated(invalidated)) return PeerSelection::just_invalidated;
    const auto& record = known.records[peer];
    if (!record.may_ask(known.now)) return PeerSelection::left_alone;
    if (!is_worth_asking(record.round_trip(), known.origin, known.bounds))
        return PeerSelection::too_far;
    return PeerSelection::others_first;
}

}  // namespace proxy
