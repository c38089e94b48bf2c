#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/config/config.hpp"
#include "summary/sizing/false_hit_budget.hpp"
#include "summary/sizing/kind.hpp"

namespace measure {

/// The means by which the proxies of a simulation know the objects of the others.
enum class Scheme : std::uint8_t {
    none,  // every proxy for itself
    icp,   // each miss queries every other proxy (RFC 2186), which answers with its current content
    squid_digest,     // 5 bits per object, k = 4, made and fetched once an hour
    exact_directory,  // the paper's: 16 bytes per URL, announced at a threshold
    server_names,     // the paper's: the hosts of stored URLs, announced at a threshold
    paper_bloom,      // the paper's: load factor, k = 4, 32-bit records, announced at a threshold
    summary,          // hearsay's, of one kind: the production code
    consistent_hashing,  // each URL has one home; hearsay shares nothing
    single_cache,        // one cache as large as all proxies' together
};

/// The order of eviction from a full cache.
enum class Replacement : std::uint8_t {
    s3_fifo,     // the production code
    by_value,    // the production code with cache.favour requests
    sieve,       // Zhang et al. 2024
    w_tiny_lfu,  // Einziger et al. 2017
    gdsf,        // Cherkasova 1998
    lru,         // the paper's
};

/// The network between proxies. The seed determines all of it.
struct SimulatedNetwork {
    std::chrono::microseconds delay{250};   // one way, proxy to proxy
    std::chrono::microseconds jitter{0};    // uniform, added to it
    double dropped = 0;                     // share of the deltas lost before sending
    std::chrono::milliseconds origin{100};  // from a request to the origin until its answer
    struct Partition {
        std::chrono::milliseconds from, until;  // since the first request
        std::size_t proxies = 0;                // the first so many are cut off from the others
        bool operator==(const Partition&) const = default;
    };
    std::vector<Partition> partitions;
    struct Restart {
        std::chrono::milliseconds at;
        std::size_t proxy = 0;  // comes back empty
        bool operator==(const Restart&) const = default;
    };
    std::vector<Restart> restarts;

    /// Returns true if all proxies receive the same announcements at the same time.
    bool is_even() const {
        return jitter.count() == 0 && dropped == 0 && partitions.empty() && restarts.empty();
    }
    bool operator==(const SimulatedNetwork&) const = default;
};

/// Of paper_bloom, in bits per object.
inline constexpr unsigned kLeastLoadFactor = 2, kMostLoadFactor = 64;
inline constexpr unsigned kPaperLoadFactors[] = {8, 16, 32};

/// Limit for a network that is not even: work and memory grow with the square of the proxies.
inline constexpr std::size_t kMostUnevenProxies = 64;

/// How a simulation takes the requests and objects of a log.
struct SimulatedLoad {
    std::uint64_t unknown_bytes = 8192;  // for sizes missing from the log
    bool unit_objects = false;           // each object weighs one byte: cache sizes are objects
    std::uint64_t object_max = 0;        // larger ones are not stored; 0: all that fit
    double warm_up = 0;                  // share of the requests before counting begins
    std::uint64_t seed = 1;

    bool operator==(const SimulatedLoad&) const = default;
};

/// The cluster, its origin and its load in one simulation. check() has the ranges.
struct SimulationConfig : SimulatedLoad {
    Scheme scheme = Scheme::summary;
    std::size_t proxies = 8;        // 1 to summary::kMaxPeers
    std::uint64_t cache_bytes = 0;  // of each proxy; 0: unlimited
    Replacement replacement = Replacement::s3_fifo;
    proxy::CopyPolicy copy = proxy::kDefaultCopyPolicy;
    proxy::FetchOnce fetch_once = proxy::FetchOnce::never;

    summary::Kind kind = summary::kDefaultKind;
    double false_hit_budget = summary::kDefaultFalseHitBudget;
    double announce_changed = 0.001;                 // also the threshold of the paper's schemes
    std::chrono::milliseconds announce_delay{1000};  // of hearsay's summaries alone
    unsigned load_factor = 16;                       // of paper_bloom

    SimulatedNetwork network;
    std::chrono::milliseconds fresh_for{0};  // lifetime of the origin's answers; 0: for ever
    double changes = 0;              // share of stale copies with a new version at the origin
    double requests_per_second = 0;  // of all proxies together; 0: the log's own times

    bool operator==(const SimulationConfig&) const = default;
};

/// Throws std::invalid_argument that names a number out of range.
void check(const SimulationConfig& config);

/// The requests to peers of a simulation, and the misses that peers could have answered.
struct PeerRequestCounts {
    std::uint64_t peer_requests = 0;
    std::uint64_t false_hits_collision = 0;  // of a peer that never announced the object
    std::uint64_t false_hits_evicted = 0;    // of a peer that has evicted the object since
    std::uint64_t stale_hits = 0;            // of a peer whose copy is stale
    std::uint64_t overruled = 0;      // misses sent to a peer although its summary denies them
    std::uint64_t samples = 0;        // peer requests that measure how often a denial is wrong
    std::uint64_t failures = 0;       // peer requests to an unreachable peer
    std::uint64_t peers_too_far = 0;  // misses for which the origin was nearer than the peers with
                                      // the object
    std::uint64_t false_misses = 0;   // a peer had the object, and was neither asked nor too far

    std::uint64_t false_hits() const { return false_hits_collision + false_hits_evicted; }
    bool operator==(const PeerRequestCounts&) const = default;
};

inline constexpr std::uint64_t kRenewalBytes = 44;  // in a message (protocol/FORMAT.md)

/// The messages between the proxies of a simulation, apart from objects.
struct MessageCounts {
    std::uint64_t announcements = 0;  // deltas and snapshots, counted once for each receiver
    std::uint64_t announcement_bytes = 0;
    std::uint64_t snapshots = 0;
    /// Peer requests that failed to find the object; for ICP and the paper's schemes, which query
    /// before they fetch, all queries and replies.
    std::uint64_t query_messages = 0, query_bytes = 0;
    std::uint64_t renewals_told = 0;  // counted once for each receiver

    bool operator==(const MessageCounts&) const = default;
};

/// The requests of clients, and those among them that a cache answered.
struct HitCounts {
    std::uint64_t requests = 0, bytes = 0;
    std::uint64_t local_hits = 0, local_hit_bytes = 0;
    std::uint64_t peer_hits = 0, peer_hit_bytes = 0;

    std::uint64_t hits() const { return local_hits + peer_hits; }
    bool operator==(const HitCounts&) const = default;
};

/// The counts of a simulation after its warm-up.
struct SimulationCounts : HitCounts, PeerRequestCounts, MessageCounts {
    std::uint64_t joined = 0;          // local hits that waited for a fetch in progress
    std::uint64_t validations = 0;     // hits that the origin validated
    std::uint64_t renewals_taken = 0;  // stale copies that a peer's renewal made fresh
    std::uint64_t origin_beside = 0;   // origin fetches beside a slow peer
    std::uint64_t doubled = 0;   // origin fetches of what another proxy was fetching meanwhile
    std::uint64_t meetings = 0;  // misses that asked who fetches the same (fetch_once)
    std::uint64_t followed = 0;  // peer hits, among them, that waited for that fetch
    std::uint64_t stored = 0, evicted = 0;  // objects
    std::uint64_t summary_bytes = 0;        // of one proxy at the end: its own and its peers'
    double waited_ms = 0;                   // of all requests together, for peers and the origin

    bool operator==(const SimulationCounts&) const = default;
};

}  // namespace measure
