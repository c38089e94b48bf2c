#pragma once

#include "base/counters/counter_table.hpp"

namespace protocol {

/// Counters of all links of a node, including those with former peers.
struct LinkCounters {
    std::uint64_t announcements_sent = 0, announcements_received = 0;
    std::uint64_t announcement_bytes_sent = 0, announcement_bytes_received = 0;
    std::uint64_t snapshots_sent = 0, snapshots_received = 0;  // included in announcements
    std::uint64_t heartbeats_sent = 0, heartbeats_received = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::uint64_t connects = 0;   // links to peers that came up
    std::uint64_t resumed = 0;    // of these, links that needed no snapshot
    std::uint64_t overflows = 0;  // times that the queue of a peer was full
};

/// counter_table.hpp explains how to add one.
inline constexpr base::CounterRow<LinkCounters> kLinkCounters[] = {
    {&LinkCounters::announcements_sent,
     "cluster.announcements_sent",
     "announcements",
     "Summary announcements: deltas and snapshots.",
     "hearsay_announcements_total",
     {"direction", "sent"}},
    {&LinkCounters::announcements_received,
     "cluster.announcements_received",
     "announcements",
     "",
     "hearsay_announcements_total",
     {"direction", "received"}},
    {&LinkCounters::announcement_bytes_sent,
     "cluster.announcement_bytes_sent",
     "bytes",
     "Payloads of deltas and snapshots: what is left of the links' bytes without heartbeats, "
     "check-hashes, invalidations, hellos and framing.",
     "hearsay_announcement_bytes_total",
     {"direction", "sent"}},
    {&LinkCounters::announcement_bytes_received,
     "cluster.announcement_bytes_received",
     "bytes",
     "",
     "hearsay_announcement_bytes_total",
     {"direction", "received"}},
    {&LinkCounters::snapshots_sent,
     "cluster.snapshots_sent",
     "snapshots",
     "Whole summaries: to begin a link, to mend one, or because they were the shorter "
     "announcement.",
     "hearsay_snapshots_total",
     {"direction", "sent"}},
    {&LinkCounters::snapshots_received,
     "cluster.snapshots_received",
     "snapshots",
     "",
     "hearsay_snapshots_total",
     {"direction", "received"}},
    {&LinkCounters::bytes_sent,
     "cluster.bytes_sent",
     "bytes",
     "All bytes on peer links.",
     "hearsay_link_bytes_total",
     {"direction", "sent"}},
    {&LinkCounters::bytes_received,
     "cluster.bytes_received",
     "bytes",
     "",
     "hearsay_link_bytes_total",
     {"direction", "received"}},
    {&LinkCounters::heartbeats_sent, "cluster.heartbeats_sent", "heartbeats",
     "Heartbeats sent on peer links.", "hearsay_heartbeats_total"},
    {&LinkCounters::heartbeats_received, "cluster.heartbeats_received", "heartbeats",
     "Heartbeats received on links from peers.", "hearsay_heartbeats_received_total"},
    {&LinkCounters::connects, "cluster.connects", "links",
     "Links to peers that came up, first ones and later ones.", "hearsay_link_connects_total"},
    {&LinkCounters::resumed, "cluster.resumed", "links",
     "Links to peers that went on where an earlier link had ended: the peer got the changes that "
     "it "
     "missed, in place of the whole summary.",
     "hearsay_link_resumed_total"},
    {&LinkCounters::overflows, "cluster.overflows", "queues",
     "Times that more was waiting for a peer than the queue of its link holds, so that one "
     "snapshot "
     "replaced it.",
     "hearsay_link_overflows_total"},
};
static_assert(every_member_has_a_row(kLinkCounters));

/// Counters of following one peer's summary.
struct SyncCounters {
    std::uint64_t resyncs = 0;         // snapshots requested after a gap or a failed check
    std::uint64_t check_failures = 0;  // check-hashes that differed
    std::uint64_t invalidations_received = 0;
    std::uint64_t renewals_received = 0;
};

/// counter_table.hpp explains how to add one. /metrics names the peer.
inline constexpr base::CounterRow<SyncCounters> kSyncCounters[] = {
    {&SyncCounters::resyncs, "cluster.peers[].resyncs", "snapshots",
     "Snapshots of a peer's summary that were asked for, after a gap or a failed check.",
     "hearsay_digest_resyncs_total"},
    {&SyncCounters::check_failures, "cluster.peers[].check_failures", "check-hashes",
     "Check-hashes of a peer that did not agree.", "hearsay_digest_check_failures_total"},
    {&SyncCounters::invalidations_received, "cluster.peers[].invalidations_received",
     "keys and tags",
     "Keys and tags that a peer said are no longer to be used (hearsay_invalidations_total).", ""},
    {&SyncCounters::renewals_received, "cluster.peers[].renewals_received", "responses",
     "Responses of which a peer told that the origin had sent or confirmed them.",
     "hearsay_renewals_received_total"},
};
static_assert(every_member_has_a_row(kSyncCounters));

/// Counters of the links with one peer, or of a part of them.
struct PeerLinkCounters : LinkCounters, SyncCounters {};

inline void add(PeerLinkCounters& sum, const PeerLinkCounters& more) {
    add<LinkCounters>(sum, more, kLinkCounters);
    add<SyncCounters>(sum, more, kSyncCounters);
}

}  // namespace protocol
