#pragma once

#include <cstdint>
#include <string_view>

namespace proxy {

/// The result of a client request, counted when its answer ends. Access log and metrics use the
/// same words.
enum class Outcome : std::uint8_t {
    local_hit,  // from the own store: fresh, validated by 304, allowed stale, or following a fill
    peer_hit,   // a peer's copy was delivered, also when validated at the origin by 304
    origin_fetch,  // the origin's body was delivered: absent, or stale and changed
    uncacheable,   // forwarded without a look-up
    error,         // failed, malformed, or the client left before the head
    refused,       // by a setting: the client may not have this, or not now
};
constexpr std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::local_hit:
            return "local_hit";
        case Outcome::peer_hit:
            return "peer_hit";
        case Outcome::origin_fetch:
            return "origin_fetch";
        case Outcome::uncacheable:
            return "uncacheable";
        case Outcome::error:
            return "error";
        case Outcome::refused:
            return "refused";
    }
    return {};
}

/// The part of the store in an answer.
enum class CacheResult : std::uint8_t {
    hit,      // fresh, or following a fill
    miss,     // absent
    stale,    // served stale
    reval,    // was stale or had to be validated; validated or replaced
    bypass,   // without a look-up
    partial,  // some of the body's blocks were stored, or only its index
};
std::string_view to_string(CacheResult result);

/// The place of the delivered bytes; of several places, the one that delivered most.
enum class Source : std::uint8_t { none, memory, disk, peer, origin };
std::string_view to_string(Source source);

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
enum class Role : std::uint8_t { client, peer };
std::string_view to_string(Role role);

/// The result of a peer request.
enum class PeerVerdict : std::uint8_t {
    not_asked,
    hit,
    false_hit,  // `absent`: the peer lacks a key that its summary claimed
    stale_hit,  // the peer's copy is no longer fresh
    refused,    // `variant`, `busy`, `draining`, or `absent` for a key that it did not promise
    timeout,    // no head 2 s after the budget, or after the budget when another answer won
    failure,    // connection or protocol trouble
    unusable,   // the answer may not be used: a failure that leaves the peer's health alone
    outrun,     // another answer came first: a failure that leaves the peer's health alone
    pending,    // the peer has yet to answer
};
std::string_view to_string(PeerVerdict verdict);

/// The reason of a peer's 504: the `detail` of its Cache-Status member.
enum class Refusal : std::uint8_t { absent, variant, stale, busy, draining, unknown };
std::string_view to_string(Refusal refusal);
PeerVerdict verdict_of(Refusal refusal);

}  // namespace proxy
