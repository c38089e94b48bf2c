#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/async/wakeup.hpp"
#include "proxy/disk/admission_filter.hpp"
#include "proxy/disk/disk_index.hpp"
#include "proxy/storage/memory_shelf.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The part of the disk tier that one shard knows: the places of the records of its keys, the keys
/// that were missed before, and the records that are being read. It is data alone; the disk is
/// called elsewhere. The lock of the shard guards it. It is empty in a store that has only memory.
class DiskShelf {
public:
    using Waiting = std::vector<std::shared_ptr<base::Wakeup>>;
    /// Requests that wait for the records of one key.
    static constexpr std::size_t kMaxWaiting = 4096;

    DiskIndex index;
    std::optional<AdmissionFilter> second_request;  // set if there is a disk
    std::uint64_t recalled = 0;                     // responses that came into memory
    std::uint64_t declined = 0;                     // responses that admission refused
    std::uint64_t evictions = 0;                    // records that the disk dropped

    /// The disk has a record of the key that `entry`, which may be null, lacks. Out of line, as its
    /// loop would slow down Store::find(), and hits never run it.
    [[gnu::noinline]] bool has_more(summary::KeyHash key, const MemoryShelf::Entry* entry) const;
    /// The records of the key that `entry`, which may be null, lacks.
    std::vector<DiskEntry> lacking(summary::KeyHash key, const MemoryShelf::Entry* entry) const;
    /// The body stands on the disk, and its record is gone.
    bool has_lost_body(summary::KeyHash key, const StoredResponse& response) const;
    /// Erases the record of a variant that left, if it has one.
    void erase_record(summary::KeyHash key, const DiskCopy& copy) {
        if (copy.is_stored()) index.erase(key, copy.place);
    }
    /// Erases all records of the key and ends the writes of `entry`, which may be null. Returns how
    /// many records there were.
    std::size_t erase_records(summary::KeyHash key, MemoryShelf::Entry* entry);

    enum class Join : std::uint8_t { joined, refused, idle };
    /// Lets the present recall of this key notify `wakeup` at its end; idle if there is none.
    Join join_recall(summary::KeyHash key, const std::shared_ptr<base::Wakeup>& wakeup);
    /// Begins a recall in so many parts. False if one is under way, which notifies `wakeup` then.
    bool begin_recall(summary::KeyHash key, std::size_t parts,
                      const std::shared_ptr<base::Wakeup>& wakeup);
    /// One part is done. Returns the wakeups to notify after the last part.
    Waiting end_part(summary::KeyHash key);

private:
    struct Recall {
        std::size_t pending = 0;
        Waiting waiting;
    };
    boost::unordered_flat_map<summary::KeyHash, Recall, summary::HashOfKeyHash> recalls_;
};

}  // namespace proxy
