#include "measure/simulate/lru_order.hpp"

#include <cassert>

namespace measure {

void LruOrder::touch(std::uint32_t object) {
    const auto place = list_.find(object);
    list_.set_mark(place, false);
    list_.move_to(place, 0);
}

ObjectLists::Place LruOrder::victim() {
    const auto oldest = list_.oldest(0);
    assert(!list_.is_end(oldest));
    if (replacement_ == Replacement::lru_copies) {
        auto place = oldest;
        for (unsigned i = 0; i < kLooksForCopies && !list_.is_end(place); ++i) {
            if (others_hold(place)) return place;
            place = list_.newer(place);
        }
    }
    if (replacement_ != Replacement::lru_keep_last) return oldest;
    for (auto place = oldest;; place = list_.oldest(0)) {
        if (list_.mark(place) || others_hold(place)) return place;
        list_.set_mark(place, true);
        list_.move_to(place, 0);
    }
}

}  // namespace measure
