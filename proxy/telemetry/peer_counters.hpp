#pragma once

#include "protocol/described.hpp"

namespace proxy {

using protocol::Described;

/// What became of a worker's questions to one peer, and of the peer's to it; summed over workers.
struct PeerCounters {
    std::uint64_t asked = 0;
    std::uint64_t hits = 0, false_hits = 0, stale_hits = 0, refused = 0, failures = 0;
    std::uint64_t served = 0;  // answers of ours out of the store: bodies, parts, heads
};

/// How to add one: described.hpp. /metrics names the peer.
inline constexpr Described<PeerCounters> kPeerCounters[] = {
    {&PeerCounters::asked, "cluster.peers[].asked", "requests",
     "Requests sent to a peer: those of hearsay_peer_requests_total and the ones under way.", ""},
    {&PeerCounters::hits,
     "cluster.peers[].hits",
     "requests",
     "Requests sent to a peer by what became of them.",
     "hearsay_peer_requests_total",
     {"result", "hit"}},
    {&PeerCounters::false_hits,
     "cluster.peers[].false_hits",
     "requests",
     "",
     "hearsay_peer_requests_total",
     {"result", "false_hit"}},
    {&PeerCounters::stale_hits,
     "cluster.peers[].stale_hits",
     "requests",
     "",
     "hearsay_peer_requests_total",
     {"result", "stale_hit"}},
    {&PeerCounters::refused,
     "cluster.peers[].refused",
     "requests",
     "",
     "hearsay_peer_requests_total",
     {"result", "refused"}},
    {&PeerCounters::failures,
     "cluster.peers[].failures",
     "requests",
     "",
     "hearsay_peer_requests_total",
     {"result", "failure"}},
    {&PeerCounters::served, "cluster.peers[].given", "answers",
     "Answers given to a peer out of the own store.", "hearsay_peer_given_total"},
};
static_assert(protocol::every_member_has_a_row(kPeerCounters));

}  // namespace proxy
