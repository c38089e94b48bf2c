#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/async/wakeup.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/memory_tier.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_shard.hpp"

namespace proxy {

/// A request that waits longer for a recall fetches instead.
inline constexpr std::chrono::seconds kRecallAtMost{1};

/// The way back from the disk: brings records into memory. Any thread; each call locks a shard
/// several times, briefly, and leaves the waiting for devices to the tier. All constructor
/// arguments must outlive it.
class ShelfReader {
public:
    enum class Recall : std::uint8_t {
        done,     // memory has all that the disk still had: look again
        waiting,  // the disk is reading; the wakeup is notified at the end
        refused,  // too many reads wait, or memory is full: treat it as a miss
    };

    ShelfReader(StoreShards& shards, StoreDisk& disk, MemoryTier& memory,
                AnnouncementLedger& ledger, const InvalidationMemory& invalidated)
        : shards_(shards),
          disk_(disk),
          memory_(memory),
          ledger_(ledger),
          invalidated_(invalidated) {}

    /// Brings the records of the key that memory lacks into memory. A large body stays on the disk,
    /// and Body::on_disk() names its place. Requires a disk.
    Recall recall(summary::KeyHash key, std::string_view uri,
                  const std::shared_ptr<base::Wakeup>& wakeup);

private:
    using Clock = std::chrono::steady_clock;
    using Loaded = DiskResult<LoadedRecord>;
    using Response = std::shared_ptr<StoredResponse>;

    struct RecordQuery {
        summary::KeyHash key;
        std::string_view uri;
        std::uint64_t invalidations = 0;  // the count when the index was read
        DiskEntry record;
    };
    /// Stores a record in memory, or forgets it. False if memory has no room for it.
    bool take(const RecordQuery& asked, Loaded loaded);
    /// Charges the response and gives it its body. False if memory has no room.
    bool charge(const RecordQuery& asked, LoadedRecord& loaded, StoredResponse& response);
    bool store(const RecordQuery& asked, Response response);
    void end_part(summary::KeyHash key);
    void forget(summary::KeyHash key, RecordLocation place);
    /// The body at this place is unreadable now.
    void spoilt(summary::KeyHash key, RecordLocation place);

    StoreShards& shards_;
    StoreDisk& disk_;
    MemoryTier& memory_;
    AnnouncementLedger& ledger_;
    const InvalidationMemory& invalidated_;
};

}  // namespace proxy
