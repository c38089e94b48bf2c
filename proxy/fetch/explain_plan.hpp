#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/http/described_enum.hpp"

namespace proxy {

// The reason why a peer would get a request for a key, or would not. No I/O, no clock.

BOOST_DEFINE_FIXED_ENUM_CLASS(
    PeerSelection, std::uint8_t, asked,
    no_claim,         // its summary lacks the key
    not_in_step,      // its summary is unusable, or it does not know this node
    in_the_clear,     // its link is, and the key's content is for encrypted ones
    left_alone,       // it failed, or most of its responses were in vain
    too_far,          // the origin is so much nearer
    others_first,     // kMaxPeersAsked others are nearer
    just_invalidated  // no peer gets a request
)

/// `peer`: its number. `turns`: the result of whom_to_ask() for the same facts, without `perhaps`.
PeerSelection why_chosen(std::size_t peer, const summary::PeerSet& promised, const PeerTurns& turns,
                         const SinceInvalidation& invalidated, const PeerFacts& known);

}  // namespace proxy
