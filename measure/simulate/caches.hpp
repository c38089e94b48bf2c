#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory/memory.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/make_eviction_order.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// The caches of all proxies: the objects in each, charged as a store charges them. `objects` must
/// outlive it.
class Caches {
public:
    /// One object may take at most this fraction (1/2) of a cache, as in a proxy.
    static constexpr std::uint64_t kLargestShare = 2;

    Caches(const SimulationConfig& config, const Objects& objects);

    std::size_t size() const { return used_.size(); }
    /// Bytes of each cache; 0: unlimited.
    std::uint64_t capacity() const { return capacity_; }
    const Holders& holders() const { return holders_; }
    bool has(std::size_t cache, std::uint32_t object) const { return holders_.has(object, cache); }
    bool may_hold(std::uint32_t object) const;
    bool has_room(std::size_t cache) const {
        return capacity_ == 0 || base::has_room(used_[cache], capacity_);
    }

    /// Counts a use of an object. Precondition: has().
    void use(std::size_t cache, std::uint32_t object) {
        if (capacity_ > 0) orders_[cache]->touch(object);
    }
    /// Stores an object of that sender, and calls `evicted(object)` for each one that makes room
    /// for it. Preconditions: may_hold(), not has().
    template <class Evicted>
    void store(std::size_t cache, std::uint32_t object, proxy::SentBy sender, Evicted evicted) {
        if (capacity_ > 0) {
            const auto bytes = objects_.charged(object);
            while (used_[cache] + bytes > capacity_) evicted(evict(cache));
            used_[cache] += bytes;
            orders_[cache]->insert(object, sender);
        }
        holders_.add(object, cache);
    }
    /// Empties a cache.
    void clear(std::size_t cache);

private:
    std::uint32_t evict(std::size_t cache);

    const SimulationConfig& config_;
    const Objects& objects_;
    const std::uint64_t capacity_;
    Holders holders_;
    std::vector<std::uint64_t> used_;                     // bytes of each
    std::vector<std::unique_ptr<EvictionOrder>> orders_;  // empty if caches are unlimited
};

}  // namespace measure
