#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

// The response of this node to a peer request: from the store, or from a fill that the origin
// feeds, or else an immediate refusal with its reason. Functions: no I/O, no clock.

/// To a peer that wants a part, this node gives the head alone of a body of more blocks than this.
inline constexpr std::uint64_t kWholeForAPartBlocks = 4;

/// The options of a peer request, beside a response that may be reused at once.
struct PeerRequestOptions {
    bool stale_too = false;       // a copy that needs validation: the peer has seen to that
    bool stand_in = false;        // with that: in place of an origin in trouble
    bool part = false;            // the head alone of a large body: the peer wants a part
    std::uint32_t rule_mark = 0;  // SitePolicy::mark() of the target at the peer
};

/// The request as the plan needs it.
struct ReceivedPeerRequest {
    const RequestDirectives& directives;
    PeerRequestOptions options;
    bool may_travel = true;         // false: the content is for encrypted connections only
    bool for_block = false;         // one block of a version: the request names range and version
    std::uint64_t block_bytes = 0;  // the block size of this node (cache.block)
};

/// The response that this node has: complete, growing, or none.
struct PeerLookup {
    const StoredResponse* stored = nullptr;
    const Fill::State* growing = nullptr;  // if nothing is stored
    std::chrono::seconds residence{0};     // of the response
    bool is_block = false;                 // found under the block's own key
    bool comes_late = false;               // a run brings the block, too late to wait for it
    bool is_version = true;                // the version that the request names
    bool is_variant = true;                // of `growing`: for this request
    bool other_variants = false;           // there are variants for other requests
};

/// The decision about one peer request: the kind of response, or the reason of the refusal.
struct PeerResponsePlan {
    enum class Kind : std::uint8_t {
        stored,      // all of it, or the block cut out of it
        head_alone,  // see length_of_head_alone()
        growing,     // the fill, as it grows
        refused,
    };
    Kind kind = Kind::refused;
    Refusal refusal = Refusal::absent;
    bool name_validators = false;  // with `stale`: the peer can validate the copy at the origin

    bool operator==(const PeerResponsePlan&) const = default;
};
/// Decides the response to a peer request by what the node has.
PeerResponsePlan plan_peer_response(const ReceivedPeerRequest& asked, const PeerLookup& found);

}  // namespace proxy
