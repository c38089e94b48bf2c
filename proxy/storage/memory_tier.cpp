#include "proxy/storage/memory_tier.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace proxy {
namespace {

/// One tag in its response, its entry and the index; the node of the index takes the most.
constexpr std::uint64_t kTagBytes = 112;
/// Allocator and hash table overhead of one entry, measured with the allocator of glibc.
constexpr std::uint64_t kRecordSlack = 88;
/// The first block of a body takes this beside its bytes and the Body, by the same measurement.
constexpr std::uint64_t kBlockBytes = 56;

}  // namespace

MemoryTier::MemoryTier(base::MemoryBudget& budget, StoreShards& shards, AnnouncementLedger& ledger)
    : budget_(budget), shards_(shards), ledger_(ledger) {
    for (auto& in : shards_) in.memory.count_evictable_into(evictable_);
}

void MemoryTier::favour(Favour what) {
    favour_ = what;
    for (auto& in : shards_) in.memory.favour(what, clock_);
}

void MemoryTier::pin(summary::KeyHash key) {
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    auto* const entry = in.memory.find(key);
    if (entry && entry->queued() && MemoryShelf::in_use(*entry)) in.memory.pin(*entry);
}

bool MemoryTier::evict_one(StoreShard& in, std::uint64_t left, std::optional<std::uint32_t> most) {
    DroppedResponses dropped;  // destroyed after the lock is released
    const std::lock_guard lock(in.mutex);
    in.memory.unpin_unused();
    if (evictable_.load(std::memory_order_relaxed) <= left) return false;
    auto* const entry = in.memory.pop_victim(most);
    if (!entry) return false;
    if (MemoryShelf::in_use(*entry)) {
        in.memory.pin(*entry);
        return true;
    }
    in.drop(ledger_, *entry, dropped);
    ++in.memory.evictions;
    return true;
}

bool MemoryTier::evict_one(std::uint64_t left) {
    const auto turn = next_victim_.fetch_add(1, std::memory_order_relaxed);
    if (favour_ == Favour::requests) {
        unpin_unused_in(turn);  // nothing may be evictable there so far
        if (evictable_.load(std::memory_order_relaxed) <= left) return false;
        return evict_least(
            clock_.load(std::memory_order_relaxed),
            [this](std::size_t shard) { return shards_[shard].memory.least(); },
            [&](std::size_t shard, auto most) { return evict_one(shards_[shard], left, most); });
    }
    const auto [fuller, other] = shards_of_turn(turn, [this](std::size_t shard) {
        const std::lock_guard lock(shards_[shard].mutex);
        return shards_[shard].memory.evictable_bytes();
    });
    return evict_one(shards_[fuller], left) || evict_one(shards_[other], left);
}

void MemoryTier::unpin_unused_in(std::size_t turn) {
    auto& in = shards_[turn % kShards];
    const std::lock_guard lock(in.mutex);
    in.memory.unpin_unused();
}

template <class Enough>
bool MemoryTier::evict_until(Enough enough, std::uint64_t left) {
    std::size_t empty_shards = 0;
    while (!enough()) {
        empty_shards = evict_one(left) ? 0 : empty_shards + 1;
        if (empty_shards == kShards) return false;
    }
    return true;
}

std::optional<base::Charge> MemoryTier::reserve(std::uint64_t bytes, Clock::time_point now) {
    const auto cap = budget_.cap();
    if (bytes > cap) return std::nullopt;
    if (!evict_until([&] { return budget_.take(bytes); }, cap / kShareLeft)) {
        if (full_.met(now))
            spdlog::warn(
                "cache.memory ({} bytes) is full of responses that clients still read or wait for: "
                "further ones pass through and stay out of the cache",
                cap);
        return std::nullopt;
    }
    if (full_.on() && full_.over(now)) spdlog::info("cache.memory has room again");
    return base::Charge(budget_, bytes);
}

bool MemoryTier::step_cap_to(std::uint64_t bytes) {
    const auto used = std::min(budget_.used(), budget_.cap());
    const auto next = std::max(bytes, used - std::min(used, kCapStepBytes));
    budget_.set_cap(next);
    evict_until([&] { return budget_.used() <= next; }, 0);
    return next == bytes;
}

std::uint64_t MemoryTier::charge_for(std::string_view uri, const StoredMetadata& metadata) {
    return metadata.text_bytes() + overhead_bytes(uri, metadata.tags.size()) + kBlockBytes;
}

std::uint64_t MemoryTier::overhead_bytes(std::string_view uri, std::size_t tags) {
    return sizeof(MemoryShelf::Entry) + sizeof(StoredResponse) + sizeof(Body) + uri.size() +
           kRecordSlack + tags * kTagBytes;
}

}  // namespace proxy
