#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/publishing/link_counters.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/storage/store_disk_status.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/peer_counters.hpp"
#include "proxy/telemetry/process_status.hpp"

namespace proxy {

/// What the store says of itself.
struct CacheCounters {
    std::uint64_t objects = 0;
    std::uint64_t memory_bytes = 0, disk_bytes = 0;
    std::uint64_t evictions = 0, disk_evictions = 0;  // from memory, from disk
};

/// How to add one: described.hpp. The status has the sum of evictions too.
inline constexpr Described<CacheCounters> kCacheCounters[] = {
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
static_assert(protocol::every_member_has_a_row(kCacheCounters));

/// What one directory of the disk counts; DiskStatus has more to say than numbers. The paths lead
/// from its place in the list.
inline constexpr Described<DiskCounters> kDiskNumbers[] = {
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
     "Responses that were to be written, by what became of it.",
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
     "All bytes written, those of what was written once more included.",
     "hearsay_disk_written_bytes_total"},
    {&DiskCounters::readmitted_bytes, "cache.disk[].readmitted_bytes", "bytes",
     "Bytes written once more as they had been used and their file made room.",
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
static_assert(protocol::every_member_has_a_row(kDiskNumbers));

/// What the node itself counts and measures.
struct NodeCounters {
    std::uint64_t connections = 0;      // of clients, now
    std::uint64_t window_bytes = 0;     // of bodies that pass through, and read ahead, now
    std::uint64_t log_dropped = 0;      // access log lines, as the log was too slow
    std::uint64_t log_failed = 0;       // access log lines that the system refused
    std::uint64_t internal_errors = 0;  // exceptions that nobody expected
};

/// How to add one: described.hpp.
inline constexpr Described<NodeCounters> kNodeCounters[] = {
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
    {&NodeCounters::log_dropped, "log_dropped", "lines",
     "Access log lines dropped as the log was too slow.", "hearsay_log_dropped_total"},
    {&NodeCounters::log_failed, "log_failed", "lines",
     "Access log lines that could not be written.", "hearsay_log_failed_total"},
    {&NodeCounters::internal_errors, "internal_errors", "errors",
     "Exceptions that nobody expected: a request was answered with 500, a connection closed, or a "
     "task ended.",
     "hearsay_internal_errors_total"},
};
static_assert(protocol::every_member_has_a_row(kNodeCounters));

struct SummaryStatus {
    std::string kind;
    std::uint64_t objects = 0, bits = 0;
    unsigned hashes = 0;
    double fill = 0, expected_false_hit = 0;
};

/// One peer, from the link layer (first block) and from asking it (second).
struct PeerStatus : protocol::SyncCounters, PeerCounters {
    std::string node;
    std::uint64_t epoch = 0;
    std::string state = "connecting";  // `in_step` is the good one
    double state_seconds = 0;          // so long by now
    std::string cause;                 // what keeps it from being asked, or from asking; or nothing
    double lag_seconds = 0;
    std::uint64_t objects = 0;  // as it said last
    std::uint64_t bits = 0;     // of its summary
    std::uint64_t announcement_bytes_received = 0;
    std::string last_error;
    double last_error_seconds = 0;  // ago; 0 without an error
    std::uint64_t invalidations_sent = 0;
    std::uint64_t invalidations_confirmed = 0, invalidations_pending = 0;  // by the peer, of ours

    std::string last_http_error;  // why a question to it got no answer that was of use
    double last_http_error_seconds = 0;
    double breaker_open_seconds = 0;  // until a worker asks it again; the longest of all workers
    /// From a question to the head of its answer, as the first worker that knows has it; 0:
    /// unknown.
    double round_trip_seconds = 0, round_trip_deviation_seconds = 0;

    bool in_sync() const { return state == "in_step"; }
};

/// How long an origin takes from a request to the head of its answer, and what follows from that.
struct OriginStatus {
    std::string place;  // host:port
    double answer_seconds = 0, answer_deviation_seconds = 0;
    double peer_budget_seconds = 0;  // a peer is waited for so long before this origin is asked
    double peer_limit_seconds = 0;   // a peer that takes longer is not asked in its stead
};

struct ClusterCounters : protocol::LinkCounters {
    std::map<std::string, std::uint64_t> link_refusals;  // and ends; by reason, a closed set
    std::vector<PeerStatus> peers;
    PeerStatus gone;  // sums over those that are peers no more
    std::uint64_t peers_gone = 0;
    struct Name {  // behind which peers are looked for
        std::string name;
        std::size_t places = 0;  // that it led to last
        std::string trouble;     // with the last question, or with its answer
        double age_seconds = 0;  // of the last answer
    };
    std::vector<Name> names;
    std::vector<std::string> unanswered;  // places where nobody has answered yet, and why
    std::vector<std::string> unplaced;    // listed nodes that find no room (cluster.max_peers)
    std::vector<OriginStatus> origins;    // those asked last, of the worker that asked last
};

/// What is in effect, and how attempts to replace it ended.
struct ConfigStatus {
    std::uint64_t generation = 1;  // 1: as at start; one more with each reload that changed it
    double loaded_at = 0;          // seconds since 1970: start, or the last reload that was valid
    std::uint64_t reloads = 0, failures = 0;
    std::string last_error;  // of the last reload, empty when that was valid

    bool last_successful() const { return last_error.empty(); }
};

/// One look at a node, put together by status_reports; what /api/v1/status and /metrics show.
struct NodeStatus : NodeCounters {
    std::string node;
    std::string instance;  // random, this run's: tells processes of one name apart
    std::string version;
    double uptime_seconds = 0;
    bool ready = false;
    bool draining = false;
    WorkerCounters work;
    CacheCounters cache;
    StoreDiskStatus store_disk;
    std::vector<DiskStatus> disk;  // as in cache.disk
    SummaryStatus summary;
    ClusterCounters cluster;
    ConfigStatus config;
    ProcessStatus process;
};

}  // namespace proxy
