#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/memory/memory.hpp"
#include "proxy/config/config.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/store_shard.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/shortage_period.hpp"

namespace proxy {

/// Eviction in one step after the cap was lowered.
inline constexpr std::uint64_t kCapStepBytes = 8 << 20;
/// Arriving bodies, and bodies that slow readers pin, leave one part in so many of the cap to the
/// other stored responses.
inline constexpr std::uint64_t kShareLeft = 4;

/// The memory of all shards under one cap, and the eviction that makes room in it. Any thread; each
/// step locks one shard briefly.
///
/// The charge is accurate to the byte: heads, bodies (arriving and pinned ones too) and the store's
/// own records. docs/explanation/storage.md lists every field with its charge or bound. The
/// knowledge of the disk is beside the cap: the index with 20 bytes per record, AdmissionFilter,
/// and BlockTargets.
class MemoryTier {
public:
    using Clock = std::chrono::steady_clock;

    /// All three must outlive it, and `budget` the shards too, whose responses are charged to it.
    MemoryTier(base::MemoryBudget& budget, StoreShards& shards, AnnouncementLedger& ledger);
    MemoryTier(const MemoryTier&) = delete;
    MemoryTier& operator=(const MemoryTier&) = delete;

    /// The order of eviction. To be called before anything is stored.
    void favour(Favour what);

    /// Takes `bytes` from the cap, after the eviction of unused entries where that is necessary.
    /// Fails if too little can be evicted: one part in kShareLeft of the cap stays evictable.
    std::optional<base::Charge> reserve(std::uint64_t bytes, Clock::time_point now);
    /// See base::has_room().
    bool has_room() const { return base::has_room(budget_.used(), budget_.cap()); }
    std::uint64_t used() const { return budget_.used(); }
    /// One step towards another cap; true when it is reached. A step down evicts about
    /// kCapStepBytes, so that neither the caller nor the workers stand still.
    bool step_cap_to(std::uint64_t bytes);
    /// A slow client reads this key. Excludes it from eviction for the time.
    void pin(summary::KeyHash key);

    /// Variants of one target URI. A lower number takes effect when a URI gets its next variant.
    std::size_t max_variants() const { return max_variants_.load(std::memory_order_relaxed); }
    void set_max_variants(std::size_t most) { max_variants_.store(most); }

    /// The charge for one response beside its body: the texts of its metadata and the store's
    /// records.
    static std::uint64_t charge_for(std::string_view uri, const StoredMetadata& metadata);
    /// The part of charge_for() for the records.
    static std::uint64_t overhead_bytes(std::string_view uri, std::size_t tags);

private:
    /// One step. False when the shard has nothing evictable, or all of them together have at most
    /// `left`.
    bool evict_one(StoreShard& shard, std::uint64_t left,
                   std::optional<std::uint32_t> most = std::nullopt);
    /// The same in a shard that the order of eviction chooses.
    bool evict_one(std::uint64_t left);
    void unpin_unused_in(std::size_t turn);
    /// False if `enough` cannot be reached.
    template <class Enough>
    bool evict_until(Enough enough, std::uint64_t left);

    base::MemoryBudget& budget_;
    StoreShards& shards_;
    AnnouncementLedger& ledger_;
    ShortagePeriod full_;                      // nothing is left to evict
    std::atomic<std::uint64_t> evictable_{0};  // in the queues of all shards
    std::atomic<std::size_t> next_victim_{0};
    Favour favour_ = Favour::bytes;
    std::atomic<std::uint32_t> clock_{0};  // see EvictionQueue
    std::atomic<std::size_t> max_variants_{CacheConfig().variants};
};

}  // namespace proxy
