#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/http/described_enum.hpp"

namespace proxy {

/// The result of a client request, counted when its answer ends. Access log and metrics use the
/// same words.
BOOST_DEFINE_FIXED_ENUM_CLASS(
    Outcome, std::uint8_t,
    local_hit,  // from the own store: fresh, validated by 304, allowed stale, or following a fill
    peer_hit,   // a peer's copy was delivered, also when validated at the origin by 304
    origin_fetch,  // the origin's body was delivered: absent, or stale and changed
    uncacheable,   // forwarded without a look-up
    error,         // failed, malformed, or the client left before the head
    refused        // by a setting: the client may not have this, or not now
)

/// The part of the store in an answer.
BOOST_DEFINE_FIXED_ENUM_CLASS(CacheResult, std::uint8_t,
                              hit,     // fresh, or following a fill
                              miss,    // absent
                              stale,   // served stale
                              reval,   // was stale or had to be validated; validated or replaced
                              bypass,  // without a look-up
                              partial  // some of the body's blocks were stored, or only its index
)

/// The place of the delivered bytes; of several places, the one that delivered most.
BOOST_DEFINE_FIXED_ENUM_CLASS(Source, std::uint8_t, none, memory, disk, peer, origin)

/// Bytes of one answer's body by their place.
struct BytesBySource {
    std::uint64_t memory = 0;  // the own store, or the fill of another request
    std::uint64_t disk = 0;    // the own store, read from disk for this answer
    std::uint64_t peer = 0, origin = 0;

    void add(Source source, std::uint64_t bytes);
    /// The place of most bytes. Memory and disk count together first, and then against each other.
    /// The farther of two equal places wins. `none` without bytes.
    Source most() const;
};
/// The result of a request whose answer came from this place.
Outcome outcome_of(Source source);

/// The sender of the request in an access log line.
BOOST_DEFINE_FIXED_ENUM_CLASS(Role, std::uint8_t, client, peer)

/// The result of a peer request.
BOOST_DEFINE_FIXED_ENUM_CLASS(
    PeerVerdict, std::uint8_t, not_asked, hit,
    false_hit,  // `absent`: the peer lacks a key that its summary claimed
    stale_hit,  // the peer's copy is no longer fresh
    refused,    // `variant`, `busy`, `draining`, or `absent` for a key that it did not promise
    timeout,    // no head 2 s after the budget, or after the budget when another answer won
    failure,    // connection or protocol trouble
    unusable,   // the answer may not be used: a failure that leaves the peer's health alone
    too_old,    // the copy was fresh at the peer, and is too old here: an ordinary no
    outrun,     // another answer came first: a failure that leaves the peer's health alone
    pending     // the peer has yet to answer
)

/// The reason of a peer's 504: the `detail` of its Cache-Status member.
BOOST_DEFINE_FIXED_ENUM_CLASS(Refusal, std::uint8_t, absent, variant, stale, busy, draining,
                              unknown)
PeerVerdict verdict_of(Refusal refusal);

}  // namespace proxy
