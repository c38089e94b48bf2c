#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "protocol/publishing/link_counters.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/storage/store_disk_status.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/leaving_redirects.hpp"
#include "proxy/telemetry/origin_answers.hpp"
#include "proxy/telemetry/peer_counters.hpp"
#include "proxy/telemetry/process_status.hpp"
#include "proxy/telemetry/span_queue.hpp"

namespace proxy {

/// Numbers of the store.
struct CacheCounters {
    std::uint64_t objects = 0;
    std::uint64_t memory_bytes = 0, memory_cap_bytes = 0, disk_bytes = 0;
    std::uint64_t evictions = 0, disk_evictions = 0;  // from memory, from disk
};

/// counter_table.hpp explains the fields of a row. The status has the sum of evictions, too.
inline constexpr CounterRow<CacheCounters> kCacheCounters[] = {
    {.member = &CacheCounters::objects,
     .path = "cache.objects",
     .unit = "responses",
     .help = "Stored responses.",
     .family = "hearsay_cache_objects",
     .kind = NumberKind::level},
    {.member = &CacheCounters::memory_bytes,
     .path = "cache.memory_bytes",
     .unit = "bytes",
     .help = "Bytes of stored responses in memory; of all files on disk.",
     .family = "hearsay_cache_bytes",
     .label = {"tier", "memory"},
     .kind = NumberKind::level},
    {.member = &CacheCounters::disk_bytes,
     .path = "cache.disk_bytes",
     .unit = "bytes",
     .help = "",
     .family = "hearsay_cache_bytes",
     .label = {"tier", "disk"},
     .kind = NumberKind::level},
    {.member = &CacheCounters::memory_cap_bytes,
     .path = "cache.memory_cap_bytes",
     .unit = "bytes",
     .help = "What stored responses may take in memory.",
     .family = "hearsay_cache_cap_bytes",
     .label = {"tier", "memory"},
     .kind = NumberKind::level},
    {&CacheCounters::evictions,
     "cache.memory_evictions",
     "responses",
     "Stored responses removed to make room.",
     "hearsay_evictions_total",
     {"tier", "memory"}},
    {&CacheCounters::disk_evictions,
     "cache.disk_evictions",
     "responses",
     "",
     "hearsay_evictions_total",
     {"tier", "disk"}},
};
static_assert(base::every_member_has_a_row(kCacheCounters));

/// The counters of one directory of the disk. DiskStatus has its texts and states. The paths lead
/// from its place in the list.
inline constexpr CounterRow<DiskCounters> kDiskNumbers[] = {
    {.member = &DiskCounters::cap_bytes,
     .path = "cache.disk[].cap_bytes",
     .unit = "bytes",
     .help = "What the files in a directory of the disk may take.",
     .family = "hearsay_disk_cap_bytes",
     .kind = NumberKind::level},
    {.member = &DiskCounters::bytes,
     .path = "cache.disk[].bytes",
     .unit = "bytes",
     .help = "What they take.",
     .family = "hearsay_disk_bytes",
     .kind = NumberKind::level},
    {.member = &DiskCounters::segments,
     .path = "cache.disk[].segments",
     .unit = "files",
     .help = "How many they are.",
     .family = "hearsay_disk_segments",
     .kind = NumberKind::level},
    {.member = &DiskCounters::queued_bytes,
     .path = "cache.disk[].queued_bytes",
     .unit = "bytes",
     .help = "Bytes that wait to be written.",
     .family = "hearsay_disk_queued_bytes",
     .kind = NumberKind::level},
    {&DiskCounters::written,
     "cache.disk[].written",
     "responses",
     "Responses for the disk, by result of the writing.",
     "hearsay_disk_writes_total",
     {"result", "written"}},
    {&DiskCounters::failed,
     "cache.disk[].failed",
     "responses",
     "",
     "hearsay_disk_writes_total",
     {"result", "failed"}},
    {&DiskCounters::refused_queue_full,
     "cache.disk[].refused_queue_full",
     "responses",
     "Responses that were not to be written after all: queue_full: too much waited; paused: the "
     "disk had an error lately; too_large for a file; off: the directory is not used any more.",
     "hearsay_disk_refused_total",
     {"reason", "queue_full"}},
    {&DiskCounters::refused_paused,
     "cache.disk[].refused_paused",
     "responses",
     "",
     "hearsay_disk_refused_total",
     {"reason", "paused"}},
    {&DiskCounters::refused_too_large,
     "cache.disk[].refused_too_large",
     "responses",
     "",
     "hearsay_disk_refused_total",
     {"reason", "too_large"}},
    {&DiskCounters::refused_off,
     "cache.disk[].refused_off",
     "responses",
     "",
     "hearsay_disk_refused_total",
     {"reason", "off"}},
    {&DiskCounters::written_bytes, "cache.disk[].written_bytes", "bytes",
     "All bytes written, with those of repeated writes.", "hearsay_disk_written_bytes_total"},
    {&DiskCounters::readmitted_bytes, "cache.disk[].readmitted_bytes", "bytes",
     "Bytes of used responses that were written again, because their file made room.",
     "hearsay_disk_readmitted_bytes_total"},
    {&DiskCounters::reclaimed, "cache.disk[].reclaimed", "files", "Files removed to make room.",
     "hearsay_disk_reclaimed_total"},
    {&DiskCounters::read_at_once,
     "cache.disk[].read_at_once",
     "responses",
     "Responses by how they were read: at once, from the page cache; by threads, from the device; "
     "refused, as too many waited; failed: an error of the disk, or a bad checksum.",
     "hearsay_disk_reads_total",
     {"how", "at_once"}},
    {&DiskCounters::read_by_threads,
     "cache.disk[].read_by_threads",
     "responses",
     "",
     "hearsay_disk_reads_total",
     {"how", "by_threads"}},
    {&DiskCounters::read_refused,
     "cache.disk[].read_refused",
     "responses",
     "",
     "hearsay_disk_reads_total",
     {"how", "refused"}},
    {&DiskCounters::read_failed,
     "cache.disk[].read_failed",
     "responses",
     "",
     "hearsay_disk_reads_total",
     {"how", "failed"}},
    {.member = &DiskCounters::recovered,
     .path = "cache.disk[].recovered",
     .unit = "responses",
     .help = "Responses that were found at the start.",
     .family = "hearsay_disk_recovered",
     .kind = NumberKind::level},
    {.member = &DiskCounters::recovered_doubtful,
     .path = "cache.disk[].recovered_doubtful",
     .unit = "responses",
     .help = "Of these, older than something that could not be read, so perhaps purged: validated "
             "before they are used.",
     .family = "hearsay_disk_recovered_doubtful",
     .kind = NumberKind::level},
    {.member = &DiskCounters::recovered_torn,
     .path = "cache.disk[].recovered_torn",
     .unit = "responses",
     .help = "Responses that were being written when the process was killed, and are lost.",
     .family = "hearsay_disk_recovered_torn",
     .kind = NumberKind::level},
    {.member = &DiskCounters::found_unsealed,
     .path = "cache.disk[].found_unsealed",
     .unit = "files",
     .help = "Files at the start: unsealed: not ended, as a kill leaves one; damaged: something in "
             "it could not be read; unreadable: nothing could; foreign: of another directory.",
     .family = "hearsay_disk_found_files",
     .label = {"state", "unsealed"},
     .kind = NumberKind::level},
    {.member = &DiskCounters::found_damaged,
     .path = "cache.disk[].found_damaged",
     .unit = "files",
     .help = "",
     .family = "hearsay_disk_found_files",
     .label = {"state", "damaged"},
     .kind = NumberKind::level},
    {.member = &DiskCounters::found_unreadable,
     .path = "cache.disk[].found_unreadable",
     .unit = "files",
     .help = "",
     .family = "hearsay_disk_found_files",
     .label = {"state", "unreadable"},
     .kind = NumberKind::level},
    {.member = &DiskCounters::found_foreign,
     .path = "cache.disk[].found_foreign",
     .unit = "files",
     .help = "",
     .family = "hearsay_disk_found_files",
     .label = {"state", "foreign"},
     .kind = NumberKind::level},
};
static_assert(base::every_member_has_a_row(kDiskNumbers));

/// Numbers of the node as a whole.
struct NodeCounters {
    std::uint64_t connections = 0;       // of clients, now
    std::uint64_t window_bytes = 0;      // of bodies in flight that are unstored or read ahead, now
    std::uint64_t window_cap_bytes = 0;  // what these may be
    std::uint64_t log_dropped = 0;       // access log lines that a slow log lost
    std::uint64_t log_failed = 0;        // access log lines that the system refused
    std::uint64_t internal_errors = 0;   // unexpected exceptions
};

/// How to add one: counter_table.hpp.
inline constexpr CounterRow<NodeCounters> kNodeCounters[] = {
    {.member = &NodeCounters::connections,
     .path = "connections.open",
     .unit = "connections",
     .help = "Client connections that are open.",
     .family = "hearsay_connections",
     .kind = NumberKind::level},
    {.member = &NodeCounters::window_bytes,
     .path = "window_bytes",
     .unit = "bytes",
     .help = "Bytes in flight of bodies that are not stored, and read ahead.",
     .family = "hearsay_body_window_bytes",
     .kind = NumberKind::level},
    {.member = &NodeCounters::window_cap_bytes,
     .path = "window_cap_bytes",
     .unit = "bytes",
     .help = "What these bytes in flight may be.",
     .family = "hearsay_body_window_cap_bytes",
     .kind = NumberKind::level},
    {&NodeCounters::log_dropped, "log_dropped", "lines",
     "Access log lines dropped as the log was too slow.", "hearsay_log_dropped_total"},
    {&NodeCounters::log_failed, "log_failed", "lines",
     "Access log lines that could not be written.", "hearsay_log_failed_total"},
    {&NodeCounters::internal_errors, "internal_errors", "errors",
     "Exceptions that nobody expected: a request was answered with 500, a connection closed, or a "
     "task ended.",
     "hearsay_internal_errors_total"},
};
static_assert(base::every_member_has_a_row(kNodeCounters));

/// One peer: its links, and the results of peer requests to it.
struct PeerStatus : protocol::ClusterStatus::Peer, PeerCounters {
    std::string last_error;         // of the last link
    double last_error_seconds = 0;  // age; 0 without an error

    std::string last_http_error;  // of the last failed peer request
    double last_http_error_seconds = 0;
    double breaker_open_seconds = 0;  // until its next peer request; the longest of all workers
    /// From a peer request to the head of its answer, of the first worker that knows it. 0:
    /// unknown.
    double round_trip_seconds = 0, round_trip_deviation_seconds = 0;

    /// The clock of the peer is so far ahead of this node's; negative: behind. By its last report.
    std::optional<double> clock_ahead_seconds;

    bool in_sync() const { return state == protocol::PeerState::in_sync; }
};

/// Time from a request to the head of an origin's answer, and the limits that follow from it.
struct OriginStatus {
    std::string place;  // host:port, or `forward`: the forward target that was asked last
    double answer_seconds = 0, answer_deviation_seconds = 0;
    double peer_budget_seconds = 0;  // wait for a peer before the origin is asked
    double peer_limit_seconds = 0;   // a slower peer is skipped
};

struct ClusterCounters : protocol::LinkCounters {
    std::map<std::string, std::uint64_t> link_refusals;  // and ends, by reason; a closed set
    std::vector<PeerStatus> peers;
    PeerStatus gone;  // sums over former peers
    std::uint64_t peers_gone = 0;
    struct Name {  // a DNS name of peers
        std::string name;
        std::size_t places = 0;  // in its last answer
        std::string trouble;     // with the last look-up
        double age_seconds = 0;  // of the last answer
    };
    std::vector<Name> names;
    std::vector<std::string>
        unanswered;                     // places of unknown nodes that are silent, with the reason
    std::vector<std::string> unplaced;  // listed nodes above cluster.max_peers
    std::vector<OriginStatus> origins;  // the last ones of the last worker
};

/// One server of a group of `origins`, or one parent proxy.
struct UpstreamStatus {
    std::string group;  // host and path of the entry, or `forward.parent`
    std::string server;
    std::string_view state;  // up, slow_start, down
    unsigned weight = 1;
    bool backup = false;
    std::uint64_t requests = 0, failures = 0, in_flight = 0;  // of all workers
};

/// The answers of the origin of one site.
struct SiteAnswersStatus : SiteAnswers {
    std::string site;                                    // as in /api/v1/sites
    std::string fault = {};                              // fault_text()
    double fault_seconds = 0, last_request_seconds = 0;  // of the outage: since then
};

/// The configuration in effect, and the results of reloads.
struct ConfigStatus {
    std::uint64_t generation = 1;  // 1 at the start; a reload with changes adds 1
    double loaded_at = 0;          // seconds since 1970, of the start or the last valid reload
    std::uint64_t reloads = 0, failures = 0;
    std::string last_error;             // of the last reload; empty if that was valid
    std::vector<std::string> warnings;  // about the configuration in effect
    bool admin_token = false;           // admin.token is set

    bool last_successful() const { return last_error.empty(); }
};

/// A certificate of the TLS listener.
struct CertificateStatus {
    std::string file;
    std::vector<std::string> names;  // DNS names, lower case
    std::string key_type;            // `RSA`, `EC`
    double not_after = 0;            // seconds since 1970
    double expiry_seconds = 0;       // until then; negative afterwards
};

/// A list of forward.blocklists, as it was read.
struct BlocklistStatus {
    std::string path;
    std::string_view format, action;
    std::uint64_t entries = 0, malformed_lines = 0;
    std::string fault = {};  // why the file could not renew the list; empty if it did
};

/// All lists together.
struct BlocklistNumbers {
    std::uint64_t entries = 0;  // different ones, by hash
    std::uint64_t memory_bytes = 0, file_bytes = 0;
    std::uint64_t expected_false_positives = 0;  // by the queries so far
};
inline constexpr CounterRow<BlocklistNumbers> kBlocklistNumbers[] = {
    {.member = &BlocklistNumbers::entries,
     .path = "blocklists.entries",
     .unit = "entries",
     .help = "Different names and URLs in the blocklists.",
     .family = "hearsay_blocklist_entries",
     .kind = NumberKind::level},
    {.member = &BlocklistNumbers::memory_bytes,
     .path = "blocklists.memory_bytes",
     .unit = "bytes",
     .help = "Memory of the filter over the blocklists, with the index of their file.",
     .family = "hearsay_blocklist_memory_bytes",
     .kind = NumberKind::level},
    {.member = &BlocklistNumbers::file_bytes,
     .path = "blocklists.file_bytes",
     .unit = "bytes",
     .help = "Size of the file of sorted entries.",
     .family = "hearsay_blocklist_file_bytes",
     .kind = NumberKind::level},
    {&BlocklistNumbers::expected_false_positives, "blocklists.expected_false_positives", "queries",
     "False positives that the formula of the filter expects of so many queries.",
     "hearsay_blocklist_expected_false_positives_total"},
};
static_assert(base::every_member_has_a_row(kBlocklistNumbers));

/// The certificates for `forward.intercept`.
struct LeafStatus {
    std::uint64_t cached = 0, minted = 0, mint_us = 0;
};
inline constexpr CounterRow<LeafStatus> kLeafStatus[] = {
    {.member = &LeafStatus::cached,
     .path = "interception.certificates",
     .unit = "certificates",
     .help = "Certificates for intercepted hosts in memory.",
     .family = "hearsay_intercept_certificates",
     .kind = NumberKind::level},
    {&LeafStatus::minted, "interception.minted", "certificates",
     "Certificates that were made for intercepted hosts.",
     "hearsay_intercept_certificates_made_total"},
    {&LeafStatus::mint_us, "interception.mint_microseconds", "microseconds",
     "Time of the thread that makes them.", "hearsay_intercept_certificate_seconds_total"},
};
static_assert(base::every_member_has_a_row(kLeafStatus));

/// A node that is out of step with peers is ready this long after its start.
inline constexpr std::chrono::seconds kReadyAlone{2};

/// The certificates that the node shows: those of `tls`, and those that it makes for interception.
struct TlsStatus {
    std::vector<CertificateStatus> certificates;
    LeafStatus leaves;
};

struct BlocklistsStatus {
    BlocklistNumbers numbers;
    std::vector<BlocklistStatus> lists;  // as in forward.blocklists
};

/// The instance of the node that answers.
struct InstanceStatus {
    std::string node;
    std::string instance;  // random; differs between instances of one node name
    std::string version;
    double uptime_seconds = 0;
    bool ready = false;
    bool draining = false;
};

/// A snapshot of a node for /api/v1/status and /metrics, filled by status_reports.
struct NodeStatus : InstanceStatus, NodeCounters {
    WorkerCounters work;
    CacheCounters cache;
    StoreDiskStatus store_disk;
    std::vector<DiskStatus> disk;  // as in cache.disk
    protocol::ClusterStatus::SummaryStatus summary;
    double false_hit_budget = 0;  // expected false hits per local miss that the settings allow
    ClusterCounters cluster;
    ConfigStatus config;
    TlsStatus tls;
    SpanCounters spans;
    BlocklistsStatus blocklists;
    std::vector<UpstreamStatus> upstreams;
    std::vector<SiteAnswersStatus> answers;  // by site
    LeavingCounts leaving;                   // redirects that leave the mirrors
    ProcessStatus process;
};

}  // namespace proxy
