#pragma once

#include "base/counters/counter_table.hpp"

namespace proxy {

using base::CounterRow;

/// Counts of peer requests between this node and one peer, in both directions. Per worker, or
/// summed.
struct PeerCounters {
    std::uint64_t asked = 0;
    std::uint64_t hits = 0, false_hits = 0, stale_hits = 0, refused = 0, failures = 0;
    std::uint64_t too_old = 0;                    // copies that were fresh there and not here
    std::uint64_t served = 0;                     // answers to the peer from the store or a fill
    std::uint64_t collisions = 0, evicted = 0;    // causes of false hits, if known
    std::uint64_t sampled = 0, false_misses = 0;  // peer requests against the summary
    std::uint64_t saved_microseconds = 0, lost_microseconds = 0;  // against the origin's usual time
};

/// counter_table.hpp explains the fields of a row. /metrics adds the peer as a label.
inline constexpr CounterRow<PeerCounters> kPeerCounters[] = {
    {&PeerCounters::asked, "cluster.peers[].asked", "requests",
     "Requests sent to a peer: those of hearsay_peer_requests_total and the ones under way.", ""},
    {&PeerCounters::hits,
     "cluster.peers[].hits",
     "requests",
     "Peer requests to a peer, by result.",
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
    {&PeerCounters::too_old,
     "cluster.peers[].too_old",
     "requests",
     "",
     "hearsay_peer_requests_total",
     {"result", "too_old"}},
    {&PeerCounters::served, "cluster.peers[].given", "answers",
     "Answers given to a peer: from the own store, or from a fill.", "hearsay_peer_given_total"},
    {&PeerCounters::collisions,
     "cluster.peers[].collisions",
     "requests",
     "False hits with a known cause: the peer's summary still claims a key that it never had, or "
     "the peer withdrew the key soon after.",
     "hearsay_peer_false_hits_total",
     {"cause", "collision"}},
    {&PeerCounters::evicted,
     "cluster.peers[].evicted",
     "requests",
     "",
     "hearsay_peer_false_hits_total",
     {"cause", "evicted"}},
    {&PeerCounters::sampled, "cluster.peers[].sampled", "requests",
     "Peer requests in spite of a summary that said no, beside the origin: one local miss in "
     "1,000.",
     "hearsay_peer_samples_total"},
    {&PeerCounters::false_misses, "cluster.peers[].false_misses", "requests",
     "Those of them that the peer could have answered.", "hearsay_peer_false_misses_total"},
    {&PeerCounters::saved_microseconds,
     "cluster.peers[].saved_microseconds",
     "microseconds",
     "Time by which heads of a peer came sooner than the origin's usual ones, and later; vain "
     "waits count as later.",
     "hearsay_peer_time_seconds_total",
     {"result", "saved"}},
    {&PeerCounters::lost_microseconds,
     "cluster.peers[].lost_microseconds",
     "microseconds",
     "",
     "hearsay_peer_time_seconds_total",
     {"result", "lost"}},
};
static_assert(base::every_member_has_a_row(kPeerCounters));

}  // namespace proxy
