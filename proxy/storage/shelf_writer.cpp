#include "proxy/storage/shelf_writer.hpp"

#include <algorithm>
#include <utility>

#include "proxy/storage/blocks.hpp"
#include "proxy/storage/stored_record.hpp"

namespace proxy {
namespace {

/// The end of the time for which the response may be used without validation.
Arrival::Steady fresh_until(const StoredResponse& response) {
    if (response.freshness.always_validate) return Arrival::Steady::min();
    return response.arrival.steady + time_to_live(response.freshness, std::chrono::seconds(0));
}

/// Date, Expires and Age are whole seconds, so two statements of one end may differ by this.
constexpr std::chrono::seconds kRounding{2};

bool has_more_tags(const StoredResponse& now, const StoredResponse& before) {
    auto had = before.tags;
    std::ranges::sort(had, precedes);
    return !std::ranges::all_of(
        now.tags, [&](const auto& tag) { return std::ranges::binary_search(had, tag, precedes); });
}

/// `now` may be used in fewer cases than `before`, or more purges end it.
bool is_stricter(const StoredResponse& now, const StoredResponse& before) {
    return has_more_tags(now, before) || fresh_until(now) + kRounding < fresh_until(before) ||
           (now.freshness.never_stale && !before.freshness.never_stale) ||
           now.freshness.stale_while_revalidate < before.freshness.stale_while_revalidate ||
           now.freshness.stale_if_error < before.freshness.stale_if_error;
}

}  // namespace

bool ShelfWriter::supersede(StoreShard& in, MemoryShelf::Entry& entry) {
    const auto older = in.disk.lacking(entry.hash, &entry);
    for (const auto& record : older) in.disk.index.erase(entry.hash, record.place);
    return !older.empty() || disk_.loading();
}

void ShelfWriter::admit(StoreShard& in, MemoryShelf::Entry& entry, MemoryShelf::Variant& variant) {
    const auto has_room = disk_.tier()->has_room(entry.hash);
    const auto admitted =
        in.disk.second_request->admits(entry.hash, has_room, in.disk.index.size());
    if (admitted || admission_.load(std::memory_order_relaxed) == DiskAdmission::always) {
        write(in, entry, variant);
        return;
    }
    ++in.disk.declined;
    if (std::exchange(variant.disk.supersedes, false)) bury(in, entry);
}

void ShelfWriter::write(StoreShard& in, MemoryShelf::Entry& entry, MemoryShelf::Variant& variant) {
    ++variant.disk.offers;
    if (push(entry, variant)) return;
    if (std::exchange(variant.disk.supersedes, false)) bury(in, entry);
}

bool ShelfWriter::push(MemoryShelf::Entry& entry, MemoryShelf::Variant& variant) {
    const auto& response = variant.response;
    if (!may_be_written(*response)) {
        variant.disk.offers = kMaxOffers;
        return false;
    }
    auto job = write_of(response, entry.uri);
    const auto sizes = sizes_of(job.record);
    const auto sectors =
        sizes ? static_cast<std::uint32_t>(sizes->total() / kDiskSector) : std::uint32_t{0};
    job.done = [this, key = entry.hash, what = response.get(), sectors](const auto& where) {
        written(key, what, sectors, where);
    };
    if (sectors == 0 || disk_.closing() || !disk_.tier()->write(entry.hash, std::move(job)))
        return false;
    variant.disk.writing = response.get();
    // Noted after the write: an invalidation that takes the note ends records queued before it.
    if (const auto target = target_of_block(entry.uri))
        disk_.block_targets.note(disk_.hash_of(*target));
    return true;
}

void ShelfWriter::written(summary::KeyHash key, const StoredResponse* response,
                          std::uint32_t sectors, const DiskResult<RecordLocation>& where) {
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    auto* const entry = in.memory.find(key);
    if (!entry) return;
    const auto variant = std::ranges::find_if(
        entry->variants, [&](const auto& one) { return one.disk.writing == response; });
    if (variant == entry->variants.end()) return;  // the record counts no longer
    auto& copy = variant->disk;
    copy.writing = nullptr;
    const auto supersedes = std::exchange(copy.supersedes, false);
    if (!where) {
        if (supersedes) bury(in, *entry);
        return;
    }
    copy.place = *where;
    DiskEntry record;
    record.place = *where;
    record.sectors = sectors;
    record.proved = true;
    in.disk.index.insert(key, record);
}

void ShelfWriter::renew(StoreShard& in, MemoryShelf::Entry& entry, const MemoryShelf::Variant& old,
                        MemoryShelf::Variant& renewed) {
    if (!old.disk.is_stored() && !old.disk.writing) return;
    const auto stricter = is_stricter(*renewed.response, *old.response);
    const auto& body = *renewed.response->body;
    if (!stricter && (body.size() > kRewrittenBytes || body.on_disk())) {
        renewed.disk.place = old.disk.place;
        renewed.disk.writing = old.disk.writing;
        renewed.disk.supersedes = old.disk.supersedes;
        return;
    }
    in.disk.erase_record(entry.hash, old.disk);
    renewed.disk.supersedes = true;
    write(in, entry, renewed);
}

void ShelfWriter::bury(StoreShard& in, MemoryShelf::Entry& entry) {
    in.disk.erase_records(entry.hash, &entry);
    disk_.end(entry.hash);
}

}  // namespace proxy
