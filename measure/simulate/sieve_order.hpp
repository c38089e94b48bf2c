#pragma once

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/object_lists.hpp"

namespace measure {

/// SIEVE: one list in order of arrival, and a hand that moves from the oldest object to the newest.
/// The hand spares an object that was used since its last pass, and evicts any other. A use leaves
/// the object in place. Source: Zhang, Yang, Yue, Vigfusson, Rashmi, "SIEVE is Simpler than LRU",
/// NSDI 2024.
class SieveOrder final : public EvictionOrder {
public:
    void insert(std::uint32_t object, proxy::SentBy) override { list_.insert(object, 0); }
    void touch(std::uint32_t object) override { list_.set_mark(list_.find(object), true); }
    std::uint32_t pop() override {
        for (;; hand_ = list_.newer(hand_)) {
            if (list_.is_end(hand_)) hand_ = list_.oldest(0);
            if (!list_.mark(hand_)) break;
            list_.set_mark(hand_, false);
        }
        const auto victim = hand_;
        hand_ = list_.newer(victim);
        return list_.remove(victim);
    }

private:
    ObjectLists list_{1};          // marked: used
    ObjectLists::Place hand_ = 0;  // the end: begins at the oldest
};

}  // namespace measure
