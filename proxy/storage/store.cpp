#include "proxy/storage/store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

/// One tag of one response: in it, in its entry and in the index, whose node is the most of it.
constexpr std::uint64_t kTagBytes = 112;
/// Allocator and hash table overhead of one entry, measured with glibc malloc.
constexpr std::uint64_t kRecordSlack = 96;

std::uint64_t charged_bytes(const StoredResponse& response) {
    return response.charge.bytes() + response.body->size();
}

bool announceable(const StoredResponse& response, Store::Clock::time_point now) {
    return !response.freshness.always_validate && response.vary_names != kVaryAny &&
           time_to_live(response.freshness, response.residence(now)) > kAnnounceAtLeast;
}

}  // namespace

Store::Store(std::uint64_t memory_cap_bytes, Listener listener)
    : budget_(memory_cap_bytes), listener_(std::move(listener)) {}

Store::~Store() = default;

Store::Found Store::find(summary::KeyHash hash, std::string_view uri, Fields request,
                         Clock::time_point now) {
    Found found;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    found.generation = in.invalidated.generation();
    if (!in.unshareable.empty()) {
        if (const auto seen = in.unshareable.find(hash); seen != in.unshareable.end()) {
            found.unshareable = now < seen->second;
            if (!found.unshareable) in.unshareable.erase(seen);
        }
    }
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return found;
    auto& entry = *it->second;
    if (entry.uri != uri) return found;  // two URIs of one 128-bit hash: the second is never stored
    found.fill = entry.fill;
    for (auto variant = entry.variants.rbegin(); variant != entry.variants.rend(); ++variant) {
        const auto& response = **variant;
        if (response.vary_names.empty() ||
            variant_matches(response.vary_names, response.variant, request, in.scratch)) {
            found.response = *variant;
            EvictionQueue::touch(entry);
            break;
        }
    }
    found.other_variants = !found.response && !entry.variants.empty();
    return found;
}

Store::Entry* Store::entry_for(Shard& in, summary::KeyHash hash, std::string_view uri) {
    auto& slot = in.entries[hash];
    if (!slot) {
        slot = std::make_unique<Entry>();
        slot->hash = hash;
        slot->uri = uri;
    }
    return slot->uri == uri ? slot.get() : nullptr;
}

Store::Claim Store::claim(summary::KeyHash hash, std::string_view uri, const Found& seen,
                          const std::shared_ptr<Fill>& fill) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto* entry = entry_for(in, hash, uri);
    if (!entry) return {fill, true, false};  // fetched, but publish() will not store it
    if (entry->fill) return {entry->fill, false, false};
    const auto& variants = entry->variants;
    const auto same =
        seen.response ? std::find(variants.begin(), variants.end(), seen.response) != variants.end()
                      : (variants.empty() || seen.other_variants);
    if (!same && !variants.empty()) return {nullptr, false, true};
    entry->fill = fill;
    return {fill, true, false};
}

bool Store::publish(summary::KeyHash hash, std::string_view uri, const Fill* fill,
                    std::uint64_t generation, std::shared_ptr<const StoredResponse> response,
                    Clock::time_point now) {
    std::vector<std::shared_ptr<const StoredResponse>> dropped;  // destroyed after the lock is gone
    std::shared_ptr<Fill> ended;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto* entry = entry_for(in, hash, uri);
    if (!entry) return false;
    if (fill && entry->fill.get() == fill) ended = end_fill(*entry);
    if (in.invalidated.noted_since(hash, generation) ||
        any_noted_since(in, response->tags, generation)) {
        erase_if_empty(in, *entry);
        return false;
    }
    auto& variants = entry->variants;
    if (variants.empty()) ++in.objects;
    // A variant is replaced by one for the same selecting values, or when the names that select
    // changed.
    std::erase_if(variants, [&](const auto& old) {
        const auto replaced =
            old->vary_names != response->vary_names || old->variant == response->variant;
        if (replaced) dropped.push_back(old);
        return replaced;
    });
    if (variants.size() >= kMaxVariants) {
        dropped.push_back(variants.front());
        variants.erase(variants.begin());
    }
    variants.push_back(std::move(response));
    settle(in, *entry, now);
    in.unshareable.erase(hash);
    return true;
}

bool Store::replace(summary::KeyHash hash, const StoredResponse* old,
                    std::shared_ptr<const StoredResponse> response, Clock::time_point now) {
    std::shared_ptr<const StoredResponse> dropped;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return false;
    auto& variants = it->second->variants;
    const auto place = std::find_if(variants.begin(), variants.end(),
                                    [old](const auto& each) { return each.get() == old; });
    if (place == variants.end()) return false;
    dropped = std::move(*place);
    variants.erase(place);
    variants.push_back(std::move(response));
    settle(in, *it->second, now);
    return true;
}

void Store::settle(Shard& in, Entry& entry, Clock::time_point now) {
    index_tags(in, entry);
    if (!entry.announced && announceable(*entry.variants.back(), now)) {
        entry.announced = true;
        listener_(entry.hash, true);
    }
    std::uint64_t bytes = 0;
    for (const auto& variant : entry.variants) bytes += charged_bytes(*variant);
    in.queue.insert(entry, bytes);
}

void Store::abandon(summary::KeyHash hash, const Fill* fill, bool unshareable,
                    Clock::time_point now) {
    std::shared_ptr<Fill> ended;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    if (unshareable) {
        if (in.unshareable.size() >= kMaxUnshareableKeys) in.unshareable.clear();
        in.unshareable[hash] = now + kHitForMiss;
    }
    const auto it = in.entries.find(hash);
    if (it == in.entries.end() || it->second->fill.get() != fill) return;
    ended = end_fill(*it->second);
    erase_if_empty(in, *it->second);
}

void Store::drop_responses(Shard& in, Entry& entry,
                           std::vector<std::shared_ptr<const StoredResponse>>& out) {
    if (entry.variants.empty()) return;
    out.insert(out.end(), entry.variants.begin(), entry.variants.end());
    entry.variants.clear();
    --in.objects;
    if (entry.announced) {
        entry.announced = false;
        listener_(entry.hash, false);
    }
}

std::shared_ptr<Fill> Store::end_fill(Entry& entry) {
    entry.fill_tags.clear();
    return std::move(entry.fill);
}

bool Store::any_noted_since(const Shard& in, std::span<const summary::KeyHash> tags,
                            std::uint64_t generation) {
    return std::any_of(tags.begin(), tags.end(), [&](const auto& tag) {
        return in.invalidated.noted_since(tag, generation);
    });
}

/// Brings the index up to what the entry holds now.
void Store::index_tags(Shard& in, Entry& entry) {
    std::vector<summary::KeyHash> tags = entry.fill_tags;
    for (const auto& variant : entry.variants)
        tags.insert(tags.end(), variant->tags.begin(), variant->tags.end());
    std::sort(tags.begin(), tags.end(), precedes);
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    if (tags == entry.tags) return;
    for (const auto& tag : entry.tags) in.tagged.erase({tag, entry.hash});
    for (const auto& tag : tags) in.tagged.insert({tag, entry.hash});
    entry.tags = std::move(tags);
}

bool Store::tag_fill(summary::KeyHash hash, const Fill* fill, std::uint64_t generation,
                     std::span<const summary::KeyHash> tags) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    if (any_noted_since(in, tags, generation)) return false;
    const auto it = in.entries.find(hash);
    if (it == in.entries.end() || it->second->fill.get() != fill) return true;
    it->second->fill_tags.assign(tags.begin(), tags.end());
    index_tags(in, *it->second);
    return true;
}

void Store::erase_if_empty(Shard& in, Entry& entry) {
    index_tags(in, entry);
    if (!entry.variants.empty() || entry.fill) return;
    in.queue.remove(entry);
    in.entries.erase(entry.hash);
}

bool Store::invalidate(summary::KeyHash hash, Clock::time_point now) {
    const auto stored = invalidate_entry(hash, now);
    if (has_blocks_.load(std::memory_order_relaxed)) invalidate_tag(hash, now);
    return stored;
}

bool Store::invalidate_entry(summary::KeyHash hash, Clock::time_point now) {
    std::vector<std::shared_ptr<const StoredResponse>> dropped;
    std::shared_ptr<Fill> ended;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    in.invalidated.note(hash, now);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return false;
    auto& entry = *it->second;
    ended = end_fill(entry);  // those who wait get its answer, newcomers fetch anew
    in.queue.remove(entry);
    drop_responses(in, entry, dropped);
    erase_if_empty(in, entry);
    return !dropped.empty();
}

std::size_t Store::invalidate_tag(summary::KeyHash tag, Clock::time_point now) {
    std::size_t uris = 0;
    for (auto& in : shards_) {
        std::vector<std::shared_ptr<const StoredResponse>> dropped;
        std::vector<std::shared_ptr<Fill>> ended;
        const std::lock_guard lock(in.mutex);
        in.invalidated.note(tag, now);
        for (;;) {
            const auto next = in.tagged.lower_bound({tag, {}});
            if (next == in.tagged.end() || next->tag != tag) break;
            auto& entry = *in.entries.find(next->key)->second;
            if (!entry.variants.empty()) ++uris;
            if (entry.fill) ended.push_back(end_fill(entry));
            in.queue.remove(entry);
            drop_responses(in, entry, dropped);
            erase_if_empty(in, entry);
        }
    }
    return uris;
}

void Store::invalidate_all(Clock::time_point now) {
    for (auto& in : shards_) {
        std::vector<std::shared_ptr<const StoredResponse>> dropped;
        decltype(in.entries) ended;
        const std::lock_guard lock(in.mutex);
        in.invalidated.note_all(now);
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
    const auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto last = in.invalidated.last(hash);
    for (const auto& tag : tags) last = std::max(last, in.invalidated.last(tag));
    return last;
}

bool Store::evict_one(Shard& in) {
    std::vector<std::shared_ptr<const StoredResponse>> dropped;
    const std::lock_guard lock(in.mutex);
    auto* node = in.queue.pop_victim();
    if (!node) return false;
    auto& entry = static_cast<Entry&>(*node);
    drop_responses(in, entry, dropped);
    ++in.evictions;
    erase_if_empty(in, entry);
    return true;
}

std::optional<Charge> Store::reserve(std::uint64_t bytes) {
    if (bytes > budget_.cap()) return std::nullopt;
    std::size_t empty_shards = 0;
    while (!budget_.take(bytes)) {
        auto& in = shards_[next_victim_.fetch_add(1, std::memory_order_relaxed) % kShards];
        empty_shards = evict_one(in) ? 0 : empty_shards + 1;
        if (empty_shards < kShards) continue;
        if (full_.met())
            spdlog::warn(
                "cache.memory ({} bytes) is full of what clients still read or wait for: "
                "answers are passed on without being stored",
                budget_.cap());
        return std::nullopt;
    }
    if (full_.on() && full_.over(Episode::Clock::now()))
        spdlog::info("there is room in cache.memory again");
    return Charge(budget_, bytes);
}

bool Store::step_cap_to(std::uint64_t bytes) {
    const auto held = std::min(budget_.used(), budget_.cap());
    const auto next = std::max(bytes, held - std::min(held, kCapStepBytes));
    budget_.set_cap(next);
    std::size_t empty_shards = 0;
    while (budget_.used() > next && empty_shards < kShards) {
        auto& in = shards_[next_victim_.fetch_add(1, std::memory_order_relaxed) % kShards];
        empty_shards = evict_one(in) ? 0 : empty_shards + 1;
    }
    return next == bytes;
}

std::uint64_t Store::overhead_bytes(std::string_view uri, std::size_t tags) {
    return sizeof(Entry) + sizeof(StoredResponse) + sizeof(Body) + uri.size() + kRecordSlack +
           tags * kTagBytes;
}

Store::Stats Store::stats() const {
    Stats stats;
    for (const auto& in : shards_) {
        const std::lock_guard lock(in.mutex);
        stats.objects += in.objects;
        stats.evictions += in.evictions;
    }
    stats.memory_bytes = budget_.used();
    return stats;
}

}  // namespace proxy
