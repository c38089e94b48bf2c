#include "proxy/storage/store_shard.hpp"

#include "proxy/disk/record_body.hpp"

namespace proxy {

bool StoreShard::forget(AnnouncementLedger& ledger, summary::KeyHash key, RecordLocation place) {
    const auto record = disk.index.find(key, place);
    if (!record) return false;
    disk.index.erase(key, place);
    auto* const entry = memory.find(key);
    if (entry)
        for (auto& variant : entry->variants)
            if (variant.disk.place == place) variant.disk.place = {};
    ledger.disk_loses(key, record->announced, entry != nullptr, disk.index);
    return true;
}

void StoreShard::let_go(AnnouncementLedger& ledger, summary::KeyHash key, RecordLocation place,
                        DroppedResponses& out) {
    auto* const entry = memory.find(key);
    if (!entry) return;
    const auto stands_there = [&](const MemoryShelf::Variant& variant) {
        const auto& body = variant.response->body->on_disk();
        return body && body->place() == place;
    };
    drop_if(ledger, *entry, stands_there, out);
}

}  // namespace proxy
