#include "summary/key_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "summary/shape.hpp"

namespace summary {

namespace {

constexpr KeyHash kEmpty{};
/// A table that has fewer keys than one in so many of its places is made anew: who visits all keys
/// would mostly visit none.
constexpr std::size_t kShrinkBelow = 8, kLeastHomes = 64;

/// Not for all shards the same: they have about as many keys each, and would all be made anew at
/// once.
std::size_t shrinks_below(KeyHash key) {
    return kShrinkBelow + (key.high >> (64 - kKeyShardsLog2)) % kShrinkBelow;
}

KeyHash stored_form(KeyHash key) {
    return key == kEmpty ? KeyHash{1, 0} : key;
}

bool less(KeyHash one, KeyHash other) {
    return one.high != other.high ? one.high < other.high : one.low < other.low;
}

}  // namespace

std::size_t KeyTable::home(std::uint64_t high) const {
    return static_cast<std::size_t>(reduce(high << kKeyShardsLog2, homes_));
}

/// Where the key is, or belongs.
std::size_t KeyTable::find(KeyHash key) const {
    auto slot = home(key.high);
    while (slot < slots_.size() && slots_[slot] != kEmpty && less(slots_[slot], key)) ++slot;
    return slot;
}

/// The next empty slot.
std::size_t KeyTable::end_of_cluster(std::size_t slot) const {
    while (slot < slots_.size() && slots_[slot] != kEmpty) ++slot;
    return slot;
}

bool KeyTable::contains(KeyHash key) const {
    key = stored_form(key);
    const auto slot = find(key);
    return slot < slots_.size() && slots_[slot] == key;
}

bool KeyTable::insert(KeyHash key) {
    key = stored_form(key);
    auto slot = find(key);
    if (slot < slots_.size() && slots_[slot] == key) return false;
    auto end = end_of_cluster(slot);
    while (end == slots_.size() || size_ * 5 >= homes_ * 4) {
        grow();
        slot = find(key);
        end = end_of_cluster(slot);
    }
    std::copy_backward(slots_.begin() + static_cast<std::ptrdiff_t>(slot),
                       slots_.begin() + static_cast<std::ptrdiff_t>(end),
                       slots_.begin() + static_cast<std::ptrdiff_t>(end + 1));
    slots_[slot] = key;
    ++used_[end / kGroup];
    ++size_;
    return true;
}

bool KeyTable::erase(KeyHash key) {
    key = stored_form(key);
    const auto slot = find(key);
    if (slot >= slots_.size() || slots_[slot] != key) return false;
    // What follows moves up, as far as the first that is where it belongs.
    auto last = slot;
    while (last + 1 < slots_.size() && slots_[last + 1] != kEmpty &&
           home(slots_[last + 1].high) <= last) {
        ++last;
    }
    std::copy(slots_.begin() + static_cast<std::ptrdiff_t>(slot + 1),
              slots_.begin() + static_cast<std::ptrdiff_t>(last + 1),
              slots_.begin() + static_cast<std::ptrdiff_t>(slot));
    slots_[last] = kEmpty;
    --used_[last / kGroup];
    --size_;
    if (homes_ > kLeastHomes && size_ * shrinks_below(key) < homes_) {
        KeyTable smaller;
        for_each([&](KeyHash one) { smaller.insert(one); });
        *this = std::move(smaller);
    }
    return true;
}

/// By a quarter: what is in order stays so, and needs no searching.
void KeyTable::grow() {
    homes_ += homes_ / 4 + 8;
    const auto before = std::exchange(slots_, std::vector<KeyHash>(homes_ + homes_ / 16 + 8));
    used_.assign((slots_.size() - 1) / kGroup + 1, 0);
    std::size_t next = 0;
    for (const auto key : before) {
        if (key == kEmpty) continue;
        const auto slot = std::max(next, home(key.high));
        if (slot >= slots_.size()) {
            slots_.resize(slot + 8);
            used_.resize((slots_.size() - 1) / kGroup + 1);
        }
        slots_[slot] = key;
        ++used_[slot / kGroup];
        next = slot + 1;
    }
}

std::uint64_t KeyTable::rank(std::uint64_t high) const {
    const auto end = find({0, high});
    const auto group = end / kGroup;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < group; ++i) before += used_[i];
    const auto is_used = [](KeyHash key) { return key != kEmpty; };
    const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(group * kGroup);
    return before + static_cast<std::uint64_t>(std::count_if(
                        first, slots_.begin() + static_cast<std::ptrdiff_t>(end), is_used));
}

}  // namespace summary
