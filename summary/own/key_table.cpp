#include "summary/own/key_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "summary/sizing/shape.hpp"

namespace summary {

namespace {

/// The table grows by an eighth when it is this full. Few places are empty, and a key is found
/// about four places behind its home.
constexpr std::size_t kFullEighths = 7;
/// A table with fewer keys than this fraction of its places is rebuilt; otherwise a visit would
/// mostly find empty places.
constexpr std::size_t kFewPart = 8, kLeastHomes = 64;

/// The limit differs among shards. They have about as many keys each, and would otherwise be
/// rebuilt together.
std::size_t shrinks_below(KeyHash key) {
    return kFewPart + key_shard_of(key) % kFewPart;
}

/// Extra slots for keys whose home is among the last.
constexpr std::size_t slots_for(std::size_t homes) {
    return homes + homes / 64 + 24;
}

std::uint64_t stored_form(KeyHash key) {
    return key.high == 0 ? 1 : key.high;
}

}  // namespace

std::size_t KeyTable::home(std::uint64_t high) const {
    return static_cast<std::size_t>(reduce(high << kKeyShardsLog2, homes_));
}

/// The slot of the key, or the slot where it belongs.
std::size_t KeyTable::find(std::uint64_t high) const {
    auto slot = home(high);
    while (slot < slots_.size() && slots_[slot] != 0 && slots_[slot] < high) ++slot;
    return slot;
}

/// The next empty slot.
std::size_t KeyTable::end_of_cluster(std::size_t slot) const {
    while (slot < slots_.size() && slots_[slot] != 0) ++slot;
    return slot;
}

bool KeyTable::insert(KeyHash key) {
    const auto high = stored_form(key);
    auto slot = find(high);
    if (slot < slots_.size() && slots_[slot] == high) return false;
    auto end = end_of_cluster(slot);
    while (end == slots_.size() || size_ * 8 >= homes_ * kFullEighths) {
        grow();
        slot = find(high);
        end = end_of_cluster(slot);
    }
    std::copy_backward(slots_.begin() + static_cast<std::ptrdiff_t>(slot),
                       slots_.begin() + static_cast<std::ptrdiff_t>(end),
                       slots_.begin() + static_cast<std::ptrdiff_t>(end + 1));
    slots_[slot] = high;
    ++used_[end / kGroup];
    ++size_;
    return true;
}

bool KeyTable::erase(KeyHash key) {
    const auto high = stored_form(key);
    const auto slot = find(high);
    if (slot >= slots_.size() || slots_[slot] != high) return false;
    // The following keys move up, as far as the first one in its home.
    auto last = slot;
    while (last + 1 < slots_.size() && slots_[last + 1] != 0 && home(slots_[last + 1]) <= last) {
        ++last;
    }
    std::copy(slots_.begin() + static_cast<std::ptrdiff_t>(slot + 1),
              slots_.begin() + static_cast<std::ptrdiff_t>(last + 1),
              slots_.begin() + static_cast<std::ptrdiff_t>(slot));
    slots_[last] = 0;
    --used_[last / kGroup];
    --size_;
    if (homes_ > kLeastHomes && size_ * shrinks_below(key) < homes_) {
        KeyTable smaller;
        for_each([&](KeyHash one) { smaller.insert(one); });
        *this = std::move(smaller);
    }
    return true;
}

/// Keys in order stay in order, and need no search.
void KeyTable::grow() {
    homes_ += homes_ / 8 + 8;
    const auto before = std::exchange(slots_, std::vector<std::uint64_t>(slots_for(homes_)));
    used_.assign((slots_.size() - 1) / kGroup + 1, 0);
    std::size_t next = 0;
    for (const auto high : before) {
        if (high == 0) continue;
        const auto slot = std::max(next, home(high));
        if (slot >= slots_.size()) {
            slots_.resize(slot + 8);
            used_.resize((slots_.size() - 1) / kGroup + 1);
        }
        slots_[slot] = high;
        ++used_[slot / kGroup];
        next = slot + 1;
    }
}

std::uint64_t KeyTable::rank(std::uint64_t high) const {
    const auto end = find(high);
    const auto group = end / kGroup;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < group; ++i) before += used_[i];
    const auto is_used = [](std::uint64_t slot) { return slot != 0; };
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(group * kGroup);
    return before + static_cast<std::uint64_t>(std::count_if(
                        first, slots_.begin() + static_cast<std::ptrdiff_t>(end), is_used));
}

std::uint64_t KeyTable::cost_of_visit() const {
    constexpr std::uint64_t kPlacesPerKey = 16;
    return std::max<std::uint64_t>({size_, slots_.size() / kPlacesPerKey, 1});
}

}  // namespace summary
