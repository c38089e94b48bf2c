// How what is stored ends before its time: by its key, by a tag, all at once.
#include <algorithm>
#include <iterator>

#include "proxy/http/tags.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

bool Store::any_noted_since(std::span<const summary::KeyHash> names,
                            std::uint64_t invalidations) const {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) {
        return invalidated_.noted_since(name, invalidations);
    });
}

/// Brings the index up to what the entry holds now.
void Store::index_tags(Shard& in, Entry& entry) {
    std::vector<summary::KeyHash> tags;
    for (const auto& filling : entry.fillings)
        tags.insert(tags.end(), filling.tags.begin(), filling.tags.end());
    for (const auto& variant : entry.variants)
        tags.insert(tags.end(), variant.response->tags.begin(), variant.response->tags.end());
    std::sort(tags.begin(), tags.end(), precedes);
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    if (tags == entry.tags) return;
    for (const auto& tag : entry.tags) in.tagged.erase({tag, entry.hash});
    for (const auto& tag : tags) in.tagged.insert({tag, entry.hash});
    entry.tags = std::move(tags);
}

bool Store::tag_fill(summary::KeyHash hash, const Fill* fill, std::uint64_t invalidations,
                     std::span<const summary::KeyHash> tags) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    if (any_noted_since(tags, invalidations)) return false;
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return true;
    auto& fillings = it->second->fillings;
    const auto own = std::ranges::find(fillings, fill, [](const auto& f) { return f.fill.get(); });
    if (own == fillings.end()) return true;
    own->tags.assign(tags.begin(), tags.end());
    index_tags(in, *it->second);
    return true;
}

/// What an invalidation has taken out of the shards. It goes when no lock is held any more.
struct Store::Ended {
    Dropped responses;
    std::vector<Filling> fills;  // those who wait get their answer, newcomers fetch anew
    std::vector<decltype(Shard::entries)> entries;
    std::size_t uris = 0;                     // that a tag has ended
    std::vector<summary::KeyHash> in_blocks;  // of these, those whose bodies stand in blocks

    /// Nobody joins what the entry is filled by any more.
    void end(Entry& entry) {
        auto ending = end_fills(entry);
        std::ranges::move(ending, std::back_inserter(fills));
    }
};

std::array<std::unique_lock<std::mutex>, kShards> Store::lock_all() {
    std::array<std::unique_lock<std::mutex>, kShards> locks;
    for (std::size_t i = 0; i < kShards; ++i) locks[i] = std::unique_lock(shards_[i].mutex);
    return locks;
}

// Each invalidation is noted first: what is published or read after its shard was passed is
// refused. What there is goes a shard at a time. Meanwhile requests may bring more of it into
// memory from the disk, and the disk may take a record of it out of the index: then memory would
// write it again, behind the tombstone. So the last step holds all locks that such a request or
// record needs: the rest goes, the tombstone is pushed, and it is noted once more, so that what was
// read before the tombstone is not taken into memory after it.

bool Store::invalidate(summary::KeyHash hash, Clock::time_point now) {
    Ended ended;
    invalidated_.note(hash, now);
    const auto has_blocks = has_blocks_.load(std::memory_order_relaxed);
    if (has_blocks) drop_tagged_in_turn(hash, ended);
    if (has_blocks && disk_) {
        const auto locks = lock_all();
        for (auto& in : shards_) drop_tagged(in, hash, ended);
        const auto stored = drop_key(shard(hash), hash, ended);
        invalidated_.note(hash, now);
        return stored;
    }
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto stored = drop_key(in, hash, ended);
    invalidated_.note(hash, now);
    return stored;
}

bool Store::drop_key(Shard& in, summary::KeyHash hash, Ended& ended) {
    const auto was_on_disk = disk_ && drop_from_disk(in, hash);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return was_on_disk;
    auto& entry = *it->second;
    const auto was_in_memory = !entry.variants.empty();
    ended.end(entry);
    in.queue.remove(entry);
    drop_responses(in, entry, ended.responses);
    erase_if_empty(in, entry);
    return was_on_disk || was_in_memory;
}

std::size_t Store::invalidate_tag(summary::KeyHash tag, Clock::time_point now) {
    Ended ended;
    invalidated_.note(tag, now);
    drop_tagged_in_turn(tag, ended);
    if (disk_) {
        const auto locks = lock_all();
        for (auto& in : shards_) drop_tagged(in, tag, ended);
        end_on_disk(tag);
        invalidated_.note(tag, now);
    } else {
        invalidated_.note(tag, now);
    }
    // An index may have got the tag after its blocks were fetched.
    for (const auto& target : ended.in_blocks) invalidate(target, now);
    return ended.uris;
}

void Store::drop_tagged_in_turn(summary::KeyHash tag, Ended& ended) {
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        drop_tagged(in, tag, ended);
    }
}

void Store::drop_tagged(Shard& in, summary::KeyHash tag, Ended& ended) {
    for (;;) {
        const auto next = in.tagged.lower_bound({tag, {}});
        if (next == in.tagged.end() || next->tag != tag) return;
        auto& entry = *in.entries.find(next->key)->second;
        if (!entry.variants.empty()) ++ended.uris;
        const auto is_index = [](const auto& v) { return v.response->blocks.has_value(); };
        if (std::ranges::any_of(entry.variants, is_index)) ended.in_blocks.push_back(entry.hash);
        ended.end(entry);
        if (disk_) {
            const auto announced = in.disk.announced(entry.hash);
            in.disk.erase_all(entry.hash);
            if (announced && entry.variants.empty()) listener_(entry.hash, false);
        }
        in.queue.remove(entry);
        drop_responses(in, entry, ended.responses);
        erase_if_empty(in, entry);
    }
}

void Store::invalidate_all(Clock::time_point now) {
    Ended ended;
    invalidated_.note_all(now);
    for (auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        drop_all(in, ended);
    }
    if (!disk_ || closing_) return invalidated_.note_all(now);
    const auto locks = lock_all();
    for (auto& in : shards_) drop_all(in, ended);
    told_disk_.fetch_add(1, std::memory_order_relaxed);
    disk_->end_all(nullptr);
    invalidated_.note_all(now);
}

void Store::drop_all(Shard& in, Ended& ended) {
    for (auto& [hash, entry] : in.entries) {
        in.queue.remove(*entry);
        drop_responses(in, *entry, ended.responses);
    }
    ended.entries.emplace_back().swap(in.entries);
    in.tagged.clear();
}

std::optional<Store::Clock::time_point> Store::invalidated_at(
    summary::KeyHash hash, std::span<const summary::KeyHash> tags) const {
    auto last = invalidated_.last(hash);
    for (const auto& tag : tags) last = std::max(last, invalidated_.last(tag));
    return last;
}

}  // namespace proxy
