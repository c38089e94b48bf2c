#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "protocol/wire/invalidation.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/fill_leases.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/memory_tier.hpp"
#include "proxy/storage/store_shard.hpp"
#include "proxy/storage/stored_response.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// A purge that makes responses stale in place of ending them. The constructor takes the responses
/// in memory that the order names; the caller then ends everything that it names, as for any purge;
/// and put_back() stores the taken ones again, stale from `now` on. So each other result, older
/// copies of peers and records on the disk, is refused as after a purge, and what stays needs a
/// validation.
///
/// Bodies in blocks and bodies that stand on a disk alone are not taken: they end. Any thread; each
/// call locks one shard at a time. The store must outlive it.
class SoftPurge {
public:
    using Clock = std::chrono::steady_clock;

    /// Looks through all entries in memory if the order names tags. `hasher`: of keys.
    SoftPurge(StoreShards& shards, const protocol::Invalidation& what,
              const summary::KeyHasher& hasher);

    /// Responses of keys that were fetched again meanwhile stay out. A response without room stays
    /// out, too. A key that was announced is announced again, so that peers tell of its renewal.
    void put_back(StoreShards& shards, MemoryTier& memory, FillLeases& leases,
                  AnnouncementLedger& ledger, const InvalidationMemory& invalidated,
                  Clock::time_point now);

private:
    struct PurgedEntry {
        summary::KeyHash key;
        std::string uri;
        bool announced = false;
        std::vector<std::shared_ptr<const StoredResponse>> variants;  // newest last
    };
    std::vector<PurgedEntry> taken_;
};

/// The response, stale from `now` on. It keeps the windows in which it may be given stale.
std::shared_ptr<StoredResponse> made_stale(const StoredResponse& stored, Arrival::Steady now);

}  // namespace proxy
