#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/cache/peer_request_plan.hpp"

namespace proxy {

// Why a peer would be asked for something, or would not. No I/O, no clock.

enum class PeerChosen : std::uint8_t {
    asked,
    no_claim,          // its summary does not have the key
    not_in_step,       // its summary does not count, or it does not know us
    left_alone,        // it failed, or most of what it was asked was in vain
    too_far,           // the origin is so much nearer
    others_first,      // at most kMaxPeersAsked are asked, and those are nearer
    just_invalidated,  // nobody is
};
std::string_view to_string(PeerChosen chosen);

/// Of the peer with this number. `turns`: what whom_to_ask() said of the same, without `perhaps`.
PeerChosen why_chosen(std::size_t peer, const summary::PeerSet& promised, const PeerTurns& turns,
                      const SinceInvalidation& invalidated, const PeerFacts& known);

}  // namespace proxy
