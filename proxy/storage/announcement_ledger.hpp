#pragma once

#include <atomic>
#include <utility>

#include "proxy/disk/disk_index.hpp"
#include "proxy/storage/node_events.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Announces a key when the first tier stores it, and withdraws it when the last tier drops it. A
/// key is a target URI or a block. Only an announceable response causes an announcement: one that
/// is reusable for more than kAnnounceAtLeast.
///
/// The ledger counts two references to a key, memory and disk, and one mark says that the key is
/// announced. The mark needs no table of its own: the entry in memory carries it while there is
/// one, and the records in the disk index carry it otherwise. All functions but has_lost_bits()
/// run under the lock of the key's shard, so the events of a key have the order of its changes.
class AnnouncementLedger {
public:
    /// `events` outlives the ledger. It gets a KeyChange for an announcement and one for a
    /// withdrawal, in turn. After a disk has lost records the same change may come twice, as their
    /// keys are unknown then.
    explicit AnnouncementLedger(NodeEvents& events) : events_(events) {}

    /// Memory stores an announceable response. `mark` is that of the entry.
    void announce(summary::KeyHash key, bool& mark) {
        if (!std::exchange(mark, true)) events_.push(KeyChange{key, true});
    }
    /// Memory begins to store the key: the new entry takes over the mark of the disk's records.
    static void memory_begins(summary::KeyHash key, bool& mark, const DiskIndex& disk) {
        mark = disk.announced(key);
    }
    /// Memory has dropped the key. The disk's records get the mark, if there are any.
    void memory_ends(summary::KeyHash key, bool mark, DiskIndex& disk) {
        if (!disk.set_announced(key, mark) && mark) events_.push(KeyChange{key, false});
    }
    /// The disk has `record` of a key that memory lacks. Adds it to the index.
    void disk_gains(summary::KeyHash key, DiskEntry record, bool announceable, DiskIndex& disk) {
        const auto known = disk.announced(key);
        record.announced = known || announceable;
        disk.insert(key, record);
        if (record.announced && !known) events_.push(KeyChange{key, true});
    }
    /// Records of a key left the index, one of them with a mark if `marked`. `in_memory`: memory
    /// stores the key.
    void disk_loses(summary::KeyHash key, bool marked, bool in_memory, DiskIndex& disk) {
        if (!marked || in_memory) return;
        if (!disk.set_announced(key, true)) events_.push(KeyChange{key, false});
    }

    /// Marked records are lost, and their keys with them. deny() withdraws such a key later.
    void note_lost_bits() { lost_bits_.store(true, std::memory_order_relaxed); }
    /// Any thread.
    bool has_lost_bits() const { return lost_bits_.load(std::memory_order_relaxed); }
    /// A peer believes that this node stores the key. Withdraws it unless a tier stores it.
    void deny(summary::KeyHash key, bool announced_in_memory, const DiskIndex& disk) {
        if (has_lost_bits() && !announced_in_memory && !disk.contains(key))
            events_.push(KeyChange{key, false});
    }

private:
    NodeEvents& events_;
    std::atomic<bool> lost_bits_{false};
};

}  // namespace proxy
