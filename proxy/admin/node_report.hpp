#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "protocol/wire/codec.hpp"
#include "proxy/admin/node_status.hpp"

namespace proxy {

/// The requests of the reporting node, and the body bytes that they moved.
struct ReportedRequests {
    std::uint64_t local_hits = 0, peer_hits = 0, origin_fetches = 0, uncacheable = 0, errors = 0;
    std::uint64_t refused = 0;             // by a setting
    std::uint64_t errors_5m = 0;           // requests that ended so in the last five minutes
    std::uint64_t p50_us = 0, p99_us = 0;  // durations of the last minute; 0: no request
    std::uint64_t to_clients_bytes = 0, from_peers_bytes = 0, from_origins_bytes = 0;
    bool operator==(const ReportedRequests&) const = default;
};

/// Its store.
struct ReportedStore {
    std::uint64_t objects = 0;
    std::uint64_t memory_bytes = 0, memory_cap_bytes = 0;
    std::uint64_t disk_bytes = 0, disk_cap_bytes = 0;
    std::uint64_t disks_faulty = 0;       // directories that are paused, off, or had errors lately
    std::uint64_t disks_with_errors = 0;  // directories with an error of the last hour
    bool operator==(const ReportedStore&) const = default;
};

/// The numbers of a report, each with a place in kReportedNumbers.
struct ReportedNumbers : ReportedRequests, ReportedStore {
    std::uint64_t ready = 0, draining = 0;  // 0 or 1
    std::uint64_t uptime_seconds = 0;
    std::uint64_t summary_fill_ppm = 0;    // share of the summary in use, in millionths
    std::uint64_t expected_error_ppb = 0;  // chance of a false hit, in billionths
    std::uint64_t origins_down = 0;        // origins without an answer, summed over workers
    std::uint64_t origins_slow = 0;        // of those asked last, with an answer after a second
    std::uint64_t origins_failing = 0;     // sites whose origin mostly or often answers 5xx or 429
    bool operator==(const ReportedNumbers&) const = default;
};

/// The wire numbers: the index of a member. New numbers go to the end, and none ever leaves.
inline constexpr std::uint64_t ReportedNumbers::*kReportedNumbers[] = {
    &ReportedNumbers::ready,
    &ReportedNumbers::draining,
    &ReportedNumbers::uptime_seconds,
    &ReportedNumbers::local_hits,
    &ReportedNumbers::peer_hits,
    &ReportedNumbers::origin_fetches,
    &ReportedNumbers::uncacheable,
    &ReportedNumbers::errors,
    &ReportedNumbers::errors_5m,
    &ReportedNumbers::to_clients_bytes,
    &ReportedNumbers::from_peers_bytes,
    &ReportedNumbers::from_origins_bytes,
    &ReportedNumbers::objects,
    &ReportedNumbers::memory_bytes,
    &ReportedNumbers::memory_cap_bytes,
    &ReportedNumbers::disk_bytes,
    &ReportedNumbers::disk_cap_bytes,
    &ReportedNumbers::disks_faulty,
    &ReportedNumbers::summary_fill_ppm,
    &ReportedNumbers::expected_error_ppb,
    &ReportedNumbers::disks_with_errors,
    &ReportedNumbers::origins_down,
    &ReportedNumbers::origins_slow,
    &ReportedNumbers::origins_failing,
    &ReportedNumbers::refused,
    &ReportedNumbers::p50_us,
    &ReportedNumbers::p99_us,
};
static_assert(base::every_member_is_listed<ReportedNumbers>(std::to_array(kReportedNumbers)));

/// A link of the reporting node with one peer, as the node sees it.
struct ReportedLink {
    std::string peer;
    protocol::PeerState state = protocol::PeerState::connecting;
    std::uint64_t hits = 0;   // responses that the node got from the peer
    std::uint64_t given = 0;  // and those that it gave
    std::uint64_t false_hits = 0, failures = 0;
    std::uint64_t lag_ms = 0;
    bool operator==(const ReportedLink&) const = default;
};

/// The report of one node to its peers, and the same numbers of the own node. All of it is for
/// display: a peer's statements decide nothing.
struct NodeReport {
    std::string version;  // of the program
    ReportedNumbers numbers;
    std::vector<ReportedLink> links;
    std::uint64_t links_left_out = 0;
    std::uint64_t clock_ms = 0;  // of the sender when the report left it; 0: an earlier build
    bool judges_origins = true;  // false: an earlier build, which reports nothing about them
    bool operator==(const NodeReport&) const = default;
};

NodeReport report_of(const NodeStatus& status, std::uint64_t errors_5m);

/// The bytes of a report (protocol/FORMAT.md, Reports), kMaxReportBytes at most. Links with the
/// most hits and answers given stay; `links_left_out` counts the others.
protocol::Bytes encode_report(const NodeReport& report);

/// Reads a report of this version or of a later build. Every length is checked, and names must be
/// valid node names. Returns nothing for a malformed report, or one of another version.
std::optional<NodeReport> decode_report(base::ByteView bytes);

}  // namespace proxy
