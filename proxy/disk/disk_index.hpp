#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace proxy {

inline constexpr unsigned kDirectoryBits = 4;
inline constexpr std::size_t kMaxDiskDirectories = 1u << kDirectoryBits;
inline constexpr unsigned kNumberBits = 16;  // of a segment's number; those alive differ in them
inline constexpr unsigned kSegmentBits = kDirectoryBits + kNumberBits;
inline constexpr unsigned kSectorBits = 19;  // 256 MiB in sectors of 512 bytes

/// The place of a record. Within one directory, `segment` is below 2^kNumberBits. Among several
/// directories, its upper kDirectoryBits name the directory, see in_directory().
struct RecordLocation {
    std::uint32_t segment = 0;  // below 2^kSegmentBits
    std::uint32_t sector = 0;   // below 2^kSectorBits; sector 0 is the segment's header

    bool operator==(const RecordLocation&) const = default;
};

constexpr RecordLocation in_directory(unsigned directory, RecordLocation place) {
    return {directory << kNumberBits | place.segment, place.sector};
}
constexpr unsigned directory_of(RecordLocation place) {
    return place.segment >> kNumberBits;
}
/// The bits of a segment's number that a place contains.
constexpr std::uint32_t place_number(std::uint32_t segment) {
    return segment & ((1u << kNumberBits) - 1);
}
constexpr std::uint32_t number_of(RecordLocation place) {
    return place_number(place.segment);
}

/// The knowledge about a record that memory keeps.
struct DiskEntry {
    static constexpr unsigned kMostUses = 3;

    RecordLocation place;
    std::uint32_t sectors = 0;  // its size, at most 131,072; kept with an error of 3 %
    unsigned uses = 0;          // 0 .. kMostUses, see used()
    bool announced = false;     // the mark of AnnouncementLedger
    bool doubtful = false;      // possibly purged, so it is validated before use
    bool proved = false;        // this process has verified or written all its bytes

    void used() { uses = uses < kMostUses ? uses + 1 : kMostUses; }
    bool operator==(const DiskEntry&) const = default;
};

/// The places of all records by key. The owner serializes its calls, like those of a vector; the
/// store uses the lock of a shard.
///
/// A record takes 16 bytes, in tables that grow by an eighth, one at a time, when they are 0.92
/// full. They average 18.4 bytes per record while the number grows, and they keep their largest
/// size. The index knows a key by the 60 bits of KeyHash::high below its first four, which select
/// the shard. A caller compares the URI of the record that it reads. A key may have several
/// entries, one for each variant.
class DiskIndex {
public:
    DiskIndex();

    /// Adds an entry beside those that the key has. Precondition: the bounds of RecordLocation and
    /// DiskEntry.
    void insert(summary::KeyHash key, const DiskEntry& entry);
    /// False if the key lacks an entry at this place.
    bool erase(summary::KeyHash key, RecordLocation place);
    /// Erases all entries of the key and returns their number.
    std::size_t erase_all(summary::KeyHash key);
    /// Erases the entries that `is_it(DiskEntry)` selects. Visits every entry.
    template <class Predicate>
    void erase_if(Predicate is_it) {
        for (auto& table : tables_) {
            std::vector<Slot> kept;
            for (std::uint32_t i = 0; i < table.size; ++i)
                if (!table.slots[i].empty() && !is_it(unpack(table.slots[i])))
                    kept.push_back(table.slots[i]);
            if (kept.size() == table.used) continue;
            entries_ -= table.used - kept.size();
            std::fill_n(table.slots.get(), table.size, Slot());
            table.used = 0;
            for (const auto& slot : kept) table.insert(slot);
        }
    }
    /// Puts `entry` in the place of the key's entry at `place`. False if the key lacks one.
    bool replace(summary::KeyHash key, RecordLocation place, const DiskEntry& entry);

    /// Calls `visit(DiskEntry)` for each entry of the key.
    template <class Visit>
    void for_each(summary::KeyHash key, Visit visit) const {
        const auto& table = tables_[table_of(key)];
        const auto tag = tag_of(key);
        for (auto slot = table.find(tag); slot < table.size; slot = table.next(slot, tag))
            visit(unpack(table.slots[slot]));
    }
    /// Fetches the cache line of the key ahead of its use.
    void prefetch(summary::KeyHash key) const {
        const auto& table = tables_[table_of(key)];
        if (table.size > 0) __builtin_prefetch(&table.slots[table.home(tag_of(key))], 1);
    }
    bool contains(summary::KeyHash key) const {
        const auto& table = tables_[table_of(key)];
        return table.find(tag_of(key)) < table.size;
    }
    /// The key's entry at `place`, if there is one.
    std::optional<DiskEntry> find(summary::KeyHash key, RecordLocation place) const;

    /// An entry of the key has the mark of AnnouncementLedger.
    bool announced(summary::KeyHash key) const;
    /// Sets that mark on all entries of the key. False if it has none.
    bool set_announced(summary::KeyHash key, bool announced);

    std::uint64_t size() const { return entries_; }
    std::uint64_t memory_bytes() const;

private:
    static constexpr unsigned kTableBits = 8;

    /// The bits of each word from the highest to the lowest:
    ///
    ///     high  tag 52, size class 11, spare 1
    ///     low   spare 20, proved 1, doubtful 1, announced 1, uses 2, segment 20, sector 19
    ///
    /// Records never begin in sector 0, so `low` is 0 in empty slots only.
    struct Slot {
        std::uint64_t high = 0, low = 0;

        bool empty() const { return low == 0; }
        std::uint64_t tag() const { return high >> 12; }
    };
    /// Linear probing with robin hood order: entries are as near to their home as possible, so a
    /// look-up ends at the first entry that is nearer to its own home. The home follows from the
    /// tag alone, so the table can grow without the keys.
    struct Table {
        std::unique_ptr<Slot[]> slots;
        std::uint32_t size = 0;
        std::uint32_t used = 0;

        std::uint32_t home(std::uint64_t tag) const {
            return static_cast<std::uint32_t>(((tag >> 20) * size) >> 32);
        }
        std::uint32_t after(std::uint32_t slot) const { return slot + 1 == size ? 0 : slot + 1; }
        std::uint32_t distance(std::uint32_t slot, std::uint64_t tag) const {
            const auto from = home(tag);
            return slot >= from ? slot - from : slot + size - from;
        }
        /// The first slot with this tag, or `size`.
        std::uint32_t find(std::uint64_t tag) const {
            return size == 0 ? size : seek(home(tag), 0, tag);
        }
        std::uint32_t next(std::uint32_t slot, std::uint64_t tag) const {
            return seek(after(slot), distance(slot, tag) + 1, tag);
        }
        std::uint32_t seek(std::uint32_t slot, std::uint32_t from_home, std::uint64_t tag) const {
            for (; from_home < size; slot = after(slot), ++from_home) {
                const auto& at = slots[slot];
                if (at.empty() || distance(slot, at.tag()) < from_home) return size;
                if (at.tag() == tag) return slot;
            }
            return size;
        }
        void insert(Slot slot);
        void erase(std::uint32_t slot);
        void grow();
    };

    static std::size_t table_of(summary::KeyHash key) { return (key.high >> 52) & 0xff; }
    static std::uint64_t tag_of(summary::KeyHash key) {
        return key.high & ((std::uint64_t{1} << 52) - 1);
    }
    /// The slot of the key's entry at `place`; `size` of the table if there is none.
    static std::uint32_t slot_of(const Table& table, std::uint64_t tag, RecordLocation place);
    static Slot pack(std::uint64_t tag, const DiskEntry& entry);
    static DiskEntry unpack(const Slot& slot);

    std::vector<Table> tables_;
    std::uint64_t entries_ = 0;
};

/// Sizes in 11 bits: exact below 64, then rounded up by at most 1 part in 32.
std::uint32_t size_class(std::uint32_t sectors);
std::uint32_t sectors_of_class(std::uint32_t size_class);

}  // namespace proxy
