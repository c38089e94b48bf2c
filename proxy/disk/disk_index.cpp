#include "proxy/disk/disk_index.hpp"

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

constexpr std::uint32_t kFirstSlots = 8;
constexpr unsigned kClassBits = 11, kMantissaBits = 5;

// The first bits of the fields in a slot; the header has a drawing.
constexpr unsigned kTagAt = 12, kClassAt = 1;
constexpr unsigned kSegmentAt = kSectorBits, kUsesAt = kSegmentAt + kSegmentBits;
constexpr unsigned kAnnouncedAt = kUsesAt + 2, kDoubtfulAt = kAnnouncedAt + 1,
                   kProvedAt = kDoubtfulAt + 1;

constexpr std::uint64_t ones(unsigned bits) {
    return (std::uint64_t{1} << bits) - 1;
}
static_assert(DiskEntry::kMostUses == ones(kAnnouncedAt - kUsesAt));

}  // namespace

std::uint32_t size_class(std::uint32_t sectors) {
    const auto width = static_cast<unsigned>(std::bit_width(sectors));
    if (width <= kMantissaBits + 1) return sectors;
    const auto shift = width - kMantissaBits - 1;
    // Rounded up; a carry leads into the next octave's first class, as it should.
    const auto mantissa = (sectors + (1u << shift) - 1) >> shift;
    return (shift << kMantissaBits) + mantissa;
}

std::uint32_t sectors_of_class(std::uint32_t size_class) {
    if (size_class < 2u << kMantissaBits) return size_class;
    const auto shift = (size_class >> kMantissaBits) - 1;
    return ((size_class & ones(kMantissaBits)) | 1u << kMantissaBits) << shift;
}

DiskIndex::DiskIndex() : tables_(std::size_t{1} << kTableBits) {}

DiskIndex::Slot DiskIndex::pack(std::uint64_t tag, const DiskEntry& entry) {
    assert(entry.place.sector > 0 && entry.place.sector <= ones(kSectorBits));
    assert(entry.place.segment <= ones(kSegmentBits) && entry.uses <= DiskEntry::kMostUses);
    assert(size_class(entry.sectors) <= ones(kClassBits));
    Slot slot;
    slot.high = tag << kTagAt | std::uint64_t{size_class(entry.sectors)} << kClassAt;
    slot.low =
        std::uint64_t{entry.place.sector} | std::uint64_t{entry.place.segment} << kSegmentAt |
        std::uint64_t{entry.uses} << kUsesAt | std::uint64_t{entry.announced} << kAnnouncedAt |
        std::uint64_t{entry.doubtful} << kDoubtfulAt | std::uint64_t{entry.proved} << kProvedAt;
    return slot;
}

DiskEntry DiskIndex::unpack(const Slot& slot) {
    DiskEntry entry;
    entry.place.sector = static_cast<std::uint32_t>(slot.low & ones(kSectorBits));
    entry.place.segment = static_cast<std::uint32_t>(slot.low >> kSegmentAt & ones(kSegmentBits));
    entry.uses = static_cast<unsigned>(slot.low >> kUsesAt & DiskEntry::kMostUses);
    entry.announced = (slot.low >> kAnnouncedAt & 1) != 0;
    entry.doubtful = (slot.low >> kDoubtfulAt & 1) != 0;
    entry.proved = (slot.low >> kProvedAt & 1) != 0;
    entry.sectors =
        sectors_of_class(static_cast<std::uint32_t>(slot.high >> kClassAt & ones(kClassBits)));
    return entry;
}

void DiskIndex::Table::insert(Slot slot) {
    auto at = home(slot.tag());
    for (std::uint32_t away = 0; !slots[at].empty() && distance(at, slots[at].tag()) >= away;
         ++away)
        at = after(at);
    // The entries from here to the next empty slot move by one as a block; their order stays.
    auto end = at;
    while (!slots[end].empty()) end = after(end);
    auto* const first = slots.get();
    if (end < at) {  // round the table's end
        std::copy_backward(first, first + end, first + end + 1);
        first[0] = first[size - 1];
        end = size - 1;
    }
    std::copy_backward(first + at, first + end, first + end + 1);
    slots[at] = slot;
    ++used;
}

void DiskIndex::Table::erase(std::uint32_t slot) {
    for (auto next = after(slot);; slot = next, next = after(next)) {
        if (slots[next].empty() || distance(next, slots[next].tag()) == 0) break;
        slots[slot] = slots[next];
    }
    slots[slot] = {};
    --used;
}

void DiskIndex::Table::grow() {
    const auto old_size = size;
    const auto old = std::move(slots);
    size = old_size == 0 ? kFirstSlots : old_size + std::max(old_size / 8, 1u);
    slots = std::make_unique<Slot[]>(size);
    used = 0;
    // Nearly all entries have the order of their homes already: each goes to its own home, or
    // behind the entry before. The rest are inserted one by one: entries at the end of the table,
    // and entries that shared a home with one that now comes later.
    std::uint32_t free_from = 0, last_home = 0, i = 0;
    const auto came_from_the_end = [&](Slot slot, std::uint32_t at) {
        return ((slot.tag() >> 20) * old_size >> 32) > at;
    };
    while (i < old_size && !old[i].empty() && came_from_the_end(old[i], i)) ++i;
    const auto first = i;
    for (; i < old_size; ++i) {
        if (old[i].empty()) continue;
        const auto wanted = home(old[i].tag());
        const auto to = std::max(free_from, wanted);
        if (to < size && wanted >= last_home) {
            slots[to] = old[i];
            free_from = to + 1;
            last_home = wanted;
            ++used;
        } else {
            insert(old[i]);
            if (free_from < size && !slots[free_from].empty()) ++free_from;
        }
    }
    for (i = 0; i < first; ++i) insert(old[i]);
}

void DiskIndex::insert(summary::KeyHash key, const DiskEntry& entry) {
    auto& table = tables_[table_of(key)];
    // At most 0.92 full, and with an empty slot at least.
    if ((std::uint64_t{table.used} + 1) * 25 > std::uint64_t{table.size} * 23) table.grow();
    table.insert(pack(tag_of(key), entry));
    ++entries_;
}

std::uint32_t DiskIndex::slot_of(const Table& table, std::uint64_t tag, RecordLocation place) {
    auto slot = table.find(tag);
    while (slot < table.size && unpack(table.slots[slot]).place != place)
        slot = table.next(slot, tag);
    return slot;
}

std::optional<DiskEntry> DiskIndex::find(summary::KeyHash key, RecordLocation place) const {
    const auto& table = tables_[table_of(key)];
    const auto slot = slot_of(table, tag_of(key), place);
    return slot < table.size ? std::optional(unpack(table.slots[slot])) : std::nullopt;
}

bool DiskIndex::announced(summary::KeyHash key) const {
    bool announced = false;
    for_each(key, [&](const DiskEntry& entry) { announced = announced || entry.announced; });
    return announced;
}

bool DiskIndex::set_announced(summary::KeyHash key, bool announced) {
    auto& table = tables_[table_of(key)];
    const auto tag = tag_of(key);
    const auto first = table.find(tag);
    for (auto slot = first; slot < table.size; slot = table.next(slot, tag)) {
        auto entry = unpack(table.slots[slot]);
        entry.announced = announced;
        table.slots[slot] = pack(tag, entry);
    }
    return first < table.size;
}

bool DiskIndex::erase(summary::KeyHash key, RecordLocation place) {
    auto& table = tables_[table_of(key)];
    const auto slot = slot_of(table, tag_of(key), place);
    if (slot >= table.size) return false;
    table.erase(slot);
    --entries_;
    return true;
}

std::size_t DiskIndex::erase_all(summary::KeyHash key) {
    auto& table = tables_[table_of(key)];
    const auto tag = tag_of(key);
    std::size_t count = 0;
    for (auto slot = table.find(tag); slot < table.size; slot = table.find(tag)) {
        table.erase(slot);
        ++count;
    }
    entries_ -= count;
    return count;
}

bool DiskIndex::replace(summary::KeyHash key, RecordLocation place, const DiskEntry& entry) {
    auto& table = tables_[table_of(key)];
    const auto tag = tag_of(key);
    const auto slot = slot_of(table, tag, place);
    if (slot >= table.size) return false;
    table.slots[slot] = pack(tag, entry);
    return true;
}

std::uint64_t DiskIndex::memory_bytes() const {
    std::uint64_t bytes = tables_.capacity() * sizeof(Table);
    for (const auto& table : tables_) bytes += table.size * sizeof(Slot);
    return bytes;
}

}  // namespace proxy
