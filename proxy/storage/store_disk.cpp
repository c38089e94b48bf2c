// The half of the store that has to do with the disk: what goes there, and who is told of what. How
// it comes back stands in store_recall.cpp, the other half in store.cpp.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "proxy/storage/blocks.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/storage/stored_record.hpp"

namespace proxy {
namespace {

/// Until when it may be used without asking anybody.
Arrival::Steady fresh_until(const StoredResponse& response) {
    if (response.freshness.always_validate) return Arrival::Steady::min();
    return response.arrival.steady + time_to_live(response.freshness, std::chrono::seconds(0));
}

/// Date, Expires and Age are whole seconds: the same end, told twice, differs by as much.
constexpr std::chrono::seconds kRounding{2};

/// Has it a tag that it had not?
bool has_more_tags(const StoredResponse& now, const StoredResponse& before) {
    auto had = before.tags;
    std::ranges::sort(had, precedes);
    return !std::ranges::all_of(
        now.tags, [&](const auto& tag) { return std::ranges::binary_search(had, tag, precedes); });
}

/// May it be used in fewer cases than before, or is it ended by more?
bool is_stricter(const StoredResponse& now, const StoredResponse& before) {
    return has_more_tags(now, before) || fresh_until(now) + kRounding < fresh_until(before) ||
           (now.freshness.never_stale && !before.freshness.never_stale) ||
           now.freshness.stale_while_revalidate < before.freshness.stale_while_revalidate ||
           now.freshness.stale_if_error < before.freshness.stale_if_error;
}

}  // namespace

void Store::use_disk(DiskCalls& calls, DiskUse use, const summary::KeyHasher& hasher) {
    hasher_.emplace(hasher);
    begun_ = {Clock::now(), std::chrono::system_clock::now()};
    admission_ = use.admission;
    for (auto& in : shards_) in.second_request.emplace(use.remembered / kShards);
    tier_.reset(new DiskTier(calls, std::move(use.tier), *this));  // a private base
    disk_ = tier_.get();
    disk_->start();
}

void Store::close_disk() {
    closing_ = true;
    tier_.reset();
    disk_ = nullptr;
}

/// The wall clock may be set while the process runs: what it wrote itself must not become younger
/// by that.
Present Store::present(Clock::time_point now) const {
    const auto counted =
        begun_.wall + std::chrono::ceil<Present::Wall::duration>(now - begun_.steady);
    return {now, std::max(std::chrono::system_clock::now(), counted)};
}

// What the index knows.

bool Store::disk_has_more(const Shard& in, summary::KeyHash hash, const Entry* entry) {
    auto more = false;
    in.disk.for_each(hash, [&](const DiskEntry& record) {
        more = more || !entry || !entry->holds(record.place);
    });
    return more;
}

std::vector<DiskEntry> Store::lacking(const Shard& in, summary::KeyHash hash) {
    std::vector<DiskEntry> records;
    const auto it = in.entries.find(hash);
    in.disk.for_each(hash, [&](const DiskEntry& record) {
        if (it == in.entries.end() || !it->second->holds(record.place)) records.push_back(record);
    });
    return records;
}

/// The entry is about to hold something: from now on it says whether the key was told of.
void Store::adopt(Shard& in, Entry& entry) {
    ++in.objects;
    entry.announced = entry.announced || in.disk.announced(entry.hash);
}

/// It holds nothing any more. If the disk has the key, its records say from now on whether that was
/// told of; else false.
bool Store::hand_over(Shard& in, Entry& entry) {
    if (!in.disk.set_announced(entry.hash, entry.announced)) return false;
    entry.announced = false;
    return true;
}

/// A record is no more, or must not be used any longer. False when the index did not have it.
bool Store::forget(Shard& in, summary::KeyHash hash, DiskPlace place) {
    const auto record = in.disk.find(hash, place);
    if (!record) return false;
    in.disk.erase(hash, place);
    if (const auto it = in.entries.find(hash); it != in.entries.end()) {
        for (auto& variant : it->second->variants)
            if (variant.place == place) variant.place = {};
        if (!it->second->variants.empty()) return true;
    }
    if (record->announced && !in.disk.set_announced(hash, true)) listener_(hash, false);
    return true;
}

/// All of the key, and what is being written for its entry. How many there were.
std::size_t Store::erase_records(Shard& in, summary::KeyHash hash, Entry* entry) {
    if (entry)
        for (auto& variant : entry->variants) variant.place = {}, variant.writing = nullptr;
    return in.disk.erase_all(hash);
}

/// What the disk has of the key counts no longer, and is not to come back. True if there was
/// something.
bool Store::drop_from_disk(Shard& in, summary::KeyHash hash) {
    const auto announced = in.disk.announced(hash);
    const auto it = in.entries.find(hash);
    auto* const entry = it == in.entries.end() ? nullptr : it->second.get();
    const auto in_memory = entry && !entry->variants.empty();
    const auto writing =
        entry && std::ranges::any_of(entry->variants, [](const auto& v) { return v.writing; });
    const auto had = erase_records(in, hash, entry) > 0;
    if (announced && !in_memory) listener_(hash, false);
    const auto has_blocks = block_targets_.take(hash);
    // While the index is being read nobody knows what else there is.
    if (had || writing || has_blocks || disk_->loading()) end_on_disk(hash);
    return had;
}

/// Of a key or a tag.
void Store::end_on_disk(summary::KeyHash hash) {
    if (closing_) return;
    told_disk_.fetch_add(1, std::memory_order_relaxed);
    disk_->end({&hash, 1}, {});
}

/// The same for what memory keeps: its records are older than what it has by now.
void Store::bury(Shard& in, Entry& entry) {
    erase_records(in, entry.hash, &entry);
    end_on_disk(entry.hash);
}

void Store::deny(summary::KeyHash hash) {
    if (!told_in_vain_.load(std::memory_order_relaxed)) return;
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    if ((it == in.entries.end() || !it->second->announced) && !in.disk.contains(hash))
        listener_(hash, false);
}

/// Its record, if it has one, is that of a version that does not count any more.
void Store::erase_from_index(Shard& in, summary::KeyHash hash, const Variant& variant) {
    if (variant.on_disk()) in.disk.erase(hash, variant.place);
}

// The way there.

/// Something new is about to be stored: all records of the key that memory does not hold are older.
/// True if there may be any.
bool Store::supersede(Shard& in, Entry& entry) {
    auto older = lacking(in, entry.hash);
    for (const auto& record : older) in.disk.erase(entry.hash, record.place);
    return !older.empty() || disk_->loading();
}

/// It was just stored.
void Store::admit(Shard& in, Entry& entry, Variant& variant) {
    const auto admitted =
        in.second_request->admits(entry.hash, disk_->has_room(entry.hash), in.disk.size());
    if (admitted || admission_.load(std::memory_order_relaxed) == DiskAdmission::always) {
        write(in, entry, variant);
        return;
    }
    ++in.declined;
    if (std::exchange(variant.supersedes, false)) bury(in, entry);
}

/// It was asked for again: the request that brought it was not the last one.
void Store::offer(Shard& in, Entry& entry, Variant& variant) {
    if (variant.on_disk() || variant.writing || variant.offers >= kMaxOffers) return;
    write(in, entry, variant);
}

void Store::write(Shard& in, Entry& entry, Variant& variant) {
    ++variant.offers;
    const auto& response = variant.response;
    if (may_be_written(*response)) {
        auto job = write_of(response, entry.uri);
        const auto sizes = sizes_of(job.record);
        const auto sectors =
            sizes ? static_cast<std::uint32_t>(sizes->total() / kDiskSector) : std::uint32_t{0};
        job.done = [this, hash = entry.hash, what = response.get(), sectors](const auto& where) {
            written(hash, what, sectors, where);
        };
        if (sectors > 0 && !closing_ && disk_->write(entry.hash, std::move(job))) {
            variant.writing = response.get();
            // Behind the write: whoever takes it meanwhile ends what was written before.
            if (const auto target = target_of_block(entry.uri))
                block_targets_.note(hash_of(*target));
            return;
        }
    } else {
        variant.offers = kMaxOffers;
    }
    if (std::exchange(variant.supersedes, false)) bury(in, entry);
}

void Store::written(summary::KeyHash hash, const StoredResponse* response, std::uint32_t sectors,
                    const DiskResult<DiskPlace>& where) {
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return;
    auto& entry = *it->second;
    const auto variant = std::ranges::find(entry.variants, response, &Variant::writing);
    if (variant == entry.variants.end()) return;  // it does not count any more
    variant->writing = nullptr;
    const auto supersedes = std::exchange(variant->supersedes, false);
    if (!where) {
        if (supersedes) bury(in, entry);
        return;
    }
    variant->place = *where;
    DiskEntry record;
    record.place = *where;
    record.sectors = sectors;
    record.proved = true;
    in.disk.insert(hash, record);
}

/// `renewed` has taken the place of `old`, with the same body and another head.
void Store::renew_on_disk(Shard& in, Entry& entry, const Variant& old, Variant& renewed) {
    if (!old.on_disk() && !old.writing) return;
    const auto stricter = is_stricter(*renewed.response, *old.response);
    const auto& body = *renewed.response->body;
    if (!stricter && (body.size() > kRewrittenBytes || body.on_disk())) {
        renewed.place = old.place;
        renewed.writing = old.writing;
        renewed.supersedes = old.supersedes;
        return;
    }
    erase_from_index(in, entry.hash, old);
    renewed.supersedes = true;
    write(in, entry, renewed);
}

// What the disk tells. Its threads hold no lock of theirs.

void Store::recovered(std::span<const RecoveredKey> batch) {
    std::array<std::vector<const RecoveredKey*>, kShards> of_shard;
    for (const auto& one : batch) {
        of_shard[shard_of(one.key)].push_back(&one);
        if (one.entry.type != RecordType::block) continue;
        will_hold_blocks();
        if (const auto target = target_of_block(one.entry.uri))
            block_targets_.note(hash_of(*target));
    }
    const auto wall = std::chrono::ceil<DiskTime::duration>(present(Clock::now()).wall);
    for (std::size_t i = 0; i < kShards; ++i) recovered(shards_[i], of_shard[i], wall);
}

void Store::recovered(Shard& in, std::span<const RecoveredKey* const> records, DiskTime wall) {
    constexpr std::size_t kAhead = 8;  // a line of memory takes as long as so many records
    const std::lock_guard lock(in.mutex);
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (i + kAhead < records.size()) in.disk.prefetch(records[i + kAhead]->key);
        const auto& one = *records[i];
        // What has been fetched or invalidated since the process began is newer.
        if (invalidated_.last(one.key) || any_noted_since(one.entry.tags, 0)) continue;
        const auto it = in.entries.find(one.key);
        const auto in_memory = it != in.entries.end() && !it->second->variants.empty();
        if (in_memory) continue;
        DiskEntry record;
        record.place = one.place;
        record.sectors = one.entry.sectors;
        record.doubtful = one.doubtful;
        const auto told = in.disk.announced(one.key);
        record.announced = told || (!one.doubtful && is_announceable(one.entry, wall));
        in.disk.insert(one.key, record);
        if (record.announced && !told) listener_(one.key, true);
    }
}

std::optional<unsigned> Store::uses(const FooterEntry& entry, DiskPlace place) {
    const auto hash = hash_of(entry.uri);
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto record = in.disk.find(hash, place);
    if (!record) return std::nullopt;
    // What memory answers is used, too.
    const auto it = in.entries.find(hash);
    return std::max(record->uses, it == in.entries.end() ? 0 : it->second->uses());
}

void Store::moved(const FooterEntry& entry, DiskPlace from, DiskPlace to) {
    const auto hash = hash_of(entry.uri);
    Dropped dropped;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto record = in.disk.find(hash, from);
    if (!record) return let_go(in, hash, from, dropped);
    record->place = to;
    record->uses = 0;  // it has to earn the next move
    record->proved = true;
    in.disk.replace(hash, from, *record);
    if (const auto it = in.entries.find(hash); it != in.entries.end())
        for (auto& variant : it->second->variants)
            if (variant.place == from) variant.place = to;
    let_go(in, hash, from, dropped);
}

void Store::dropped(const FooterEntry& entry, DiskPlace place) {
    const auto hash = hash_of(entry.uri);
    Dropped dropped;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    if (forget(in, hash, place)) ++in.disk_evictions;
    let_go(in, hash, place, dropped);
}

/// Whose keys are known to nobody now: those that were told of are taken back as peers ask for
/// them.
void Store::lost(const LostPlaces& places) {
    for (auto& in : shards_) {
        Dropped dropped;  // destroyed after the lock is gone
        std::vector<std::pair<summary::KeyHash, DiskPlace>> in_place;
        const std::lock_guard lock(in.mutex);
        in.disk.erase_if([&](const DiskEntry& record) {
            if (!places.has(record.place)) return false;
            if (record.announced) told_in_vain_ = true;
            return true;
        });
        for (auto& [hash, entry] : in.entries)
            for (auto& variant : entry->variants) {
                if (variant.on_disk() && places.has(variant.place)) variant.place = {};
                const auto& body = variant.response->body->on_disk();
                if (body && places.has(body->place())) in_place.emplace_back(hash, body->place());
            }
        for (const auto& [hash, place] : in_place) let_go(in, hash, place, dropped);
    }
}

}  // namespace proxy
