#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/selecting.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/storage/eviction_queue.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/episode.hpp"
#include "summary/key.hpp"

namespace proxy {

inline constexpr std::size_t kMaxVariants = 16;           // per target URI; the oldest goes
inline constexpr std::size_t kMaxUnshareableKeys = 4096;  // per shard, remembered as hit-for-miss
/// How long a key whose answer was not storable is not worth waiting for.
inline constexpr std::chrono::seconds kHitForMiss{5};
/// Evicted in one step when the cap is lowered.
inline constexpr std::uint64_t kCapStepBytes = 8 << 20;
/// One part in so many of the cap is left to what is stored and not in use: bodies that come, and
/// those that slow readers hold, do not push out more.
inline constexpr std::uint64_t kShareLeft = 4;

/// What a node stores in memory, for all its workers. Any thread; each call locks one shard
/// briefly (invalidations by tag one after the other), none waits for anything else. Byte-accurate:
/// heads, bodies (those still filling and those pinned by slow readers too) and the store's own
/// records are charged to one cap.
class Store {
public:
    using Clock = std::chrono::steady_clock;
    /// Called under a shard's lock, exactly once when a target URI becomes announceable (stored,
    /// complete, reusable) and once when nothing of it is stored any more. The key views the URI as
    /// the store has it. Must be quick and must not call the store.
    using Listener = std::function<void(const summary::Key&, bool stored)>;
    /// By the first bits of a key; each has an eviction queue of its own, whose turns go round.
    static constexpr std::size_t kShards = 16;

    Store(std::uint64_t memory_cap_bytes, Listener listener);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    struct Found {
        std::shared_ptr<const StoredResponse>
            response;                  // complete, matches the request; maybe stale
        std::shared_ptr<Fill> fill;    // in progress for this URI
        bool other_variants = false;   // there are responses, none for this request
        bool unshareable = false;      // hit-for-miss: do not wait for others
        std::uint64_t generation = 0;  // of invalidations; a Claim wants it
    };
    /// Counts as a use, which keeps the object: a client's request, and a peer's question too.
    Found find(summary::KeyHash hash, std::string_view uri, const Selecting& request,
               Clock::time_point now);
    /// Whether find() would give a response or a fill. No use, and nothing is held: by the time it
    /// is asked for it may be gone.
    bool peek(summary::KeyHash hash, std::string_view uri, const Selecting& request);

    /// Puts `response`, which selects as `old` does, in its place if that is still stored. False:
    /// it is not.
    bool replace(summary::KeyHash hash, const StoredResponse* old,
                 std::shared_ptr<const StoredResponse> response, Clock::time_point now);
    /// Removes all variants, and keeps what is being fetched from being stored. True if there was
    /// one.
    bool invalidate(summary::KeyHash hash, Clock::time_point now);
    /// From now on some entries are blocks of a body, which carry the hash of its URI as a tag:
    /// invalidate() of that ends them too.
    void will_hold_blocks() { has_blocks_.store(true, std::memory_order_relaxed); }
    /// The same for all that carries this tag; how many target URIs that were.
    std::size_t invalidate_tag(summary::KeyHash tag, Clock::time_point now);
    /// The same for all there is. Takes each shard's lock for as long as its entries ask for.
    void invalidate_all(Clock::time_point now);
    /// Grows by one with each invalidation; what Found says, for who looks nothing up.
    std::uint64_t generation() const { return invalidated_.generation(); }
    /// When the key or one of the tags was last invalidated, or may have been: what peers made
    /// before is not to be used.
    std::optional<Clock::time_point> invalidated_at(
        summary::KeyHash hash, std::span<const summary::KeyHash> tags = {}) const;

    /// Room for `bytes` under the cap, made by evicting what nobody reads at the moment, as long as
    /// more than one part in kShareLeft can be evicted; nothing else.
    std::optional<Charge> reserve(std::uint64_t bytes, Clock::time_point now);
    /// A client reads this slowly: it is not to be counted among what can be evicted. Costs nothing
    /// but time when it is not there, or is done with meanwhile.
    void hold(summary::KeyHash hash);
    /// What Claim::publish() needs to be charged for one response beyond its head and body.
    static std::uint64_t overhead_bytes(std::string_view uri, std::size_t tags);

    /// One step towards another cap; true when it is reached. A step down evicts what holds at most
    /// kCapStepBytes or so, that neither the caller nor the workers stand still: call again soon.
    bool step_cap_to(std::uint64_t bytes);

    struct Stats {
        std::uint64_t objects = 0, memory_bytes = 0, evictions = 0;
    };
    Stats stats() const;

private:
    friend class Claim;  // what stands in claim.hpp, by the calls below

    struct Claimed {
        std::shared_ptr<Fill> fill;  // null: something was stored since find()
        bool leader = false;
    };
    Claimed claim(summary::KeyHash hash, std::string_view uri, const Found& seen,
                  const std::shared_ptr<Fill>& fill);
    bool tag_fill(summary::KeyHash hash, const Fill* fill, std::uint64_t generation,
                  std::span<const summary::KeyHash> tags);
    bool publish(summary::KeyHash hash, std::string_view uri, const Fill* fill,
                 std::uint64_t generation, std::shared_ptr<const StoredResponse> response,
                 Clock::time_point now);
    void abandon(summary::KeyHash hash, const Fill* fill, bool unshareable, Clock::time_point now);

    struct Entry : EvictionQueue::Node {
        std::string uri;
        std::vector<std::shared_ptr<const StoredResponse>> variants;  // newest last
        std::shared_ptr<Fill> fill;
        std::vector<summary::KeyHash> fill_tags;  // of what `fill` brings
        std::vector<summary::KeyHash> tags;       // of all of it, as indexed; sorted
        bool announced = false;                   // the listener was told of it
    };
    /// The index from tags to entries.
    struct Tagged {
        summary::KeyHash tag, key;
    };
    struct TaggedOrder {
        bool operator()(const Tagged& a, const Tagged& b) const {
            return a.tag != b.tag ? precedes(a.tag, b.tag) : precedes(a.key, b.key);
        }
    };
    struct alignas(64) Shard {
        mutable std::mutex mutex;
        boost::unordered_flat_map<summary::KeyHash, std::unique_ptr<Entry>, summary::HashOfKeyHash>
            entries;
        boost::unordered_flat_map<summary::KeyHash, Clock::time_point, summary::HashOfKeyHash>
            unshareable;
        std::set<Tagged, TaggedOrder> tagged;
        EvictionQueue queue;
        std::uint64_t objects = 0;
        std::uint64_t evictions = 0;
        std::string scratch;  // for variant matching
    };

    Shard& shard(summary::KeyHash hash) { return shards_[hash.high >> 60]; }
    const Shard& shard(summary::KeyHash hash) const { return shards_[hash.high >> 60]; }
    /// The newest that the request selects; null when there is none. The lock is held.
    static const std::shared_ptr<const StoredResponse>* select(Shard& shard, const Entry& entry,
                                                               const Selecting& request);
    Entry* entry_for(Shard& shard, summary::KeyHash hash, std::string_view uri);  // lock held
    /// The one place where the listener is called, each time with the other word.
    void announce(Entry& entry, bool stored);
    void drop_responses(Shard& shard, Entry& entry,
                        std::vector<std::shared_ptr<const StoredResponse>>& out);
    /// After a variant was added: announces the entry if need be, and weighs it.
    void settle(Shard& shard, Entry& entry, Clock::time_point now);
    static std::shared_ptr<Fill> end_fill(Entry& entry);
    static void index_tags(Shard& shard, Entry& entry);
    bool any_noted_since(std::span<const summary::KeyHash> tags, std::uint64_t generation) const;
    void erase_if_empty(Shard& shard, Entry& entry);
    bool invalidate_entry(summary::KeyHash hash, Clock::time_point now);
    std::size_t drop_tagged(summary::KeyHash tag);
    static bool in_use(const Entry& entry);
    /// One step. False when nothing here can be evicted, or no more than `left` anywhere.
    bool evict_one(Shard& shard, std::uint64_t left);
    /// False when it cannot be had.
    template <class Enough>
    bool evict_until(Enough enough, std::uint64_t left);

    Episode full_;                             // nothing left to evict
    std::atomic<std::uint64_t> evictable_{0};  // of what the shards' queues hold
    MemoryBudget budget_;                      // outlives all charges in the shards
    Listener listener_;
    InvalidationMemory invalidated_;  // its lock may be taken under a shard's
    std::array<Shard, kShards> shards_;
    std::atomic<std::size_t> next_victim_{0};
    std::atomic<bool> has_blocks_{false};
};

}  // namespace proxy
