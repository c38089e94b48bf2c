// How what is stored ends before its time: by its key, by a tag, all at once.
#include <algorithm>

#include "proxy/http/tags.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

bool Store::any_noted_since(std::span<const summary::KeyHash> tags,
                            std::uint64_t invalidations) const {
    return std::any_of(tags.begin(), tags.end(), [&](const auto& tag) {
        return invalidated_.noted_since(tag, invalidations);
    });
}

/// Brings the index up to what the entry holds now.
void Store::index_tags(Shard& in, Entry& entry) {
    std::vector<summary::KeyHash> tags = entry.fill_tags;
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
    if (it == in.entries.end() || it->second->fill.get() != fill) return true;
    it->second->fill_tags.assign(tags.begin(), tags.end());
    index_tags(in, *it->second);
    return true;
}

bool Store::invalidate(summary::KeyHash hash, Clock::time_point now) {
    // All in the same order as with a tag, for the sake of its blocks.
    invalidated_.note(hash, now);
    if (has_blocks_.load(std::memory_order_relaxed)) drop_tagged(hash);
    const auto stored = invalidate_entry(hash);
    invalidated_.note(hash, now);
    if (has_blocks_.load(std::memory_order_relaxed)) drop_tagged(hash);
    return stored;
}

bool Store::invalidate_entry(summary::KeyHash hash) {
    Dropped dropped;
    std::shared_ptr<Fill> ended;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto was_on_disk = disk_ && drop_from_disk(in, hash);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return was_on_disk;
    auto& entry = *it->second;
    ended = end_fill(entry);  // those who wait get its answer, newcomers fetch anew
    in.queue.remove(entry);
    drop_responses(in, entry, dropped);
    erase_if_empty(in, entry);
    return was_on_disk || !dropped.empty();
}

std::size_t Store::invalidate_tag(summary::KeyHash tag, Clock::time_point now) {
    std::vector<summary::KeyHash> in_blocks;
    invalidated_.note(tag, now);  // first: what is published after its shard was passed is refused
    // So that nothing of it is written behind its tombstone.
    auto uris = drop_tagged(tag, &in_blocks);
    if (disk_) end_on_disk(tag);
    // What somebody has begun to read in between is refused, or has come by now.
    invalidated_.note(tag, now);
    if (disk_) uris += drop_tagged(tag, &in_blocks);
    // An index may have got the tag after its blocks were fetched.
    for (const auto& target : in_blocks) invalidate(target, now);
    return uris;
}

std::size_t Store::drop_tagged(summary::KeyHash tag, std::vector<summary::KeyHash>* in_blocks) {
    std::size_t uris = 0;
    for (auto& in : shards_) {
        Dropped dropped;
        std::vector<std::shared_ptr<Fill>> ended;
        const std::lock_guard lock(in.mutex);
        for (;;) {
            const auto next = in.tagged.lower_bound({tag, {}});
            if (next == in.tagged.end() || next->tag != tag) break;
            auto& entry = *in.entries.find(next->key)->second;
            if (!entry.variants.empty()) ++uris;
            const auto is_index = [](const auto& v) { return v.response->blocks.has_value(); };
            if (in_blocks && std::ranges::any_of(entry.variants, is_index))
                in_blocks->push_back(entry.hash);
            if (entry.fill) ended.push_back(end_fill(entry));
            if (disk_) {
                const auto announced = in.disk.announced(entry.hash);
                in.disk.erase_all(entry.hash);
                if (announced && entry.variants.empty()) listener_(entry.hash, false);
            }
            in.queue.remove(entry);
            drop_responses(in, entry, dropped);
            erase_if_empty(in, entry);
        }
    }
    return uris;
}

void Store::invalidate_all(Clock::time_point now) {
    invalidated_.note_all(now);  // all in the same order as with a tag
    drop_all();
    if (disk_ && !closing_) {
        told_disk_.fetch_add(1, std::memory_order_relaxed);
        disk_->end_all(nullptr);
    }
    invalidated_.note_all(now);
    if (disk_) drop_all();
}

void Store::drop_all() {
    for (auto& in : shards_) {
        Dropped dropped;
        decltype(in.entries) ended;
        const std::lock_guard lock(in.mutex);
        for (auto& [hash, entry] : in.entries) {
            in.queue.remove(*entry);
            drop_responses(in, *entry, dropped);
        }
        ended.swap(in.entries);
        in.tagged.clear();
    }
}

std::optional<Store::Clock::time_point> Store::invalidated_at(
    summary::KeyHash hash, std::span<const summary::KeyHash> tags) const {
    auto last = invalidated_.last(hash);
    for (const auto& tag : tags) last = std::max(last, invalidated_.last(tag));
    return last;
}

}  // namespace proxy
