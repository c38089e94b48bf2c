#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/disk_shelf.hpp"
#include "proxy/storage/memory_shelf.hpp"
#include "proxy/storage/pending_responses.hpp"
#include "proxy/storage/shards.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// One of the kShards parts of the store: a lock and the state that it guards. The functions here
/// keep the parts in agreement; their callers have the lock.
///
/// **Lock order of the store.**
/// 1. The mutex of one shard. A thread that has one takes no other. Only the last step of an
///    invalidation takes all of them, in ascending order (StoreShards::lock_all()).
/// 2. Under it, for a moment and one at a time: the mutex of InvalidationMemory, of BlockTargets,
///    of a Fill, of the queue to the disk, and of the queue behind NodeEvents. The two queues are
///    used under the shard's lock because both rely on the order of changes to a key. Neither
///    waits for a device or calls the store.
///
/// Under a shard's lock no thread waits for a device, notifies a request, or destroys a response.
struct alignas(64) StoreShard {
    mutable std::mutex mutex;
    MemoryShelf memory;
    PendingResponses pending;
    DiskShelf disk;

    /// Moves the variants that `goes` selects to `out`. An entry that is empty then is erased.
    template <class Goes>
    void drop_if(AnnouncementLedger& ledger, MemoryShelf::Entry& entry, Goes goes,
                 DroppedResponses& out) {
        if (!memory.drop_if(entry, goes, out) || !entry.variants.empty()) return;
        ledger.memory_ends(entry.hash, entry.announced, disk.index);
        memory.erase(entry);
    }
    /// Drops the entry from memory.
    void drop(AnnouncementLedger& ledger, MemoryShelf::Entry& entry, DroppedResponses& out) {
        drop_if(
            ledger, entry, [](const auto&) { return true; }, out);
    }
    /// Forgets a record that is gone or outdated. False if it was unknown.
    bool forget(AnnouncementLedger& ledger, summary::KeyHash key, RecordLocation place);
    /// Drops the responses whose bodies stand at this place. Present readers go on; as soon as they
    /// are done, the file can be removed.
    void let_go(AnnouncementLedger& ledger, summary::KeyHash key, RecordLocation place,
                DroppedResponses& out);
};

/// All shards of a store.
class StoreShards {
public:
    StoreShard& of(summary::KeyHash key) { return shards_[shard_of(key)]; }
    const StoreShard& of(summary::KeyHash key) const { return shards_[shard_of(key)]; }
    StoreShard& operator[](std::size_t i) { return shards_[i]; }
    auto begin() { return shards_.begin(); }
    auto end() { return shards_.end(); }
    auto begin() const { return shards_.begin(); }
    auto end() const { return shards_.end(); }

    std::array<std::unique_lock<std::mutex>, kShards> lock_all() {
        std::array<std::unique_lock<std::mutex>, kShards> locks;
        for (std::size_t i = 0; i < kShards; ++i) locks[i] = std::unique_lock(shards_[i].mutex);
        return locks;
    }

private:
    std::array<StoreShard, kShards> shards_;
};

}  // namespace proxy
