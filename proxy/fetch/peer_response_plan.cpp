#include "proxy/fetch/peer_response_plan.hpp"

#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

using Kind = PeerResponsePlan::Kind;

PeerResponsePlan refused(Refusal why) {
    return {Kind::refused, why};
}

bool may_reuse(const ReceivedPeerRequest& asked, const StoredMetadata& response,
               const PeerLookup& found) {
    return usable(decide_reuse(asked.directives, response.freshness, found.residence));
}

/// Too large to be given whole to a peer that wants a part, and can be given in parts.
bool may_be_parted(const StoredResponse& response, std::uint64_t block_bytes) {
    return response.status == 200 && response.body_bytes() / kWholeForAPartBlocks > block_bytes &&
           validators_of(response.fields()).strong();
}

PeerResponsePlan plan_stored(const StoredResponse& response, const ReceivedPeerRequest& asked,
                             const PeerLookup& found) {
    const auto& freshness = response.freshness;
    const auto cut = asked.for_block && !found.is_block;  // out of what is stored in one piece
    if (cut && (response.blocks || freshness.personal || !found.is_version))
        return refused(Refusal::absent);
    // A part of a named version needs no freshness, because the peer has the index. A response that
    // may be for one client alone is not validated for a client of another node.
    const auto may_validate = freshness.has_validator && !freshness.personal;
    if (asked.options.stand_in && freshness.never_stale) return refused(Refusal::stale);
    if (!cut && !may_reuse(asked, response, found) && !(asked.options.stale_too && may_validate))
        return {Kind::refused, Refusal::stale, may_validate};
    const auto head_alone =
        response.blocks || (asked.options.part && may_be_parted(response, asked.block_bytes));
    return {head_alone ? Kind::head_alone : Kind::stored};
}

PeerResponsePlan plan_growing(const Fill::State& growing, const ReceivedPeerRequest& asked,
                              const PeerLookup& found) {
    const auto& incoming = growing.incoming;
    const auto under_way =
        growing.phase == Fill::Phase::streaming || growing.phase == Fill::Phase::complete;
    // Only the peer that sent it gives it on.
    if (!under_way || !incoming.shared || !incoming.fed_by_origin() || incoming.validated)
        return refused(Refusal::busy);
    if (!found.is_variant) return refused(Refusal::variant);
    if (!may_reuse(asked, *incoming.response, found)) return refused(Refusal::stale);
    if (incoming.response->blocks)
        return asked.for_block ? refused(Refusal::absent) : PeerResponsePlan{Kind::head_alone};
    // Without a length a block may end anywhere, and nothing can be cut.
    if (found.is_block && !incoming.length_known) return refused(Refusal::busy);
    if (asked.for_block && !found.is_block && (!incoming.length_known || !found.is_version))
        return refused(Refusal::absent);
    return {Kind::growing};
}

}  // namespace

PeerResponsePlan plan_peer_response(const ReceivedPeerRequest& asked, const PeerLookup& found) {
    if (!asked.may_travel) return refused(Refusal::absent);
    if (found.comes_late) return refused(Refusal::busy);
    // A rule of this node shares it. At a peer that rule has to be in force, too.
    const StoredMetadata* given = found.stored;
    if (!given && found.growing && found.growing->incoming.response)
        given = found.growing->incoming.response.get();
    if (given && given->by_rule_alone && given->rule_mark != asked.options.rule_mark)
        return refused(Refusal::absent);
    if (found.stored) return plan_stored(*found.stored, asked, found);
    if (found.growing) return plan_growing(*found.growing, asked, found);
    return refused(found.other_variants ? Refusal::variant : Refusal::absent);
}

}  // namespace proxy
