#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

// What a peer's question is answered with: from what is stored, or is on its way from the origin;
// else a refusal that says why, at once. Functions: no I/O, no clock.

/// A peer gives a body of more blocks than this as its head alone to who wants but a part of it.
inline constexpr std::uint64_t kWholeForAPartBlocks = 4;

/// What a peer will take beside what may be reused at once.
struct PeerRequestOptions {
    bool stale_too = false;  // what has to be validated: it has seen to that
    bool part = false;       // of a large body the head alone: it wants but a part
};

/// What it asks for.
struct ReceivedPeerRequest {
    const RequestDirectives& directives;
    PeerRequestOptions options;
    bool for_block = false;         // one block of a version: range and version are named
    std::uint64_t block_bytes = 0;  // what this node stores large bodies in (cache.block)
};

/// What there is for it: a response, complete or growing, or nothing.
struct FoundForPeer {
    const StoredResponse* stored = nullptr;
    const Fill::State* growing = nullptr;  // if nothing is stored
    std::chrono::seconds residence{0};     // of the response
    bool is_block = false;                 // it was found under the block's own key
    bool is_version = true;                // the version that the question names
    bool is_variant = true;                // of `growing`: for this request
    bool other_variants = false;           // with nothing: there are some for other requests
};

struct PeerResponsePlan {
    enum class Kind : std::uint8_t {
        stored,      // all of it, or the block cut out of it
        head_alone,  // see length_of_head_alone()
        growing,     // what is on its way, as it comes
        refused,
    };
    Kind kind = Kind::refused;
    Refusal refusal = Refusal::absent;
    bool name_validators = false;  // with `stale`: the origin can be asked whether it is good

    bool operator==(const PeerResponsePlan&) const = default;
};
PeerResponsePlan plan_peer_response(const ReceivedPeerRequest& asked, const FoundForPeer& found);

}  // namespace proxy
