#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/config/config.hpp"
#include "summary/false_hit_budget.hpp"
#include "summary/kind.hpp"

namespace measure {

/// How the proxies of a simulation know what the others hold.
enum class Scheme : std::uint8_t {
    none,                // every proxy for itself
    icp,                 // each miss asks every other proxy (RFC 2186); what they hold now is known
    squid_digest,        // 5 bits per object, k = 4, made and fetched once an hour
    exact_directory,     // the paper's: 16 bytes per URL, told at a threshold
    server_names,        // the paper's: the hosts of what is held, told at a threshold
    paper_bloom,         // the paper's: load factor, k = 4, 32-bit records, told at a threshold
    summary,             // ours, of one kind: the production code
    consistent_hashing,  // no sharing by hearsay: each URL has one home
    single_cache,        // one cache of all proxies' sizes together
};

/// Which objects go when a cache is full.
enum class Replacement : std::uint8_t {
    s3_fifo,        // the production code
    sieve,          // Zhang et al. 2024
    w_tiny_lfu,     // Einziger et al. 2017
    gdsf,           // Cherkasova 1998
    lru,            // the paper's
    lru_copies,     // LRU, but among the oldest that first which a near peer holds as well
    lru_keep_last,  // LRU, but the last copy in the cluster gets a second round
};

/// What lies between proxies. Everything follows from the seed.
struct SimulatedNetwork {
    std::chrono::microseconds delay{250};   // one way, proxy to proxy
    std::chrono::microseconds jitter{0};    // uniform, added to it
    double dropped = 0;                     // part of the deltas that are lost before sending
    std::chrono::milliseconds origin{100};  // a request to the origin, until its answer
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

    /// Then what one proxy has heard of another differs from pair to pair.
    bool is_even() const {
        return jitter.count() == 0 && dropped == 0 && partitions.empty() && restarts.empty();
    }
    bool operator==(const SimulatedNetwork&) const = default;
};

/// Of paper_bloom, in bits per object.
inline constexpr unsigned kLeastLoadFactor = 2, kMostLoadFactor = 64;
inline constexpr unsigned kPaperLoadFactors[] = {8, 16, 32};

/// In a network that is not even, the work and the memory grow with the square of the proxies.
inline constexpr std::size_t kMostUnevenProxies = 64;

struct SimulationConfig {
    Scheme scheme = Scheme::summary;
    std::size_t proxies = 8;        // 1 to summary::kMaxPeers
    std::uint64_t cache_bytes = 0;  // of each proxy; 0: without limit
    Replacement replacement = Replacement::s3_fifo;
    proxy::CopyPolicy copy = proxy::kDefaultCopyPolicy;

    summary::Kind kind = summary::kDefaultKind;
    double false_hit_budget = summary::kDefaultFalseHitBudget;
    double announce_changed = 0.001;                 // also the threshold of the paper's schemes
    std::chrono::milliseconds announce_delay{1000};  // ours alone
    unsigned load_factor = 16;                       // of paper_bloom

    SimulatedNetwork network;
    std::uint64_t unknown_bytes = 8192;      // for sizes that the log never tells
    bool unit_objects = false;               // each object weighs one byte: cache_bytes are objects
    std::uint64_t object_max = 0;            // larger ones are not stored; 0: all that fit
    std::chrono::milliseconds fresh_for{0};  // an answer of the origin; 0: for ever
    double changes = 0;                      // part of what went stale that is another by then
    double requests_per_second = 0;          // all proxies together; 0: at the log's own times
    double warm_up = 0;                      // this part of the requests is not counted
    std::uint64_t seed = 1;

    bool operator==(const SimulationConfig&) const = default;
};

/// Throws std::invalid_argument for numbers that make no sense, and says which.
void check(const SimulationConfig& config);

/// What a simulation counted, after its warm-up.
struct SimulationCounts {
    std::uint64_t requests = 0, bytes = 0;
    std::uint64_t local_hits = 0, local_hit_bytes = 0;
    std::uint64_t peer_hits = 0, peer_hit_bytes = 0;
    std::uint64_t joined = 0;                // of the local hits: waited for a fetch under way
    std::uint64_t validations = 0;           // hits for which the origin was asked: not changed
    std::uint64_t origin_beside = 0;         // asked as well, as a peer took too long
    std::uint64_t questions = 0;             // to peers
    std::uint64_t false_hits_collision = 0;  // asked, and it never told that it has it
    std::uint64_t false_hits_evicted = 0;    // asked, and it has evicted it since
    std::uint64_t stale_hits = 0;            // asked, and it has it, no longer fresh
    std::uint64_t overruled = 0;             // misses put to a peer in spite of its summary's no
    std::uint64_t samples = 0;               // questions to learn how often such a no is wrong
    std::uint64_t failures = 0;              // asked, and cut off
    std::uint64_t peers_too_far = 0;         // some were said to have it, the origin is nearer
    std::uint64_t false_misses = 0;          // a peer had it, and nobody was asked who has, nor
                                             // was any too far
    std::uint64_t announcements = 0;  // messages: deltas and snapshots, once for each receiver
    std::uint64_t announcement_bytes = 0;
    std::uint64_t snapshots = 0;
    /// Questions that found nothing; of ICP and the paper's schemes, which ask before they fetch,
    /// all queries and replies.
    std::uint64_t query_messages = 0, query_bytes = 0;
    std::uint64_t stored = 0, evicted = 0;  // objects
    std::uint64_t summary_bytes = 0;        // of one proxy at the end: its own and its peers'
    double waited_ms = 0;                   // by all requests together, for peers and the origin

    std::uint64_t hits() const { return local_hits + peer_hits; }
    bool operator==(const SimulationCounts&) const = default;
};

}  // namespace measure
