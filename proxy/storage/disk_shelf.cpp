#include "proxy/storage/disk_shelf.hpp"

#include <utility>

#include "proxy/disk/record_body.hpp"

namespace proxy {

bool DiskShelf::has_more(summary::KeyHash key, const MemoryShelf::Entry* entry) const {
    auto more = false;
    index.for_each(key, [&](const DiskEntry& record) {
        more = more || !entry || !entry->has_record_at(record.place);
    });
    return more;
}

std::vector<DiskEntry> DiskShelf::lacking(summary::KeyHash key,
                                          const MemoryShelf::Entry* entry) const {
    std::vector<DiskEntry> records;
    index.for_each(key, [&](const DiskEntry& record) {
        if (!entry || !entry->has_record_at(record.place)) records.push_back(record);
    });
    return records;
}

bool DiskShelf::has_lost_body(summary::KeyHash key, const StoredResponse& response) const {
    const auto& body = response.body->on_disk();
    return body && !index.find(key, body->place());
}

std::size_t DiskShelf::erase_records(summary::KeyHash key, MemoryShelf::Entry* entry) {
    if (entry)
        for (auto& variant : entry->variants)
            variant.disk.place = {}, variant.disk.writing = nullptr;
    return index.erase_all(key);
}

DiskShelf::Join DiskShelf::join_recall(summary::KeyHash key,
                                       const std::shared_ptr<base::Wakeup>& wakeup) {
    const auto under_way = recalls_.find(key);
    if (under_way == recalls_.end()) return Join::idle;
    auto& waiting = under_way->second.waiting;
    if (waiting.size() >= kMaxWaiting) return Join::refused;
    waiting.push_back(wakeup);
    return Join::joined;
}

bool DiskShelf::begin_recall(summary::KeyHash key, std::size_t parts,
                             const std::shared_ptr<base::Wakeup>& wakeup) {
    const auto [recall, is_first] = recalls_.try_emplace(key);
    recall->second.waiting.push_back(wakeup);
    if (is_first) recall->second.pending = parts;
    return is_first;
}

DiskShelf::Waiting DiskShelf::end_part(summary::KeyHash key) {
    const auto under_way = recalls_.find(key);
    if (under_way == recalls_.end() || --under_way->second.pending > 0) return {};
    auto waiting = std::move(under_way->second.waiting);
    recalls_.erase(under_way);
    return waiting;
}

}  // namespace proxy
