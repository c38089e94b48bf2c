#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "proxy/disk/disk_owner.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/storage/announcement_ledger.hpp"
#include "proxy/storage/invalidations.hpp"
#include "proxy/storage/store_disk.hpp"
#include "proxy/storage/store_shard.hpp"
#include "summary/sizing/prefix_tag.hpp"

namespace proxy {

/// Keeps the disk shelves in agreement with the disk tier, which reports recovered, moved and lost
/// records. Threads of the tier call it while they have no lock of their own; each call locks a
/// shard briefly. All constructor arguments must outlive it.
class ShelfKeeper final : public DiskOwner {
public:
    ShelfKeeper(StoreShards& shards, StoreDisk& disk, AnnouncementLedger& ledger,
                Invalidations& invalidations)
        : shards_(shards), disk_(disk), ledger_(ledger), invalidations_(invalidations) {}

    summary::KeyHash hash_of(std::string_view uri) const override { return disk_.hash_of(uri); }
    bool is_prefix_tag(summary::KeyHash hash) const override {
        return summary::is_prefix_tag(hash);
    }
    std::vector<summary::KeyHash> prefix_tags_of(std::string_view uri) const override {
        return proxy::prefix_tags_of(uri, [this](std::string_view text) { return hash_of(text); });
    }
    void recovered(std::span<const RecoveredKey> batch) override;
    /// The uses of the record or of its response in memory, whichever are more.
    std::optional<unsigned> uses(const FooterEntry& entry, RecordLocation place) override;
    void moved(const FooterEntry& entry, RecordLocation from, RecordLocation to) override;
    void dropped(const FooterEntry& entry, RecordLocation place) override;
    void lost(const LostRecords& places) override;

private:
    void recovered(StoreShard& shard, std::span<const RecoveredKey* const> records, DiskTime wall);

    StoreShards& shards_;
    StoreDisk& disk_;
    AnnouncementLedger& ledger_;
    Invalidations& invalidations_;
};

}  // namespace proxy
