#include "measure/simulate/w_tiny_lfu_order.hpp"

#include <cassert>

namespace measure {

void WTinyLfuOrder::move_to(Place place, List list) {
    const auto bytes = objects_.charged(lists_.object(place));
    bytes_[lists_.list_of(place)] -= bytes;
    bytes_[list] += bytes;
    lists_.move_to(place, list);
}

std::uint32_t WTinyLfuOrder::remove(Place place) {
    const auto list = lists_.list_of(place);
    const auto object = lists_.remove(place);
    bytes_[list] -= objects_.charged(object);
    --count_;
    return object;
}

void WTinyLfuOrder::insert(std::uint32_t object, proxy::SentBy) {
    lists_.insert(object, window);
    bytes_[window] += objects_.charged(object);
    sketch_.make_room_for(++count_);
    sketch_.add(objects_.hash(object));
    // Objects move to the main part freely while there is room.
    while (!had_to_pop_ && window_is_full() && lists_.oldest(window) != lists_.find(object))
        move_to(lists_.oldest(window), probation);
    had_to_pop_ = false;
}

void WTinyLfuOrder::touch(std::uint32_t object) {
    sketch_.add(objects_.hash(object));
    const auto place = lists_.find(object);
    if (lists_.list_of(place) == window) {
        lists_.move_to(place, window);
        return;
    }
    move_to(place, protected_part);
    while (bytes_[protected_part] * 100 > main_bytes() * kProtectedPercent) {
        const auto oldest = lists_.oldest(protected_part);
        if (oldest == place) break;
        move_to(oldest, probation);
    }
}

std::uint32_t WTinyLfuOrder::pop() {
    had_to_pop_ = true;
    const auto candidate = lists_.oldest(window);
    auto victim = lists_.oldest(probation);
    if (lists_.is_end(victim)) victim = lists_.oldest(protected_part);
    if (lists_.is_end(victim)) {
        assert(!lists_.is_end(candidate));
        return remove(candidate);
    }
    if (lists_.is_end(candidate) || !window_is_full()) return remove(victim);
    if (frequency(candidate) <= frequency(victim)) return remove(candidate);
    move_to(candidate, probation);
    return remove(victim);
}

}  // namespace measure
