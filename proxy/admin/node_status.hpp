#pragma once

#include "proxy/http/outcome.hpp"
#include "proxy/http/storage_verdict.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// Upper bounds of the request duration histogram, in seconds: from a memory hit to a long
/// download.
inline constexpr std::array kDurationBuckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                             0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   2.5,
                                             5.0,    10.0,    30.0,   60.0,  120.0,  300.0};

/// Counts per bucket (not cumulative); the last one is above all bounds.
struct DurationHistogram {
    std::array<std::uint64_t, kDurationBuckets.size() + 1> counts{};
    double sum_seconds = 0;

    void observe(std::chrono::nanoseconds duration);
    DurationHistogram& operator+=(const DurationHistogram& other);
    std::uint64_t total() const;
};

/// One value for each enumerator.
template <class Enum, std::size_t N>
struct PerEnum {
    std::array<std::uint64_t, N> values{};

    std::uint64_t& operator[](Enum e) { return values[static_cast<std::size_t>(e)]; }
    std::uint64_t operator[](Enum e) const { return values[static_cast<std::size_t>(e)]; }
    PerEnum& operator+=(const PerEnum& other) {
        std::transform(values.begin(), values.end(), other.values.begin(), values.begin(),
                       std::plus<>());
        return *this;
    }
};

/// Why a request was refused before it was a request.
enum class RequestRefusal : std::uint8_t {
    malformed,        // 400
    too_large,        // 414, 431
    not_implemented,  // 501
    version,          // 505
    no_route,         // forward mode off and no origin matches
    destination,      // private, of the house, or a port not allowed
    too_many_connections,
    draining,
    timeout,         // the head did not come in time
    loop,            // 508
    tls,             // the handshake failed
    forbidden,       // PURGE from an address that purge.allow does not list
    client,          // clients.allow and clients.deny
    forward_client,  // forward.clients
    proxy_header,    // a trusted proxy's PROXY header is missing, malformed or late
    upgrade,         // a handshake for a protocol that `upgrade` does not list
};
inline constexpr std::size_t kRequestRefusals = 16;
std::string_view to_string(RequestRefusal refusal);

/// What one worker counts; plain numbers for one thread, summed up when somebody looks.
struct WorkerCounters {
    PerEnum<Outcome, kOutcomes.size()> requests;
    std::array<DurationHistogram, kOutcomes.size()> durations;  // index: Outcome
    PerEnum<StorageVerdict, kStorageVerdicts> verdicts;
    PerEnum<RequestRefusal, kRequestRefusals> refusals;
    std::uint64_t origin_requests = 0, origin_failures = 0, peer_requests = 0;
    std::uint64_t origin_down_requests = 0;  // not put to an origin, as it is down
    /// Of origin_requests: put while a peer was still waited for. Of these, `outrun`: the peer's
    /// answer came first after all.
    std::uint64_t origin_hedges = 0, origin_hedges_outrun = 0;
    std::uint64_t peer_repeats = 0;   // of peer_requests: as the one before took unusually long
    std::uint64_t peers_too_far = 0;  // fetches without a peer, as the origin is that much nearer
    std::uint64_t origins_down = 0;   // now
    /// Body bytes, without heads, chunk lines and TLS: what sockets took of answers, whole or
    /// broken off, and what was read of theirs, used or not. Of tunnels, all bytes that go down.
    std::uint64_t bytes_to_clients = 0, bytes_to_peers = 0;
    std::uint64_t bytes_from_peers = 0, bytes_from_origins = 0;
    std::uint64_t validations = 0;  // of origin_requests: conditional ones that ended in 304
    std::uint64_t collapsed = 0;    // requests that followed another's fill
    std::uint64_t connections_accepted = 0;

    WorkerCounters& operator+=(const WorkerCounters& other);
    std::uint64_t total() const;
};

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
