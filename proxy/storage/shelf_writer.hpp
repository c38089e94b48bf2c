#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/config/config.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_shard.hpp"

namespace proxy {

/// A 304 may renew a head whose body is up to this large by writing both to the disk again.
inline constexpr std::uint64_t kRewrittenBytes = 64 * 1024;
/// The store offers one response to a busy disk this often.
inline constexpr unsigned kMaxOffers = 3;

/// The way to the disk: decides which responses of the memory tier are written, and ends outdated
/// records for good. Its functions run under the lock of `shard` and only queue work; the tier's
/// threads write. They require a disk. All constructor arguments must outlive it.
class ShelfWriter {
public:
    ShelfWriter(StoreShards& shards, StoreDisk& disk) : shards_(shards), disk_(disk) {}

    /// Any thread.
    void set_admission(DiskAdmission admission) { admission_.store(admission); }

    /// A request used the variant again, so it is worth a record. Writes it if the disk lacks it.
    void offer(StoreShard& shard, MemoryShelf::Entry& entry, MemoryShelf::Variant& variant) {
        const auto& copy = variant.disk;
        if (copy.is_stored() || copy.writing || copy.offers >= kMaxOffers) return;
        write(shard, entry, variant);
    }
    /// The variant was just stored. Writes it if the disk admits it.
    void admit(StoreShard& shard, MemoryShelf::Entry& entry, MemoryShelf::Variant& variant);
    /// `renewed` has taken the place of `old`, with the same body and another head. Writes a
    /// stricter head, and any head of a small body; otherwise keeps the record of `old`.
    void renew(StoreShard& shard, MemoryShelf::Entry& entry, const MemoryShelf::Variant& old,
               MemoryShelf::Variant& renewed);
    /// A new version is about to be stored, so the records that memory lacks are older. Erases them
    /// from the index. True if there may be any.
    bool supersede(StoreShard& shard, MemoryShelf::Entry& entry);
    /// Ends the records of the entry, which stays in memory.
    void bury(StoreShard& shard, MemoryShelf::Entry& entry);

private:
    void write(StoreShard& shard, MemoryShelf::Entry& entry, MemoryShelf::Variant& variant);
    /// True if the tier has taken the response.
    bool push(MemoryShelf::Entry& entry, MemoryShelf::Variant& variant);
    /// On a thread of the tier.
    void written(summary::KeyHash key, const StoredResponse* response, std::uint32_t sectors,
                 const DiskResult<RecordLocation>& where);

    StoreShards& shards_;
    StoreDisk& disk_;
    std::atomic<DiskAdmission> admission_{DiskAdmission::second_request};
};

}  // namespace proxy
