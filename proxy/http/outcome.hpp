#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy {

/// How a client request ended; each counts once, when its answer ends. The same words stand in the
/// access log and the metrics.
enum class Outcome : std::uint8_t {
    local_hit,  // from the own store: fresh, validated by 304, allowed stale, or following a fill
    peer_hit,   // a peer's copy was delivered, also when validated at the origin by 304
    origin_fetch,  // the origin's body was delivered: absent, or stale and changed
    uncacheable,   // passed through without looking
    error,         // no usable answer, refused, malformed, or the client left before the head
};
inline constexpr std::array kOutcomes{Outcome::local_hit, Outcome::peer_hit, Outcome::origin_fetch,
                                      Outcome::uncacheable, Outcome::error};
std::string_view to_string(Outcome outcome);

/// What the store had to do with the answer.
enum class CacheResult : std::uint8_t {
    hit,      // fresh, or following a fill
    miss,     // absent
    stale,    // served stale
    reval,    // was stale or had to be validated; validated or replaced
    bypass,   // the store was not asked
    partial,  // some of the body's blocks were stored, or only its index
};
std::string_view to_string(CacheResult result);

/// Where the delivered bytes came from; of several places, the one that most of them came from.
enum class Source : std::uint8_t { none, memory, disk, peer, origin };
std::string_view to_string(Source source);

/// Bytes of one answer's body by where they came from.
struct BytesBySource {
    std::uint64_t memory = 0;  // the own store, or a fill that another request began
    std::uint64_t disk = 0;    // the own store, read from disk for this answer
    std::uint64_t peer = 0, origin = 0;

    void add(Source source, std::uint64_t bytes);
    /// The place that most came from, where memory and disk are one, and then the one of them that
    /// more came from; of equals the farther one. None when there are no bytes.
    Source most() const;
};
/// How a request ended whose answer came from there.
Outcome outcome_of(Source source);

/// The client or a peer: whose question an access log line is about.
enum class Role : std::uint8_t { client, peer };
std::string_view to_string(Role role);

/// What became of asking a peer.
enum class PeerVerdict : std::uint8_t {
    not_asked,
    hit,
    false_hit,  // it said `absent`: the summary promised too much
    stale_hit,  // it has it, but no longer fresh
    refused,    // `variant`, `busy` or `draining`
    timeout,    // no head within the budget
    failure,    // connection or protocol trouble
    unusable,   // its answer may not be used; counted as a failure, but not against its health
    outrun,     // another answer came first, though this one was in time; counted likewise
    pending,    // it has not answered yet
};
std::string_view to_string(PeerVerdict verdict);

/// Why a peer answered 504; the `detail` of its Cache-Status member.
enum class Refusal : std::uint8_t { absent, variant, stale, busy, draining, unknown };
std::string_view to_string(Refusal refusal);
PeerVerdict verdict_of(Refusal refusal);

}  // namespace proxy
