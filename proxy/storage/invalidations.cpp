#include "proxy/storage/invalidations.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <vector>

#include "proxy/http/tags.hpp"
#include "proxy/storage/blocks.hpp"

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

bool Invalidations::drop_key(StoreShard& in, summary::KeyHash key, Ended& ended) {
    const auto was_on_disk = disk_.tier() && writer_.end_key(in, key);
    in.pending.end_target(key, ended.fills);
    auto* const entry = in.memory.find(key);
    if (entry) in.drop(ledger_, *entry, ended.responses);
    return was_on_disk || entry;
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
                                               const summary::KeyHasher& hasher,
                                               Clock::time_point now) {
    Ended ended;
    const boost::unordered_flat_set<summary::KeyHash, summary::HashOfKeyHash> wanted(tags.begin(),
                                                                                     tags.end());
    const auto note = [&] {
        for (const auto& tag : tags) memory_.note_prefix(tag, hasher, now);
    };
    const auto is_below = [&](std::string_view uri) {
        return std::ranges::any_of(prefixes_of(uri), [&](std::string_view prefix) {
            return wanted.contains(prefix_tag(prefix, hasher));
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

void Invalidations::invalidate_all(Clock::time_point now) {
    Ended ended;
    memory_.note_all(now);
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        drop_all(in, ended);
    }
    if (!disk_.tier() || disk_.closing()) return memory_.note_all(now);
    const auto locks = shards_.lock_all();
    for (auto& in : shards_) drop_all(in, ended);
    disk_.end_all();
    memory_.note_all(now);
}

/// The disk drops its records by and by.
void Invalidations::drop_all(StoreShard& in, Ended& ended) {
    in.memory.for_each([&](MemoryShelf::Entry& entry) {
        ledger_.memory_ends(entry.hash, entry.announced, in.disk.index);
    });
    ended.entries.push_back(in.memory.take_all());
    in.pending.end_all(ended.fills);
}

}  // namespace proxy
