#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/wire/invalidation.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_shard.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Ends stored and pending responses before their time: by key, by tag, or all of them. Any thread.
/// All constructor arguments must outlive it.
///
/// An invalidation notes its key or tag first, so that older results are refused from then on. Then
/// it drops the entries, a shard at a time. With a disk, an invalidation of several shards ends
/// with a step under the locks of all shards. Without that step, a request could bring a record
/// into memory behind the sweep, and memory could write it behind the tombstone. The last step
/// drops such entries, queues the tombstone, and notes the key or tag once more: a record read
/// before the tombstone is then refused.
class Invalidations {
public:
    using Clock = std::chrono::steady_clock;

    /// `hasher`: of keys.
    Invalidations(StoreShards& shards, StoreDisk& disk, AnnouncementLedger& ledger,
                  const summary::KeyHasher& hasher)
        : shards_(shards), disk_(disk), ledger_(ledger), hasher_(hasher) {}

    /// Drops all variants of the key and refuses the results of present fetches. True if a variant
    /// was stored.
    bool invalidate(summary::KeyHash key, Clock::time_point now);
    /// The same for all keys and tags that it names, or for everything. Returns the number of
    /// target URIs that were stored; those of tags count in memory alone.
    std::size_t invalidate(const protocol::Invalidation& what, Clock::time_point now);

    /// Some entries are blocks of a body from now on. A block has the key of its target as a tag,
    /// so invalidate() of a target ends its blocks too.
    void note_blocks() { has_blocks_.store(true, std::memory_order_relaxed); }

    const InvalidationMemory& memory() const { return memory_; }

private:
    struct Ended;
    std::size_t invalidate_all(Clock::time_point now);
    std::size_t invalidate_tag(summary::KeyHash tag, Clock::time_point now);
    /// `tags` are those of the prefixes. Looks through all keys in memory.
    ///
    /// The locks of all shards are too dear for such a look. So a second look follows the
    /// tombstone: it ends each key that came from the disk behind the first one, with a tombstone
    /// of its own.
    std::size_t invalidate_prefixes(std::span<const summary::KeyHash> tags, Clock::time_point now);

    // The lock of `shard` is taken.
    bool drop_key(StoreShard& shard, summary::KeyHash key, Ended& ended);
    /// True if the index of the disk had a record of the key.
    bool drop_records(StoreShard& shard, summary::KeyHash key);
    void drop_tagged(StoreShard& shard, summary::KeyHash tag, Ended& ended);
    void drop_target(StoreShard& shard, summary::KeyHash key, Ended& ended);
    void drop_all(StoreShard& shard, Ended& ended);

    /// The targets in the shard, stored or pending, whose keys `is_below` selects.
    template <class IsBelow>
    static std::vector<summary::KeyHash> keys_below(StoreShard& shard, const IsBelow& is_below);

    void drop_tagged_in_turn(summary::KeyHash tag, Ended& ended);

    StoreShards& shards_;
    StoreDisk& disk_;
    AnnouncementLedger& ledger_;
    const summary::KeyHasher& hasher_;
    InvalidationMemory memory_;
    std::atomic<bool> has_blocks_{false};
};

}  // namespace proxy
