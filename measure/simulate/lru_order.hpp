#pragma once

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/object_lists.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// Least recently used; two variants look at the copies of other proxies.
class LruOrder final : public EvictionOrder {
public:
    /// Number of the oldest objects among which a copy held elsewhere goes first.
    static constexpr unsigned kLooksForCopies = 16;

    /// `replacement`: lru, lru_copies or lru_keep_last. `holders` must outlive it.
    LruOrder(Replacement replacement, const Holders& holders, std::size_t proxy)
        : replacement_(replacement), holders_(holders), proxy_(proxy) {}

    void insert(std::uint32_t object, proxy::SentBy) override { list_.insert(object, 0); }
    void touch(std::uint32_t object) override;
    std::uint32_t pop() override { return list_.remove(victim()); }

private:
    bool others_hold(ObjectLists::Place place) const {
        return holders_.any_but(list_.object(place), proxy_);
    }
    ObjectLists::Place victim();

    const Replacement replacement_;
    const Holders& holders_;
    const std::size_t proxy_;
    ObjectLists list_{1};  // marked: has had its second round
};

}  // namespace measure
