#include "summary/filters/delta.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace summary {

namespace {

/// Each flipped position with its last value, if keep(first flip, last flip) is true.
template <class Keep>
Delta by_position(std::vector<Flip>& flips, Keep keep) {
    std::stable_sort(flips.begin(), flips.end(),
                     [](Flip a, Flip b) { return a.position < b.position; });
    Delta delta;
    for (auto first = flips.begin(); first != flips.end();) {
        const auto next = std::find_if(first, flips.end(),
                                       [&](Flip flip) { return flip.position != first->position; });
        const auto last = std::prev(next);
        if (keep(*first, *last)) (last->set ? delta.set : delta.clear).push_back(last->position);
        first = next;
    }
    return delta;
}

}  // namespace

Delta net_effect(std::vector<Flip> flips) {
    // Flips of one bit alternate, so a bit ends as it began when the last flip undoes the first.
    return by_position(flips, [](Flip first, Flip last) { return first.set == last.set; });
}

Delta last_values(std::vector<Flip> flips) {
    return by_position(flips, [](Flip, Flip) { return true; });
}

bool is_valid(const Delta& delta, std::uint64_t bits) {
    const auto ascends_below = [bits](const std::vector<std::uint64_t>& list) {
        return std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end() &&
               (list.empty() || list.back() < bits);
    };
    if (!ascends_below(delta.set) || !ascends_below(delta.clear)) return false;
    auto set = delta.set.begin();
    auto clear = delta.clear.begin();
    while (set != delta.set.end() && clear != delta.clear.end()) {
        if (*set == *clear) return false;
        *set < *clear ? void(++set) : void(++clear);
    }
    return true;
}

void apply(const Delta& delta, BitArray& bits) {
    for (const auto position : delta.set) bits.set(position);
    for (const auto position : delta.clear) bits.clear(position);
}

}  // namespace summary
