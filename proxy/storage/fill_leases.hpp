#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "proxy/http/selecting_fields.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/found_response.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/memory_tier.hpp"
#include "proxy/storage/shelf_writer.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_shard.hpp"

namespace proxy {

/// The way of fetched responses into the store. A fetch uses it through its FillLease, which gives
/// each function the key, the URI, its fill, its request, and the count of invalidations at its
/// look-up. Any thread; each call locks one shard. All constructor arguments must outlive it.
class FillLeases {
public:
    using Clock = std::chrono::steady_clock;

    FillLeases(StoreShards& shards, StoreDisk& disk, MemoryTier& memory, ShelfWriter& writer,
               AnnouncementLedger& ledger, const InvalidationMemory& invalidated)
        : shards_(shards),
          disk_(disk),
          memory_(memory),
          writer_(writer),
          ledger_(ledger),
          invalidated_(invalidated) {}

    struct LeaseResult {
        bool leads = false;           // others like it may wait for its fill now
        std::shared_ptr<Fill> other;  // otherwise the fill to wait for; null: a response was stored
                                      // since the look-up, so look again
    };
    /// Makes `fill` the one of its request class. A null fill always leads, and gets no followers.
    /// `uri` must stay valid until publish() or abandon().
    LeaseResult take(summary::KeyHash key, std::string_view uri, const FoundResponse& seen,
                     const std::shared_ptr<Fill>& fill, const SelectingFields& request);
    /// False if one of the tags was invalidated since the look-up.
    bool tag(summary::KeyHash key, const Fill* fill, std::uint64_t invalidations,
             std::span<const summary::KeyHash> tags);
    /// Stores a complete response in the place of the variant that it replaces. False if the key or
    /// a tag was invalidated since the look-up, or if its body has left the disk meanwhile.
    bool publish(summary::KeyHash key, std::string_view uri, const Fill* fill,
                 std::uint64_t invalidations, std::shared_ptr<const StoredResponse> response,
                 const SelectingFields& request, Clock::time_point now);
    /// Ends a claim unused. `unshareable`: so long the requests of this class fetch for themselves.
    void abandon(summary::KeyHash key, const Fill* fill, std::chrono::seconds unshareable,
                 const SelectingFields& request, Clock::time_point now);
    /// `request` brings `response`, which every client may have: its class shares fetches again.
    void refute_unshareable(summary::KeyHash key, const SelectingFields& request,
                            const StoredResponse& response);

    /// See Store::replace().
    enum class Replaced : std::uint8_t { done, gone, invalidated };
    Replaced replace(summary::KeyHash key, const StoredResponse* old,
                     std::shared_ptr<const StoredResponse> response, Clock::time_point asked,
                     Clock::time_point now);

private:
    /// The variants that made room for a new one.
    struct Predecessors {
        std::optional<MemoryShelf::Variant> validated;  // it has the same body: a 304 came
        bool on_disk = false;                           // another has a record, or will have
        std::uint8_t uses = 0;
    };
    /// `request`: selects `response`. A variant that it has selected so far goes as well.
    Predecessors make_place(StoreShard& shard, MemoryShelf::Entry& entry,
                            const StoredResponse& response, const SelectingFields& request,
                            DroppedResponses& out);
    /// True if the disk's records of the entry were given up with it.
    bool displace_one(StoreShard& shard, MemoryShelf::Entry& entry, DroppedResponses& out);
    void to_disk(StoreShard& shard, MemoryShelf::Entry& entry, const Predecessors& before);
    /// After a variant was added: announces it if it is announceable, and weighs the entry.
    void settle(StoreShard& shard, MemoryShelf::Entry& entry, Clock::time_point now);

    StoreShards& shards_;
    StoreDisk& disk_;
    MemoryTier& memory_;
    ShelfWriter& writer_;
    AnnouncementLedger& ledger_;
    const InvalidationMemory& invalidated_;
};

}  // namespace proxy
