#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proxy/telemetry/counters.hpp"

namespace proxy {

struct CacheCounters {
    std::uint64_t objects = 0, memory_bytes = 0, disk_bytes = 0, evictions = 0, disk_evictions = 0;
};

struct SummaryStatus {
    std::string kind = "counting_bloom";
    std::uint64_t objects = 0, bits = 0;
    unsigned hashes = 0;
    double fill = 0, expected_false_hit = 0;
};

/// One peer, from the link layer (first block) and from asking it (second).
struct PeerStatus {
    std::string node;
    std::uint64_t epoch = 0;
    std::string state = "connecting";  // `in_step` is the good one
    double lag_seconds = 0;
    std::uint64_t objects = 0;  // estimated from its summary
    std::uint64_t resyncs = 0, check_failures = 0;
    std::string last_error;
    std::uint64_t invalidations_sent = 0, invalidations_received = 0;
    std::uint64_t invalidations_confirmed = 0, invalidations_pending = 0;  // by the peer, of ours

    std::uint64_t asked = 0, hits = 0, false_hits = 0, stale_hits = 0, refused = 0, failures = 0;
    std::uint64_t given = 0;        // our answers to it out of the store
    double left_alone_seconds = 0;  // by one worker at least, until it is asked again
    /// From a question to the head of its answer, of the worker that knows best; 0: not known.
    double round_trip_seconds = 0, round_trip_deviation_seconds = 0;

    bool in_step() const { return state == "in_step"; }
};

/// How long an origin takes from a request to the head of its answer, and what follows from that.
struct OriginStatus {
    std::string place;  // host:port
    double answer_seconds = 0, answer_deviation_seconds = 0;
    double peer_budget_seconds = 0;  // a peer is waited for so long before this origin is asked
    double peer_limit_seconds = 0;   // a peer that takes longer is not asked in its stead
};

struct ClusterCounters {
    std::uint64_t announcements_sent = 0, announcements_received = 0, heartbeats_sent = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::map<std::string, std::uint64_t> link_refusals;  // by reason, a closed set
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

/// One look at a node, put together by the admin side; what /api/v1/status and /metrics show.
struct NodeStatus {
    std::string node;
    std::string version;
    double uptime_seconds = 0;
    bool ready = false;
    bool draining = false;
    WorkerCounters work;
    std::uint64_t connections = 0;   // of clients, now
    std::uint64_t window_bytes = 0;  // of bodies that pass through, and read ahead, now
    CacheCounters cache;
    SummaryStatus summary;
    ClusterCounters cluster;
    std::uint64_t log_dropped = 0;  // access log lines, as the log was too slow
    std::uint64_t log_failed = 0;   // access log lines that the system refused
    ConfigStatus config;
};

}  // namespace proxy
