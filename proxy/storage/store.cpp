#include "proxy/storage/store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "proxy/http/selecting.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/storage/announceable.hpp"
#include "proxy/storage/variant_choice.hpp"

namespace proxy {
namespace {

/// One tag of one response: in it, in its entry and in the index, whose node is the most of it.
constexpr std::uint64_t kTagBytes = 112;
/// Allocator and hash table overhead of one entry, measured with glibc malloc.
constexpr std::uint64_t kRecordSlack = 128;
/// What the first block of a body takes beside its bytes, by the same measure.
constexpr std::uint64_t kBlockBytes = 96;

std::uint64_t charged_bytes(const StoredResponse& response) {
    return response.charge.bytes() + response.body->memory_bytes();
}

bool is_fresh_at(const StoredResponse& response, Store::Clock::time_point now) {
    return is_fresh(response.freshness, response.residence(now));
}

}  // namespace

Store::Store(std::uint64_t memory_cap_bytes, Listener listener)
    : budget_(memory_cap_bytes), listener_(std::move(listener)) {
    for (auto& in : shards_) in.queue.count_into(evictable_);
}

Store::~Store() = default;

Store::Found Store::find(summary::KeyHash hash, std::string_view uri, const Selecting& request,
                         Clock::time_point now) {
    Found found;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    found.invalidations = invalidated_.invalidations();
    found.at = now;
    const auto it = in.entries.find(hash);
    auto* entry = it == in.entries.end() ? nullptr : it->second.get();
    // Two URIs of one 128-bit hash: the second is never stored.
    const auto is_other = entry && entry->uri != uri;
    if (is_other) entry = nullptr;
    if (auto* selected = entry ? select(in, *entry, request) : nullptr) {
        found.response = selected->response;
        EvictionQueue::touch(*entry);
        count_use(selected->uses);
        if (disk_) offer(in, *entry, *selected);
    } else {
        found.other_variants = entry && !entry->variants.empty();
        found.on_disk = disk_ && !is_other && disk_has_more(in, hash, entry);
    }
    if (entry && !entry->fillings.empty()) found.fill = fill_for(in, *entry, request, now);
    if (!in.unshareable.empty() && !(found.response && is_fresh_at(*found.response, now)))
        found.unshareable = is_unshareable(in, hash, entry, request, now);
    return found;
}

Store::Where Store::peek(summary::KeyHash hash, std::string_view uri, const Selecting& request) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    const auto* entry = it == in.entries.end() ? nullptr : it->second.get();
    if (entry && entry->uri != uri) return Where::nowhere;
    if (const auto* stored = entry ? select(in, *entry, request) : nullptr)
        return stored->response->body->on_disk() ? Where::disk : Where::memory;
    if (entry && !entry->fillings.empty()) return Where::memory;
    return disk_has_more(in, hash, entry) ? Where::disk : Where::nowhere;
}

const Store::Variant* Store::select(Shard& in, const Entry& entry, const Selecting& request) {
    VariantMatcher matches(request, in.scratch);
    for (auto variant = entry.variants.rbegin(); variant != entry.variants.rend(); ++variant) {
        const auto& response = *variant->response;
        if (response.vary_names.empty() || matches(response.vary_names, response.variant))
            return &*variant;
    }
    return nullptr;
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

bool Store::publish(summary::KeyHash hash, std::string_view uri, const Fill* fill,
                    std::uint64_t invalidations, std::shared_ptr<const StoredResponse> response,
                    const Selecting& request, Clock::time_point now) {
    Dropped dropped;  // destroyed after the lock is gone
    Filling ended;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto* entry = entry_for(in, hash, uri);
    if (!entry) return false;
    ended = end_fill(*entry, fill);
    const auto lost = has_lost_its_body(in, hash, *response);
    if (lost || invalidated_.noted_since(hash, invalidations) ||
        any_noted_since(response->tags, invalidations)) {
        // Who asks next is not to be told to validate it once more.
        if (lost)
            drop_if(
                in, *entry, [&](const Variant& v) { return v.response->body == response->body; },
                dropped);
        erase_if_empty(in, *entry);
        return false;
    }
    auto& variants = entry->variants;
    if (variants.empty()) adopt(in, *entry);
    auto supersedes = false;
    std::uint8_t uses = 0;             // of the one whose place it takes
    std::optional<Variant> validated;  // whose body this is: a 304 came
    std::erase_if(variants, [&](const auto& old) {
        if (!is_same_variant(*old.response, *response)) return false;
        uses = std::max(uses, old.uses);
        if (old.response->body == response->body) {
            validated = old;
        } else {
            supersedes = supersedes || old.writing || old.on_disk();
            erase_from_index(in, hash, old);
        }
        dropped.push_back(old.response);
        return true;
    });
    while (variants.size() >= max_variants_.load(std::memory_order_relaxed))
        if (drop_one_variant(in, *entry, dropped) && validated) {
            validated->place = {};
            validated->writing = nullptr;
        }
    auto& variant = variants.emplace_back(std::move(response));
    variant.uses = uses;
    // What is validated is no other version: all that the disk has of the key stays good.
    const auto& in_place = variant.response->body->on_disk();
    if (disk_ && !validated && !in_place) supersedes = supersede(in, *entry) || supersedes;
    settle(in, *entry, now);
    const auto has_record = validated && (validated->on_disk() || validated->writing);
    if (has_record && !supersedes) {
        renew_on_disk(in, *entry, *validated, variant);
    } else if (disk_) {
        if (validated)
            erase_from_index(in, hash, *validated);
        else if (in_place)
            in.disk.erase(hash, in_place->place());
        variant.supersedes = supersedes || has_record || in_place;
        admit(in, *entry, variant);
    }
    if (fill && fill->is_read_slowly()) in.queue.hold(*entry);
    refute_unshareable(in, *entry, request);
    return true;
}

/// The least used that is not on its way to the disk: what arrives there and is known to nobody
/// here would be ended by no purge, and be back after a restart.
bool Store::drop_one_variant(Shard& in, Entry& entry, Dropped& out) {
    auto& variants = entry.variants;
    std::vector<VariantUse> uses;
    uses.reserve(variants.size());
    for (auto& variant : variants) uses.push_back({&variant.uses, variant.writing != nullptr});
    auto least = variant_to_go(uses, entry.hash.low, entry.displaced++);
    const bool buries = !least;
    if (buries) {
        bury(in, entry);
        least = 0;  // the oldest
    }
    const auto goes = variants.begin() + static_cast<std::ptrdiff_t>(*least);
    out.push_back(std::move(goes->response));
    variants.erase(goes);
    return buries;
}

/// It stood on the disk, and does not any more.
bool Store::has_lost_its_body(const Shard& in, summary::KeyHash hash,
                              const StoredResponse& response) {
    const auto& body = response.body->on_disk();
    return body && !in.disk.find(hash, body->place());
}

Store::Replaced Store::replace(summary::KeyHash hash, const StoredResponse* old,
                               std::shared_ptr<const StoredResponse> response,
                               Clock::time_point asked, Clock::time_point now) {
    std::optional<Variant> dropped;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return Replaced::gone;
    auto& entry = *it->second;
    auto& variants = entry.variants;
    const auto place =
        std::ranges::find_if(variants, [old](const auto& v) { return v.response.get() == old; });
    if (place == variants.end()) return Replaced::gone;
    if (invalidated_at(hash, response->tags) >= asked) return Replaced::invalidated;
    dropped = std::move(*place);
    variants.erase(place);
    auto& renewed = variants.emplace_back(std::move(response));
    renewed.uses = dropped->uses;
    settle(in, entry, now);
    if (disk_) renew_on_disk(in, entry, *dropped, renewed);
    return Replaced::done;
}

void Store::settle(Shard& in, Entry& entry, Clock::time_point now) {
    if (is_announceable(*entry.variants.back().response, now)) announce(entry, true);
    weigh(in, entry);
}

void Store::weigh(Shard& in, Entry& entry) {
    index_tags(in, entry);
    std::uint64_t bytes = 0;
    for (const auto& variant : entry.variants) bytes += charged_bytes(*variant.response);
    in.queue.insert(entry, bytes);
}

void Store::drop_responses(Shard& in, Entry& entry, Dropped& out) {
    drop_if(
        in, entry, [](const Variant&) { return true; }, out);
}

void Store::announce(Entry& entry, bool stored) {
    if (std::exchange(entry.announced, stored) != stored) listener_(entry.hash, stored);
}

void Store::erase_if_empty(Shard& in, Entry& entry) {
    index_tags(in, entry);
    if (!entry.variants.empty() || !entry.fillings.empty()) return;
    in.queue.remove(entry);
    in.entries.erase(entry.hash);
}

/// Whoever reads it got it from find(), under the shard's lock, which the caller holds: with nobody
/// there, nobody comes. A response that a 304 renewed has the body of the one before.
bool Store::in_use(const Entry& entry) {
    return std::ranges::any_of(entry.variants, [](const Variant& variant) {
        return variant.response.use_count() > 1 || variant.response->body.use_count() > 1;
    });
}

void Store::hold(summary::KeyHash hash) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    if (it != in.entries.end() && it->second->queued() && in_use(*it->second))
        in.queue.hold(*it->second);
}

bool Store::evict_one(Shard& in, std::uint64_t left) {
    Dropped dropped;
    const std::lock_guard lock(in.mutex);
    const auto is_used = [](const auto& node) { return in_use(static_cast<const Entry&>(node)); };
    in.queue.release(is_used);
    if (evictable_.load(std::memory_order_relaxed) <= left) return false;
    auto* node = in.queue.pop_victim();
    if (!node) return false;
    if (is_used(*node)) {
        in.queue.hold(*node);
        return true;
    }
    auto& entry = static_cast<Entry&>(*node);
    drop_responses(in, entry, dropped);
    ++in.evictions;
    erase_if_empty(in, entry);
    return true;
}

template <class Enough>
bool Store::evict_until(Enough enough, std::uint64_t left) {
    const auto evictable_in = [this](std::size_t shard) {
        const std::lock_guard lock(shards_[shard].mutex);
        return shards_[shard].queue.bytes();
    };
    std::size_t empty_shards = 0;
    while (!enough()) {
        const auto turn = next_victim_.fetch_add(1, std::memory_order_relaxed);
        const auto [fuller, other] = shards_of_turn(turn, evictable_in);
        const auto evicted = evict_one(shards_[fuller], left) || evict_one(shards_[other], left);
        empty_shards = evicted ? 0 : empty_shards + 1;
        if (empty_shards == kShards) return false;
    }
    return true;
}

std::optional<Charge> Store::reserve(std::uint64_t bytes, Clock::time_point now) {
    const auto cap = budget_.cap();
    if (bytes > cap) return std::nullopt;
    if (!evict_until([&] { return budget_.take(bytes); }, cap / kShareLeft)) {
        if (full_.met(now))
            spdlog::warn(
                "cache.memory ({} bytes) is full of what clients still read or wait for: "
                "answers are passed on without being stored",
                cap);
        return std::nullopt;
    }
    if (full_.on() && full_.over(now)) spdlog::info("there is room in cache.memory again");
    return Charge(budget_, bytes);
}

bool Store::step_cap_to(std::uint64_t bytes) {
    const auto held = std::min(budget_.used(), budget_.cap());
    const auto next = std::max(bytes, held - std::min(held, kCapStepBytes));
    budget_.set_cap(next);
    evict_until([&] { return budget_.used() <= next; }, 0);
    return next == bytes;
}

std::uint64_t Store::charge_for(std::string_view uri, const StoredMetadata& metadata) {
    return metadata.text_bytes() + overhead_bytes(uri, metadata.tags.size()) + kBlockBytes;
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
        stats.disk_evictions += in.disk_evictions;
        stats.disk.disk_objects += in.disk.size();
        stats.disk.disk_index_bytes += in.disk.memory_bytes();
        stats.disk.disk_hits += in.recalled;
        stats.disk.disk_admission_declined += in.declined;
    }
    stats.memory_bytes = budget_.used();
    return stats;
}

}  // namespace proxy
