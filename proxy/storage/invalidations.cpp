#include "proxy/storage/invalidations.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <vector>

#include "proxy/http/tags.hpp"
#include "proxy/storage/blocks.hpp"

#include "summary/sizing/prefix_tag.hpp"

namespace proxy {

/// The contents that an invalidation took out of the shards. They are destroyed after all locks are
/// released.
struct Invalidations::Ended {
    DroppedResponses responses;
    PendingResponses::Fills fills;
    std::vector<MemoryShelf::Entries> entries;
    std::size_t uris = 0;                     // dropped from memory by their tag
    std::vector<summary::KeyHash> in_blocks;  // those of them whose bodies are in blocks
};

bool Invalidations::invalidate(summary::KeyHash key, Clock::time_point now) {
    Ended ended;
    memory_.note(key, now);
    const auto has_blocks = has_blocks_.load(std::memory_order_relaxed);
    if (has_blocks) drop_tagged_in_turn(key, ended);
    if (has_blocks && disk_.tier()) {
        const auto locks = shards_.lock_all();
        for (auto& in : shards_) drop_tagged(in, key, ended);
        const auto stored = drop_key(shards_.of(key), key, ended);
        memory_.note(key, now);
        return stored;
    }
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    const auto stored = drop_key(in, key, ended);
    memory_.note(key, now);
    return stored;
}

std::size_t Invalidations::invalidate(const protocol::Invalidation& what, Clock::time_point now) {
    std::size_t ended = what.all ? invalidate_all(now) : 0;
    for (const auto& key : what.keys) ended += invalidate(key, now);
    std::vector<summary::KeyHash> prefixes;
    for (const auto& tag : what.tags) {
        if (summary::is_prefix_tag(tag))
            prefixes.push_back(tag);
        else
            ended += invalidate_tag(tag, now);
    }
    if (!prefixes.empty()) ended += invalidate_prefixes(prefixes, now);
    return ended;
}

bool Invalidations::drop_key(StoreShard& in, summary::KeyHash key, Ended& ended) {
    const auto was_on_disk = disk_.tier() && drop_records(in, key);
    in.pending.end_target(key, ended.fills);
    auto* const entry = in.memory.find(key);
    if (entry) in.drop(ledger_, *entry, ended.responses);
    return was_on_disk || entry;
}

bool Invalidations::drop_records(StoreShard& in, summary::KeyHash key) {
    const auto marked = in.disk.index.announced(key);
    auto* const entry = in.memory.find(key);
    const auto writing = entry && std::ranges::any_of(entry->variants, [](const auto& variant) {
                             return variant.disk.writing;
                         });
    const auto had = in.disk.erase_records(key, entry) > 0;
    ledger_.disk_loses(key, marked, entry != nullptr, in.disk.index);
    const auto has_blocks = disk_.block_targets.take(key);
    // While the index is being read, the disk may have records that it lacks.
    if (had || writing || has_blocks || disk_.loading()) disk_.end(key);
    return had;
}

std::size_t Invalidations::invalidate_tag(summary::KeyHash tag, Clock::time_point now) {
    Ended ended;
    memory_.note(tag, now);
    drop_tagged_in_turn(tag, ended);
    if (disk_.tier()) {
        const auto locks = shards_.lock_all();
        for (auto& in : shards_) drop_tagged(in, tag, ended);
        disk_.end(tag);
        memory_.note(tag, now);
    } else {
        memory_.note(tag, now);
    }
    // The index of a body may have got the tag after the fetch of some blocks.
    for (const auto& target : ended.in_blocks) invalidate(target, now);
    return ended.uris;
}

template <class IsBelow>
std::vector<summary::KeyHash> Invalidations::keys_below(StoreShard& in, const IsBelow& is_below) {
    std::vector<summary::KeyHash> keys;
    in.memory.for_each([&](const MemoryShelf::Entry& entry) {
        if (is_below(entry.uri)) keys.push_back(entry.hash);
    });
    in.pending.for_each([&](const summary::KeyHash& key, std::string_view uri) {
        if (is_below(uri)) keys.push_back(key);
    });
    return keys;
}

std::size_t Invalidations::invalidate_prefixes(std::span<const summary::KeyHash> tags,
                                               Clock::time_point now) {
    Ended ended;
    const boost::unordered_flat_set<summary::KeyHash, summary::HashOfKeyHash> wanted(tags.begin(),
                                                                                     tags.end());
    const auto note = [&] {
        for (const auto& tag : tags) memory_.note_prefix(tag, hasher_, now);
    };
    const auto is_below = [&](std::string_view uri) {
        return std::ranges::any_of(prefixes_of(uri), [&](std::string_view prefix) {
            return wanted.contains(prefix_tag(prefix, hasher_));
        });
    };
    std::size_t blocks = 0;
    note();
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        for (const auto& key : keys_below(in, is_below)) {
            const auto* const entry = in.memory.find(key);
            if (entry && target_of_block(entry->uri)) ++blocks;
            drop_target(in, key, ended);
        }
    }
    if (disk_.tier()) {
        {
            const auto locks = shards_.lock_all();
            for (const auto& tag : tags) disk_.end(tag);
            note();
        }
        for (auto& in : shards_) {
            const std::lock_guard lock(in.mutex);
            for (const auto& key : keys_below(in, is_below)) drop_key(in, key, ended);
        }
    } else {
        note();
    }
    for (const auto& target : ended.in_blocks) invalidate(target, now);
    return ended.uris - blocks;
}

void Invalidations::drop_tagged_in_turn(summary::KeyHash tag, Ended& ended) {
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        drop_tagged(in, tag, ended);
    }
}

void Invalidations::drop_tagged(StoreShard& in, summary::KeyHash tag, Ended& ended) {
    while (const auto* const entry = in.memory.first_tagged(tag))
        drop_target(in, entry->hash, ended);
    while (const auto target = in.pending.first_tagged(tag)) drop_target(in, *target, ended);
}

/// Drops everything of the key, because one of its responses, stored or pending, has the tag.
void Invalidations::drop_target(StoreShard& in, summary::KeyHash key, Ended& ended) {
    in.pending.end_target(key, ended.fills);
    auto* const entry = in.memory.find(key);
    if (disk_.tier()) {
        const auto marked = in.disk.index.announced(key);
        in.disk.index.erase_all(key);
        ledger_.disk_loses(key, marked, entry != nullptr, in.disk.index);
    }
    if (!entry) return;
    ++ended.uris;
    const auto is_index = [](const auto& one) { return one.response->blocks.has_value(); };
    if (std::ranges::any_of(entry->variants, is_index)) ended.in_blocks.push_back(key);
    in.drop(ledger_, *entry, ended.responses);
}

std::size_t Invalidations::invalidate_all(Clock::time_point now) {
    Ended ended;
    memory_.note_all(now);
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        drop_all(in, ended);
    }
    if (!disk_.tier() || disk_.closing()) {
        memory_.note_all(now);
        return ended.uris;
    }
    const auto locks = shards_.lock_all();
    for (auto& in : shards_) drop_all(in, ended);
    disk_.end_all();
    memory_.note_all(now);
    return ended.uris;
}

/// The disk drops its records by and by.
void Invalidations::drop_all(StoreShard& in, Ended& ended) {
    ended.uris += in.memory.objects();
    in.memory.for_each([&](MemoryShelf::Entry& entry) {
        ledger_.memory_ends(entry.hash, entry.announced, in.disk.index);
    });
    ended.entries.push_back(in.memory.take_all());
    in.pending.end_all(ended.fills);
}

}  // namespace proxy
