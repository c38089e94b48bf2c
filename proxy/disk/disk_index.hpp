#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "summary/key_hash.hpp"

namespace proxy {

inline constexpr unsigned kDirectoryBits = 4;
inline constexpr std::size_t kMaxDiskDirectories = 1u << kDirectoryBits;
inline constexpr unsigned kNumberBits = 16;  // of a segment's number; those alive differ in them
inline constexpr unsigned kSegmentBits = kDirectoryBits + kNumberBits;
inline constexpr unsigned kSectorBits = 19;  // 256 MiB in sectors of 512 bytes

/// Where a record is. Within one directory, `segment` is below 2^kNumberBits; of several together,
/// its upper kDirectoryBits say in which, see in_directory().
struct DiskPlace {
    std::uint32_t segment = 0;  // below 2^kSegmentBits
    std::uint32_t sector = 0;   // below 2^kSectorBits, not 0: there stands the segment's header

    bool operator==(const DiskPlace&) const = default;
};

constexpr DiskPlace in_directory(unsigned directory, DiskPlace place) {
    return {directory << kNumberBits | place.segment, place.sector};
}
constexpr unsigned directory_of(DiskPlace place) {
    return place.segment >> kNumberBits;
}
/// What a place has of a segment's number.
constexpr std::uint32_t place_number(std::uint32_t segment) {
    return segment & ((1u << kNumberBits) - 1);
}
constexpr std::uint32_t number_of(DiskPlace place) {
    return place_number(place.segment);
}

/// What is known of a record without asking the disk.
struct DiskEntry {
    static constexpr unsigned kMostUses = 3;

    DiskPlace place;
    std::uint32_t sectors = 0;  // what it takes, at most 131,072; kept with an error of 3 %
    unsigned uses = 0;          // 0 .. kMostUses, see used()
    bool announced = false;     // others were told of the key
    bool doubtful = false;      // it may have been purged: to be validated before it is used
    bool proved = false;        // all its bytes were, in this process, or it has written them

    void used() { uses = uses < kMostUses ? uses + 1 : kMostUses; }
    bool operator==(const DiskEntry&) const = default;
};

/// Which keys are on the disk and where: 16 bytes for each record in tables that grow by an
/// eighth when they are 0.92 full, one at a time, and do not shrink: 18.4 bytes for each on the
/// average while there are ever more of them, and what the most took when there are fewer. A key
/// is known by the 60 bits of KeyHash::high below its first four, which choose among the store's
/// shards: whoever finds an entry reads the record and compares its URI. Several entries for one
/// key (variants) are allowed. One thread at a time, as a vector; its shard's lock will do.
class DiskIndex {
public:
    DiskIndex();

    /// Adds one more, whatever the key has. Precondition: what DiskPlace and DiskEntry say.
    void insert(summary::KeyHash key, const DiskEntry& entry);
    /// False when the key has no entry there.
    bool erase(summary::KeyHash key, DiskPlace place);
    /// Erases all of the key; how many there were.
    std::size_t erase_all(summary::KeyHash key);
    /// Erases all for which `is_it(DiskEntry)`; looks at every one.
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
    /// Puts `entry` in the stead of the key's entry at `place`. False when there is none.
    bool replace(summary::KeyHash key, DiskPlace place, const DiskEntry& entry);

    /// Calls `visit(DiskEntry)` for each entry of the key.
    template <class Visit>
    void for_each(summary::KeyHash key, Visit visit) const {
        const auto& table = tables_[table_of(key)];
        const auto tag = tag_of(key);
        for (auto slot = table.find(tag); slot < table.size; slot = table.next(slot, tag))
            visit(unpack(table.slots[slot]));
    }
    /// The key is going to be asked for soon.
    void prefetch(summary::KeyHash key) const {
        const auto& table = tables_[table_of(key)];
        if (table.size > 0) __builtin_prefetch(&table.slots[table.home(tag_of(key))], 1);
    }
    bool contains(summary::KeyHash key) const {
        const auto& table = tables_[table_of(key)];
        return table.find(tag_of(key)) < table.size;
    }
    /// The key's entry at `place`.
    std::optional<DiskEntry> find(summary::KeyHash key, DiskPlace place) const;

    /// Whether an entry of the key says that others were told of it.
    bool announced(summary::KeyHash key) const;
    /// From now on all entries of the key say so. False when it has none.
    bool set_announced(summary::KeyHash key, bool announced);

    std::uint64_t size() const { return entries_; }
    std::uint64_t memory_bytes() const;

private:
    static constexpr unsigned kTableBits = 8;

    /// From the highest bit of each down to its lowest:
    ///     high  tag 52, size class 11, spare 1
    ///     low   spare 20, proved 1, doubtful 1, announced 1, uses 2, segment 20, sector 19
    /// As no record begins in sector 0, `low` is 0 of an empty slot alone.
    struct Slot {
        std::uint64_t high = 0, low = 0;

        bool empty() const { return low == 0; }
        std::uint64_t tag() const { return high >> 12; }
    };
    /// Linear probing in which no entry is farther from its home than it must be (robin hood): a
    /// look-up ends at the first entry that is nearer to its own. Homes follow from the tag alone,
    /// so growing needs no key.
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
    /// The slot of the key's entry at `place`; that of no entry: `size` of its table.
    static std::uint32_t slot_of(const Table& table, std::uint64_t tag, DiskPlace place);
    static Slot pack(std::uint64_t tag, const DiskEntry& entry);
    static DiskEntry unpack(const Slot& slot);

    std::vector<Table> tables_;
    std::uint64_t entries_ = 0;
};

/// Sizes in 11 bits: exact below 64, then with an error of at most 1 part in 32, upwards.
std::uint32_t size_class(std::uint32_t sectors);
std::uint32_t sectors_of_class(std::uint32_t size_class);

}  // namespace proxy
