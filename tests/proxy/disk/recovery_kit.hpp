#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "proxy/disk/recovery.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {

/// The result of recover() without any other knowledge.
struct Found : RecoveryResult {
    std::vector<SegmentPtr> segments;  // oldest first
    std::uint64_t last_seq = 0;
};

inline DiskResult<Found> recover_all(DiskCalls& calls, const std::filesystem::path& directory,
                                     std::uint64_t directory_id,
                                     const std::function<void(const RecoveredKey&)>& take,
                                     unsigned threads = 3) {
    Found found;
    Tombstones tombstones;
    RecoveryHooks hooks;
    hooks.hash_of = hash_of;
    hooks.opened = [&](SegmentPtr segment) {
        found.segments.push_back(std::move(segment));
        return true;
    };
    const auto seen = [&](const FooterEntry& entry) {
        found.last_seq = std::max(found.last_seq, entry.seq);
    };
    hooks.tombstone = [&](const FooterEntry& entry) {
        seen(entry);
        tombstones.note(entry);
    };
    hooks.counts = [&](const FooterEntry& entry, summary::KeyHash key) {
        seen(entry);
        return !tombstones.cover(entry.seq, key, entry.tags);
    };
    hooks.recovered = [&](std::span<RecoveredKey> batch) {
        for (const auto& one : batch) take(one);
    };
    hooks.stopped = [] { return false; };
    const auto recovered = recover(calls, directory, directory_id, threads, hooks);
    if (!recovered) return recovered.error();
    static_cast<RecoveryResult&>(found) = *recovered;
    std::ranges::reverse(found.segments);
    return found;
}

}  // namespace proxy::test
