#include "proxy/cache/peer_reply.hpp"

#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

using Kind = PeerReply::Kind;

PeerReply refused(Refusal why) {
    return {Kind::refused, why};
}

bool may_reuse(const PeerAsks& asks, const StoredMetadata& response, const PeerFinds& finds) {
    return usable(decide_reuse(asks.directives, response.freshness, finds.residence));
}

/// Too large to be given whole for the sake of a part, and can be given in parts.
bool may_be_parted(const StoredResponse& response, std::uint64_t block_bytes) {
    return response.status == 200 && response.body_bytes() / kWholeForAPartBlocks > block_bytes &&
           validators_of(response.fields()).strong();
}

PeerReply reply_with(const StoredResponse& response, const PeerAsks& asks, const PeerFinds& finds) {
    const auto& freshness = response.freshness;
    const auto cut = asks.for_block && !finds.is_block;  // out of what is stored in one piece
    if (cut && (response.blocks || freshness.personal || !finds.is_version))
        return refused(Refusal::absent);
    // A part of a version that is named needs no freshness: who asks has the index.
    // What may be for one client alone is not validated on behalf of another node's.
    const auto may_validate = freshness.has_validator && !freshness.personal;
    if (!cut && !may_reuse(asks, response, finds) && !(asks.wish.stale_too && may_validate))
        return {Kind::refused, Refusal::stale, may_validate};
    const auto head_alone =
        response.blocks || (asks.wish.part && may_be_parted(response, asks.block_bytes));
    return {head_alone ? Kind::head_alone : Kind::stored};
}

PeerReply reply_with(const Fill::State& growing, const PeerAsks& asks, const PeerFinds& finds) {
    const auto& answer = growing.answer;
    const auto under_way =
        growing.phase == Fill::Phase::streaming || growing.phase == Fill::Phase::complete;
    // What comes from a peer is that one's to give.
    if (!under_way || !answer.shared || answer.source != Fill::Source::origin || answer.validated ||
        answer.response->blocks)
        return refused(Refusal::busy);
    if (!finds.is_variant) return refused(Refusal::variant);
    if (!may_reuse(asks, *answer.response, finds)) return refused(Refusal::stale);
    // Without a length a block may end anywhere, and nothing can be cut.
    if (finds.is_block && !answer.length_known) return refused(Refusal::busy);
    if (asks.for_block && !finds.is_block && (!answer.length_known || !finds.is_version))
        return refused(Refusal::absent);
    return {Kind::growing};
}

}  // namespace

PeerReply reply_to_peer(const PeerAsks& asks, const PeerFinds& finds) {
    if (finds.stored) return reply_with(*finds.stored, asks, finds);
    if (finds.growing) return reply_with(*finds.growing, asks, finds);
    return refused(finds.other_variants ? Refusal::variant : Refusal::absent);
}

}  // namespace proxy
