#include "proxy/storage/store.hpp"

#include <utility>

#include "proxy/storage/variant_choice.hpp"

namespace proxy {
namespace {

bool is_fresh_at(const StoredResponse& response, Store::Clock::time_point now) {
    return is_fresh(response.freshness, response.residence(now));
}

/// Out of line, as most hits meet an idle shard.
[[gnu::noinline]] void find_pending(PendingResponses& pending, summary::KeyHash hash,
                                    std::string_view uri, const SelectingFields& request,
                                    const PendingResponses::Stored& stored, Store::Found& found) {
    const auto now = found.at;
    found.fill = pending.find(hash, uri, request, stored, now);
    if (!found.response || !is_fresh_at(*found.response, now))
        found.unshareable = pending.is_unshareable(hash, request, stored, now);
}

}  // namespace

void Store::use_disk(DiskCalls& calls, DiskUse use) {
    writer_.set_admission(use.admission);
    for (auto& in : shards_) in.disk.second_request.emplace(use.remembered / kShards);
    disk_.start(calls, std::move(use.tier), hasher_, keeper_);
}

Store::Found Store::find(summary::KeyHash hash, std::string_view uri,
                         const SelectingFields& request, Clock::time_point now) {
    Found found;
    auto& in = shards_.of(hash);
    const std::lock_guard lock(in.mutex);
    found.invalidations = invalidations();
    found.at = now;
    auto* entry = in.memory.find(hash);
    // Of two URIs with one 128-bit hash, the second is never stored.
    const auto is_other = entry && entry->uri != uri;
    if (is_other) entry = nullptr;
    if (auto* const selected = entry ? in.memory.select(*entry, request) : nullptr) {
        found.response = selected->response;
        EvictionQueue::touch(*entry);
        count_use(selected->uses);
        if (disk_.tier()) writer_.offer(in, *entry, *selected);
    } else {
        found.other_variants = entry != nullptr;
        found.on_disk = disk_.tier() && !is_other && in.disk.has_more(hash, entry);
    }
    if (!in.pending.is_idle())
        find_pending(in.pending, hash, uri, request, newest_of(entry), found);
    return found;
}

Store::StoredAt Store::peek(summary::KeyHash hash, std::string_view uri,
                            const SelectingFields& request) {
    auto& in = shards_.of(hash);
    const std::lock_guard lock(in.mutex);
    auto* const entry = in.memory.find(hash);
    if (entry && entry->uri != uri) return StoredAt::nowhere;
    if (const auto* const stored = entry ? in.memory.select(*entry, request) : nullptr)
        return stored->response->body->on_disk() ? StoredAt::disk : StoredAt::memory;
    if (in.pending.has(hash, uri)) return StoredAt::memory;
    return in.disk.has_more(hash, entry) ? StoredAt::disk : StoredAt::nowhere;
}

std::size_t Store::variants(summary::KeyHash hash, std::string_view uri) {
    auto& in = shards_.of(hash);
    const std::lock_guard lock(in.mutex);
    const auto* const entry = in.memory.find(hash);
    return entry && entry->uri == uri ? entry->variants.size() : 0;
}

std::size_t Store::invalidate(const protocol::Invalidation& what, Clock::time_point now) {
    if (!what.soft) return invalidations_.invalidate(what, now);
    SoftPurge purge(shards_, what, hasher_);
    const auto ended = invalidations_.invalidate(what, now);
    purge.put_back(shards_, memory_, leases_, ledger_, invalidations_.memory(), now);
    return ended;
}

void Store::when_kept(std::function<void()> kept) {
    if (auto* const tier = disk_.tier())
        tier->end({}, std::move(kept));
    else
        kept();
}

void Store::deny(summary::KeyHash hash) {
    if (!ledger_.has_lost_bits()) return;
    auto& in = shards_.of(hash);
    const std::lock_guard lock(in.mutex);
    const auto* const entry = in.memory.find(hash);
    ledger_.deny(hash, entry && entry->announced, in.disk.index);
}

Store::Stats Store::stats() const {
    Stats stats;
    for (const auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        stats.objects += in.memory.objects();
        stats.evictions += in.memory.evictions;
        stats.disk_evictions += in.disk.evictions;
        stats.disk.disk_objects += in.disk.index.size();
        stats.disk.disk_index_bytes += in.disk.index.memory_bytes();
        stats.disk.disk_hits += in.disk.recalled;
        stats.disk.disk_admission_declined += in.disk.declined;
    }
    stats.memory_bytes = memory_.used();
    stats.memory_cap_bytes = budget_.cap();
    return stats;
}

}  // namespace proxy
