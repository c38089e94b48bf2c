#include "proxy/storage/shelf_keeper.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "proxy/storage/blocks.hpp"
#include "proxy/storage/stored_record.hpp"

namespace proxy {

void ShelfKeeper::recovered(std::span<const RecoveredKey> batch) {
    std::array<std::vector<const RecoveredKey*>, kShards> of_shard;
    for (const auto& one : batch) {
        of_shard[shard_of(one.key)].push_back(&one);
        if (one.entry.type != RecordType::block) continue;
        invalidations_.note_blocks();
        if (const auto target = target_of_block(one.entry.uri))
            disk_.block_targets.note(hash_of(*target));
    }
    const auto now = std::chrono::steady_clock::now();
    const auto wall = std::chrono::ceil<DiskTime::duration>(disk_.present(now).wall);
    for (std::size_t i = 0; i < kShards; ++i) recovered(shards_[i], of_shard[i], wall);
}

void ShelfKeeper::recovered(StoreShard& in, std::span<const RecoveredKey* const> records,
                            DiskTime wall) {
    constexpr std::size_t kAhead = 8;  // as many records are added while a cache line arrives
    const auto& invalidated = invalidations_.memory();
    const std::lock_guard lock(in.mutex);
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (i + kAhead < records.size()) in.disk.index.prefetch(records[i + kAhead]->key);
        const auto& one = *records[i];
        // A response that was fetched, or a key that was invalidated, since the start is newer.
        if (invalidated.last(one.key) || invalidated.last_prefix(one.entry.uri) ||
            invalidated.any_noted_since(one.entry.tags, 0))
            continue;
        if (in.memory.find(one.key)) continue;
        DiskEntry record;
        record.place = one.place;
        record.sectors = one.entry.sectors;
        record.doubtful = one.doubtful;
        const auto announceable = !one.doubtful && is_announceable(one.entry, wall);
        ledger_.disk_gains(one.key, record, announceable, in.disk.index);
    }
}

std::optional<unsigned> ShelfKeeper::uses(const FooterEntry& entry, RecordLocation place) {
    const auto key = hash_of(entry.uri);
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    const auto record = in.disk.index.find(key, place);
    if (!record) return std::nullopt;
    const auto* const stored = in.memory.find(key);
    return std::max(record->uses, stored ? stored->uses() : 0);
}

void ShelfKeeper::moved(const FooterEntry& entry, RecordLocation from, RecordLocation to) {
    const auto key = hash_of(entry.uri);
    DroppedResponses dropped;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    if (auto record = in.disk.index.find(key, from)) {
        record->place = to;
        record->uses = 0;  // it has to earn the next move
        record->proved = true;
        in.disk.index.replace(key, from, *record);
        if (auto* const stored = in.memory.find(key))
            for (auto& variant : stored->variants)
                if (variant.disk.place == from) variant.disk.place = to;
    }
    in.let_go(ledger_, key, from, dropped);
}

void ShelfKeeper::dropped(const FooterEntry& entry, RecordLocation place) {
    const auto key = hash_of(entry.uri);
    DroppedResponses dropped;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    if (in.forget(ledger_, key, place)) ++in.disk.evictions;
    in.let_go(ledger_, key, place, dropped);
}

void ShelfKeeper::lost(const LostRecords& places) {
    for (auto& in : shards_) {
        DroppedResponses dropped;  // destroyed after the lock is released
        std::vector<std::pair<summary::KeyHash, RecordLocation>> in_place;
        const std::lock_guard lock(in.mutex);
        in.disk.index.erase_if([&](const DiskEntry& record) {
            if (!places.has(record.place)) return false;
            if (record.announced) ledger_.note_lost_bits();
            return true;
        });
        in.memory.for_each([&](MemoryShelf::Entry& entry) {
            for (auto& variant : entry.variants) {
                auto& copy = variant.disk;
                if (copy.is_stored() && places.has(copy.place)) copy.place = {};
                const auto& body = variant.response->body->on_disk();
                if (body && places.has(body->place()))
                    in_place.emplace_back(entry.hash, body->place());
            }
        });
        for (const auto& [key, place] : in_place) in.let_go(ledger_, key, place, dropped);
    }
}

}  // namespace proxy
