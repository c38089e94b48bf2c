#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "proxy/config/config.hpp"
#include "proxy/disk/disk_tier.hpp"
#include "proxy/http/selecting_fields.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/fill_leases.hpp"
#include "proxy/storage/found_response.hpp"
#include "proxy/storage/invalidations.hpp"
#include "proxy/storage/memory_tier.hpp"
#include "proxy/storage/node_events.hpp"
#include "proxy/storage/shelf_keeper.hpp"
#include "proxy/storage/shelf_reader.hpp"
#include "proxy/storage/shelf_writer.hpp"
#include "proxy/storage/soft_purge.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_disk_status.hpp"
#include "proxy/storage/store_shard.hpp"
#include "proxy/storage/stored_response.hpp"
#include "summary/sizing/key.hpp"

namespace proxy {

/// The stored responses of a node, for all its workers: in memory, and on a disk if it has one.
///
/// Threads: any; each call locks one shard briefly, but an invalidation by tag visits all shards.
/// Only use_disk() and close_disk() wait for a disk. store_shard.hpp has the order of locks.
///
/// A caller sees one store. A published response goes to the disk at once if the disk admits it,
/// and it stays there after its eviction from memory. Every response is served by way of memory:
/// find() says that the disk has a response for the URI, and recall() brings it.
///
/// The store composes these parts:
/// - MemoryTier and MemoryShelf have the responses in memory, their cap and their eviction.
/// - PendingResponses has the fetches in progress, their request classes, and hit-for-miss.
/// - DiskShelf has the places of the records of one shard. ShelfWriter queues records for the disk,
///   ShelfReader brings them back, and ShelfKeeper receives the reports of the disk tier.
/// - AnnouncementLedger announces keys to peers and withdraws them.
/// - Invalidations ends responses by key, by tag, or all of them.
/// - Claims takes the results of fetches.
class Store {
public:
    using Clock = std::chrono::steady_clock;

    /// `hasher` hashes the keys. It and `events` outlive the store.
    Store(std::uint64_t memory_cap_bytes, const summary::KeyHasher& hasher, NodeEvents& events)
        : budget_(memory_cap_bytes), hasher_(hasher), ledger_(events) {}
    ~Store() { disk_.close(); }
    /// Leaves what is in memory to the end of the process, because freeing it takes 1,340
    /// instructions for each object. The last call; one thread.
    void leave_memory() {
        for (auto& in : shards_) in.memory.leave();
    }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    struct DiskUse {
        DiskTier::Config tier;
        DiskAdmission admission = DiskAdmission::second_request;
        std::uint64_t remembered = 1 << 20;  // keys that were missed once, at least
    };
    /// Adds a disk, whose content is read in the background. To be called once, before anything is
    /// stored. Throws as DiskTier does.
    void use_disk(DiskCalls& calls, DiskUse use);
    /// Writes the queued records. The last call; afterwards the disk yields nothing.
    void close_disk() { disk_.close(); }
    void set_admission(DiskAdmission admission) { writer_.set_admission(admission); }
    /// See MemoryTier::favour().
    void favour(Favour what) { memory_.favour(what); }
    /// See MemoryTier::max_variants().
    void set_max_variants(std::size_t most) { memory_.set_max_variants(most); }
    /// Null for a store in memory alone.
    DiskTier* disk() { return disk_.tier(); }

    using Found = FoundResponse;
    /// Counts as a use, which keeps the object. The request may be a client's or a peer's.
    /// Does not wait: a response in progress is found as a fill, whose readers get notices as it
    /// grows. One that only the disk may have is Found::on_disk; after recall() the caller looks
    /// again.
    Found find(summary::KeyHash hash, std::string_view uri, const SelectingFields& request,
               Clock::time_point now);
    using Recall = ShelfReader::Recall;
    /// Brings the responses of the URI that only the disk has into memory.
    Recall recall(summary::KeyHash hash, std::string_view uri,
                  const std::shared_ptr<base::Wakeup>& wakeup) {
        return disk_.tier() ? reader_.recall(hash, uri, wakeup) : Recall::done;
    }
    enum class StoredAt : std::uint8_t {
        nowhere,
        memory,  // stored, or still arriving
        disk,    // possibly: a record shows its variant when it is read
    };
    /// The number of variants of the URI in memory. No use counts.
    std::size_t variants(summary::KeyHash hash, std::string_view uri);
    /// The place that find() would give a response or a fill from. It leaves the use counts alone,
    /// and the response may be gone by the time of the find().
    StoredAt peek(summary::KeyHash hash, std::string_view uri, const SelectingFields& request);

    /// `done`; `gone`: `old` has left; `invalidated`: its key, or a tag of `response`, was
    /// invalidated since `asked`.
    using Replaced = FillLeases::Replaced;
    /// Puts `response`, which selects as `old` does, in the place of `old`. `asked` is a time
    /// before the request for the content of `response`.
    Replaced replace(summary::KeyHash hash, const StoredResponse* old,
                     std::shared_ptr<const StoredResponse> response, Clock::time_point asked,
                     Clock::time_point now) {
        return leases_.replace(hash, old, std::move(response), asked, now);
    }
    /// For FillLease.
    FillLeases& leases() { return leases_; }

    /// See Invalidations.
    bool invalidate(summary::KeyHash key, Clock::time_point now) {
        return invalidations_.invalidate(key, now);
    }
    /// After a soft invalidation, responses in memory that can be validated stay, as stale ones.
    std::size_t invalidate(const protocol::Invalidation& what, Clock::time_point now);
    /// Calls `kept` once the disk has noted all earlier invalidations, so that they survive this
    /// process. At once without a disk, and never if no directory could note them.
    void when_kept(std::function<void()> kept);
    void expect_blocks() { invalidations_.note_blocks(); }
    /// Grows by kNotesEach with each key and each tag that is invalidated, and with each body in
    /// blocks that ends by a tag. Found has the same count, for a caller without a look-up.
    std::uint64_t invalidations() const { return invalidations_.memory().invalidations(); }
    /// One of these keys or tags was invalidated after that count stood at `invalidations`.
    bool any_noted_since(std::span<const summary::KeyHash> names,
                         std::uint64_t invalidations) const {
        return invalidations_.memory().any_noted_since(names, invalidations);
    }
    /// An invalidation is noted at its start, and again when the disk has ended the key: a record
    /// that was read in between is refused, too.
    static constexpr std::uint64_t kNotesEach = 2;
    /// When the key, one of its prefixes or one of the tags was last invalidated, or may have been.
    /// Older copies of peers are unusable.
    std::optional<Clock::time_point> invalidated_at(
        summary::KeyHash hash, std::string_view uri,
        std::span<const summary::KeyHash> tags = {}) const {
        const auto& memory = invalidations_.memory();
        return std::max(memory.last(hash, tags), memory.last_prefix(uri));
    }
    /// See StoreDisk::ends().
    std::uint64_t disk_ends() const { return disk_.ends(); }

    /// See MemoryTier for these six.
    std::optional<base::Charge> reserve(std::uint64_t bytes, Clock::time_point now) {
        return memory_.reserve(bytes, now);
    }
    bool has_room() const { return memory_.has_room(); }
    void pin(summary::KeyHash hash) { memory_.pin(hash); }
    bool step_cap_to(std::uint64_t bytes) { return memory_.step_cap_to(bytes); }
    static std::uint64_t charge_for(std::string_view uri, const StoredMetadata& metadata) {
        return MemoryTier::charge_for(uri, metadata);
    }
    static std::uint64_t overhead_bytes(std::string_view uri, std::size_t tags) {
        return MemoryTier::overhead_bytes(uri, tags);
    }

    /// See AnnouncementLedger::deny().
    void deny(summary::KeyHash hash);

    struct Stats {
        std::uint64_t objects = 0, memory_bytes = 0, memory_cap_bytes = 0, evictions = 0;
        std::uint64_t disk_evictions = 0;
        StoreDiskStatus disk;
    };
    Stats stats() const;

private:
    base::MemoryBudget budget_;  // first, as all responses are charged to it
    const summary::KeyHasher& hasher_;
    AnnouncementLedger ledger_;
    StoreShards shards_;
    MemoryTier memory_{budget_, shards_, ledger_};
    StoreDisk disk_;
    ShelfWriter writer_{shards_, disk_};
    Invalidations invalidations_{shards_, disk_, ledger_, hasher_};
    ShelfReader reader_{shards_, disk_, memory_, ledger_, invalidations_.memory()};
    ShelfKeeper keeper_{shards_, disk_, ledger_, invalidations_};
    FillLeases leases_{shards_, disk_, memory_, writer_, ledger_, invalidations_.memory()};
};

}  // namespace proxy
