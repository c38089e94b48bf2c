// How what is on the disk comes back into the store's memory.
#include <algorithm>
#include <utility>

#include "proxy/disk/record_body.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/storage/stored_record.hpp"

namespace proxy {
namespace {

/// Is the record itself to blame? Else it can be read another time.
bool is_of_no_use(const boost::system::error_code& error) {
    return error != DiskError::ending && error != DiskError::other_key;
}

}  // namespace

struct Store::AtHand {
    summary::KeyHash hash;
    std::string_view uri;
    std::uint64_t invalidations = 0;  // so many there had been when the index was looked into
    DiskEntry entry;
};

Store::Recall Store::recall(summary::KeyHash hash, std::string_view uri,
                            const std::shared_ptr<Wakeup>& wakeup) {
    if (!disk_) return Recall::done;
    AtHand asked{hash, uri, 0, {}};
    std::vector<DiskEntry> records;
    auto& in = shard(hash);
    {
        const std::lock_guard lock(in.mutex);
        if (const auto under_way = in.recalls.find(hash); under_way != in.recalls.end()) {
            auto& waiting = under_way->second.waiting;
            if (waiting.size() >= kMaxRecallWaiters) return Recall::refused;
            waiting.push_back(wakeup);
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
        reserve(charge_for(asked.uri, *response) + (in_place ? in_place->memory_bytes() : 0), now);
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
    if (entry->holds(place)) return true;
    if (variants.size() >= max_variants_.load(std::memory_order_relaxed)) return false;
    // Where what varies has changed, the disk may have both: of those that memory has one may be
    // newer, or will be by its place there, and then no other goes.
    const auto same = [&](const Variant& v) { return is_same_variant(*v.response, *response); };
    const auto newer = std::ranges::any_of(variants, [&](const Variant& variant) {
        return same(variant) && (variant.writing != nullptr ||
                                 variant.response->arrival.wall >= response->arrival.wall);
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

}  // namespace proxy
