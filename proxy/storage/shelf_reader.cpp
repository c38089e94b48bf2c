#include "proxy/storage/shelf_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "proxy/disk/record_body.hpp"
#include "proxy/storage/stored_record.hpp"

namespace proxy {
namespace {

/// The record itself is to blame. After other errors it can be read another time.
bool is_useless(const boost::system::error_code& error) {
    return error != DiskError::ending && error != DiskError::other_key;
}

}  // namespace

ShelfReader::Recall ShelfReader::recall(summary::KeyHash key, std::string_view uri,
                                        const std::shared_ptr<base::Wakeup>& wakeup) {
    RecordQuery asked{key, uri, 0, {}};
    std::vector<DiskEntry> records;
    auto& in = shards_.of(key);
    {
        const std::lock_guard lock(in.mutex);
        const auto join = in.disk.join_recall(key, wakeup);
        if (join != DiskShelf::Join::idle)
            return join == DiskShelf::Join::joined ? Recall::waiting : Recall::refused;
        asked.invalidations = invalidated_.invalidations();
        records = in.disk.lacking(key, in.memory.find(key));
    }
    auto& tier = *disk_.tier();
    auto all = true;
    std::erase_if(records, [&](const DiskEntry& record) {
        auto loaded = tier.read_now({record.place, record.sectors, record.proved}, uri);
        if (!loaded) return false;
        asked.record = record;
        all = take(asked, std::move(*loaded)) && all;
        return true;
    });
    if (records.empty()) return all ? Recall::done : Recall::refused;
    {
        const std::lock_guard lock(in.mutex);
        if (!in.disk.begin_recall(key, records.size() + 1, wakeup)) return Recall::waiting;
    }
    auto reading = false;
    for (const auto& record : records) {
        auto answer = [this, key, invalidations = asked.invalidations, record,
                       uri = std::string(uri)](Loaded loaded) {
            take({key, uri, invalidations, record}, std::move(loaded));
            end_part(key);
        };
        const DiskReader::RecordRequest wanted{record.place, record.sectors, record.proved};
        if (tier.read(wanted, std::string(uri), std::move(answer)))
            reading = true;
        else
            end_part(key);
    }
    end_part(key);  // the part that stands for this loop
    return reading ? Recall::waiting : Recall::refused;
}

void ShelfReader::end_part(summary::KeyHash key) {
    DiskShelf::Waiting waiting;
    {
        auto& in = shards_.of(key);
        const std::lock_guard lock(in.mutex);
        waiting = in.disk.end_part(key);
    }
    for (const auto& wakeup : waiting) wakeup->notify();
}

void ShelfReader::forget(summary::KeyHash key, RecordLocation place) {
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    in.forget(ledger_, key, place);
}

bool ShelfReader::take(const RecordQuery& asked, Loaded loaded) {
    Response response;
    if (loaded) response = response_of(*loaded, disk_.present(Clock::now()), asked.record.doubtful);
    if (!response) {
        if (loaded || is_useless(loaded.error())) forget(asked.key, asked.record.place);
        return true;
    }
    return charge(asked, *loaded, *response) && store(asked, std::move(response));
}

bool ShelfReader::charge(const RecordQuery& asked, LoadedRecord& loaded, StoredResponse& response) {
    const auto now = Clock::now();
    const auto& in_place = loaded.in_place;
    const auto body = in_place ? std::string_view() : as_text(loaded.body);
    auto for_head = memory_.reserve(
        MemoryTier::charge_for(asked.uri, response) + (in_place ? in_place->memory_bytes() : 0),
        now);
    auto for_body = memory_.reserve(body.size(), now);
    if (!for_head || !for_body) return false;
    response.charge = std::move(*for_head);
    if (in_place) {
        in_place->when_spoilt(
            [this, key = asked.key](const RecordBody& what) { spoilt(key, what.place()); });
        response.body = std::make_shared<Body>(in_place);
    } else if (!body.empty()) {
        response.body->add_block(body.size(), std::move(*for_body));
        response.body->append(body);
    }
    return true;
}

bool ShelfReader::store(const RecordQuery& asked, Response response) {
    const auto key = asked.key;
    const auto place = asked.record.place;
    DroppedResponses dropped;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    if (invalidated_.noted_since(key, asked.invalidations) ||
        invalidated_.prefix_noted_since(asked.uri, asked.invalidations) ||
        invalidated_.any_noted_since(response->tags, asked.invalidations)) {
        in.forget(ledger_, key, place);
        return true;
    }
    auto record = in.disk.index.find(key, place);
    if (!record) return true;
    auto* entry = in.memory.find(key);
    const auto is_new = entry == nullptr;
    if (entry) {
        if (entry->uri != asked.uri || entry->has_record_at(place)) return true;
        if (entry->variants.size() >= memory_.max_variants()) return false;
        // After a change of Vary the disk may have records of both kinds. The newer one wins, also
        // when its record comes first or is still being written.
        const auto same = [&](const MemoryShelf::Variant& variant) {
            return is_same_variant(*variant.response, *response);
        };
        const auto is_newer = [&](const MemoryShelf::Variant& variant) {
            return same(variant) && (variant.disk.writing != nullptr ||
                                     variant.response->arrival.wall >= response->arrival.wall);
        };
        if (std::ranges::any_of(entry->variants, is_newer)) {
            in.disk.index.erase(key, place);
            return true;
        }
        entry->erase_if([&](MemoryShelf::Variant& variant) {
            if (!same(variant)) return false;
            in.disk.erase_record(key, variant.disk);
            dropped.push_back(std::move(variant.response));
            return true;
        });
    } else {
        entry = in.memory.entry_for(key, asked.uri);
    }
    record->used();
    record->proved = true;
    in.disk.index.replace(key, place, *record);
    if (is_new) AnnouncementLedger::memory_begins(key, entry->announced, in.disk.index);
    const auto later = std::ranges::find_if(entry->variants, [&](const auto& variant) {
        return variant.response->arrival.wall > response->arrival.wall;
    });
    entry->variants.emplace(later, std::move(response))->disk.place = place;
    in.memory.weigh(*entry);
    ++in.disk.recalled;
    return true;
}

void ShelfReader::spoilt(summary::KeyHash key, RecordLocation place) {
    DroppedResponses dropped;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    in.forget(ledger_, key, place);
    in.let_go(ledger_, key, place, dropped);
}

}  // namespace proxy
