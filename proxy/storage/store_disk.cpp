// The half of the store that has to do with the disk: what goes there, what comes back, and who is
// told of what. The other half stands in store.cpp.
#include <algorithm>
#include <utility>

#include "proxy/disk/record_body.hpp"
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

/// May it be used in fewer cases than before?
bool is_stricter(const StoredResponse& now, const StoredResponse& before) {
    return fresh_until(now) < fresh_until(before) ||
           (now.freshness.never_stale && !before.freshness.never_stale) ||
           now.freshness.stale_while_revalidate < before.freshness.stale_while_revalidate ||
           now.freshness.stale_if_error < before.freshness.stale_if_error;
}

/// Is the record itself to blame? Else it can be read another time.
bool is_of_no_use(const boost::system::error_code& error) {
    return error != DiskError::ending && error != DiskError::other_key;
}

/// Has memory what is written there? `Entry`: a Store's.
template <class Entry>
bool holds(const Entry& entry, DiskPlace place) {
    return std::ranges::any_of(entry.variants, [&](const auto& v) { return v.place == place; });
}

}  // namespace

struct Store::AtHand {
    summary::KeyHash hash;
    std::string_view uri;
    std::uint64_t invalidations = 0;  // so many there had been when the index was looked into
    DiskEntry entry;
};

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
        more = more || !entry || !holds(*entry, record.place);
    });
    return more;
}

std::vector<DiskEntry> Store::lacking(const Shard& in, summary::KeyHash hash) {
    std::vector<DiskEntry> records;
    const auto it = in.entries.find(hash);
    in.disk.for_each(hash, [&](const DiskEntry& record) {
        if (it == in.entries.end() || !holds(*it->second, record.place)) records.push_back(record);
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

/// What the disk has of the key counts no longer, and is not to come back. True if there was
/// something.
bool Store::drop_from_disk(Shard& in, summary::KeyHash hash) {
    const auto announced = in.disk.announced(hash);
    const auto had = in.disk.erase_all(hash) > 0;
    auto writing = false, in_memory = false;
    if (const auto it = in.entries.find(hash); it != in.entries.end()) {
        auto& variants = it->second->variants;
        in_memory = !variants.empty();
        writing = std::ranges::any_of(variants, [](const auto& v) { return v.writing; });
        for (auto& variant : variants) variant.place = {}, variant.writing = nullptr;
    }
    if (announced && !in_memory) listener_(hash, false);
    const auto has_blocks = block_targets_.may_have(hash);
    if (has_blocks) block_targets_.erase(hash);
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
    in.disk.erase_all(entry.hash);
    for (auto& variant : entry.variants) variant.place = {}, variant.writing = nullptr;
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
        if (const auto target = target_of_block(entry.uri)) block_targets_.note(hash_of(*target));
        auto job = write_of(response, entry.uri);
        const auto sizes = sizes_of(job.record);
        const auto sectors =
            sizes ? static_cast<std::uint32_t>(sizes->total() / kDiskSector) : std::uint32_t{0};
        job.done = [this, hash = entry.hash, what = response.get(), sectors](const auto& where) {
            written(hash, what, sectors, where);
        };
        if (sectors > 0 && !closing_ && disk_->write(entry.hash, std::move(job))) {
            variant.writing = response.get();
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

// The way back.

Store::Recall Store::recall(summary::KeyHash hash, std::string_view uri,
                            const std::shared_ptr<Wakeup>& wakeup) {
    if (!disk_) return Recall::done;
    AtHand asked{hash, uri, 0, {}};
    std::vector<DiskEntry> records;
    auto& in = shard(hash);
    {
        const std::lock_guard lock(in.mutex);
        if (const auto under_way = in.recalls.find(hash); under_way != in.recalls.end()) {
            under_way->second.waiting.push_back(wakeup);
            return Recall::waiting;
        }
        asked.invalidations = invalidated_.invalidations();
        records = lacking(in, hash);
    }
    auto all = true;
    std::erase_if(records, [&](const DiskEntry& record) {
        auto loaded = disk_->read_now({record.place, record.sectors, record.proved}, uri);
        if (!loaded) return false;
        asked.entry = record;
        all = take_back(asked, std::move(*loaded)) && all;
        return true;
    });
    if (records.empty()) return all ? Recall::done : Recall::refused;
    {
        const std::lock_guard lock(in.mutex);
        const auto [under_way, is_first] = in.recalls.try_emplace(hash);
        under_way->second.waiting.push_back(wakeup);
        if (!is_first) return Recall::waiting;
        under_way->second.pending = records.size() + 1;
    }
    auto reading = false;
    for (const auto& record : records) {
        auto answer = [this, hash, invalidations = asked.invalidations, record,
                       uri = std::string(uri)](Loaded loaded) {
            take_back({hash, uri, invalidations, record}, std::move(loaded));
            recalled(hash);
        };
        const DiskReader::Wanted wanted{record.place, record.sectors, record.proved};
        if (disk_->read(wanted, std::string(uri), std::move(answer)))
            reading = true;
        else
            recalled(hash);
    }
    recalled(hash);  // all have been asked for
    return reading ? Recall::waiting : Recall::refused;
}

/// One of those that were asked for is done with.
void Store::recalled(summary::KeyHash hash) {
    std::vector<std::shared_ptr<Wakeup>> waiting;
    auto& in = shard(hash);
    {
        const std::lock_guard lock(in.mutex);
        const auto under_way = in.recalls.find(hash);
        if (under_way == in.recalls.end() || --under_way->second.pending > 0) return;
        waiting = std::move(under_way->second.waiting);
        in.recalls.erase(under_way);
    }
    for (const auto& wakeup : waiting) wakeup->notify();
}

/// False when there is no room for it in memory.
bool Store::take_back(const AtHand& asked, Loaded loaded) {
    const auto now = Clock::now();
    const auto place = asked.entry.place;
    auto& in = shard(asked.hash);
    std::shared_ptr<StoredResponse> response;
    if (loaded) response = response_of(*loaded, present(now), asked.entry.doubtful);
    if (!response) {
        if (!loaded && !is_of_no_use(loaded.error())) return true;
        const std::lock_guard lock(in.mutex);
        forget(in, asked.hash, place);
        return true;
    }
    const auto& in_place = loaded->in_place;
    const auto body = in_place ? std::string_view() : as_text(loaded->body);
    auto for_head =
        reserve(response->head.size() + overhead_bytes(asked.uri, response->tags.size()) +
                    (in_place ? in_place->memory_bytes() : 0),
                now);
    auto for_body = reserve(body.size(), now);
    if (!for_head || !for_body) return false;
    response->charge = std::move(*for_head);
    if (in_place) {
        in_place->when_spoilt(
            [this, hash = asked.hash](const RecordBody& what) { spoilt(hash, what.place()); });
        response->body = std::make_shared<Body>(in_place);
    } else if (!body.empty()) {
        response->body->add_block(body.size(), std::move(*for_body));
        response->body->append(body);
    }

    Dropped dropped;  // destroyed after the lock is gone
    const std::lock_guard lock(in.mutex);
    if (invalidated_.noted_since(asked.hash, asked.invalidations) ||
        any_noted_since(response->tags, asked.invalidations)) {
        forget(in, asked.hash, place);
        return true;
    }
    auto record = in.disk.find(asked.hash, place);
    if (!record) return true;
    auto* entry = entry_for(in, asked.hash, asked.uri);
    if (!entry) return true;
    auto& variants = entry->variants;
    if (holds(*entry, place)) return true;
    if (variants.size() >= kMaxVariants) return false;
    // Where what varies has changed, the disk may have both: of those that memory has one may be
    // newer, and then no other goes.
    const auto same = [&](const Variant& v) { return is_same_variant(*v.response, *response); };
    const auto newer = std::ranges::any_of(variants, [&](const Variant& variant) {
        return same(variant) && variant.response->arrival.wall >= response->arrival.wall;
    });
    if (newer) {
        in.disk.erase(asked.hash, place);
        return true;
    }
    const auto had = variants.size();
    std::erase_if(variants, [&](Variant& variant) {
        if (!same(variant)) return false;
        erase_from_index(in, asked.hash, variant);
        dropped.push_back(std::move(variant.response));
        return true;
    });
    if (had > 0 && variants.empty()) --in.objects;  // until adopt()
    record->used();
    record->proved = true;
    in.disk.replace(asked.hash, place, *record);
    if (variants.empty()) adopt(in, *entry);
    const auto later = std::ranges::find_if(variants, [&](const Variant& variant) {
        return variant.response->arrival.wall > response->arrival.wall;
    });
    variants.emplace(later, std::move(response))->place = place;
    weigh(in, *entry);
    ++in.recalled;
    return true;
}

/// A body that is left there cannot be read any more.
void Store::spoilt(summary::KeyHash hash, DiskPlace place) {
    Dropped dropped;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    forget(in, hash, place);
    let_go(in, hash, place, dropped);
}

/// Memory holds nothing whose body stands there any more: who sends it goes on, and nobody else
/// keeps the file from being given back.
void Store::let_go(Shard& in, summary::KeyHash hash, DiskPlace place, Dropped& out) {
    const auto it = in.entries.find(hash);
    if (it == in.entries.end()) return;
    auto& entry = *it->second;
    const auto stands_there = [&](const Variant& variant) {
        const auto& body = variant.response->body->on_disk();
        return body && body->place() == place;
    };
    if (drop_if(in, entry, stands_there, out)) erase_if_empty(in, entry);
}

// What the disk tells. Its threads hold no lock of theirs.

void Store::recovered(std::span<const RecoveredKey> batch) {
    const auto now = Clock::now();
    const auto wall = std::chrono::ceil<DiskTime::duration>(present(now).wall);
    for (const auto& one : batch) {
        if (one.entry.type == RecordType::block) {
            will_hold_blocks();
            if (const auto target = target_of_block(one.entry.uri))
                block_targets_.note(hash_of(*target));
        }
        auto& in = shard(one.key);
        const std::lock_guard lock(in.mutex);
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
