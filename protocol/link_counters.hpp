#pragma once

#include "protocol/described.hpp"

namespace protocol {

/// What all links of a node have counted together, those of peers that are gone included.
struct LinkCounters {
    std::uint64_t announcements_sent = 0, announcements_received = 0;
    std::uint64_t announcement_bytes_sent = 0, announcement_bytes_received = 0;
    std::uint64_t heartbeats_sent = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
};

/// How to add one: described.hpp.
inline constexpr Described<LinkCounters> kLinkCounters[] = {
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
};
static_assert(every_member_has_a_row(kLinkCounters));

/// What following one peer's summary has counted.
struct SyncCounters {
    std::uint64_t resyncs = 0;         // snapshots asked for because of a gap or a failed check
    std::uint64_t check_failures = 0;  // check-hashes that did not agree
    std::uint64_t invalidations_received = 0;
};

/// How to add one: described.hpp. /metrics names the peer.
inline constexpr Described<SyncCounters> kSyncCounters[] = {
    {&SyncCounters::resyncs, "cluster.peers[].resyncs", "snapshots",
     "Snapshots of a peer's summary that were asked for, after a gap or a failed check.",
     "hearsay_summary_resyncs_total"},
    {&SyncCounters::check_failures, "cluster.peers[].check_failures", "check-hashes",
     "Check-hashes of a peer that did not agree.", "hearsay_summary_check_failures_total"},
    {&SyncCounters::invalidations_received, "cluster.peers[].invalidations_received",
     "keys and tags",
     "Keys and tags that a peer said are no longer to be used (hearsay_invalidations_total).", ""},
};
static_assert(every_member_has_a_row(kSyncCounters));

}  // namespace protocol
