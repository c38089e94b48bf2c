#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/simulate/holders.hpp"
#include "measure/simulate/make_eviction_order.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"
#include "proxy/storage/memory.hpp"

namespace measure {

/// The caches of all proxies: what each holds, charged as a store charges it. `objects` must
/// outlive it.
class Caches {
public:
    /// One part in so many of a cache is the most that one object may take, as in a proxy.
    static constexpr std::uint64_t kLargestShare = 2;

    Caches(const SimulationConfig& config, const Objects& objects);

    std::size_t size() const { return used_.size(); }
    /// Of each, in bytes; 0: without limit.
    std::uint64_t capacity() const { return capacity_; }
    const Holders& holders() const { return holders_; }
    bool has(std::size_t cache, std::uint32_t object) const { return holders_.has(object, cache); }
    bool may_hold(std::uint32_t object) const;
    bool has_room(std::size_t cache) const {
        return capacity_ == 0 || proxy::has_room(used_[cache], capacity_);
    }

    /// It is used. Precondition: has().
    void use(std::size_t cache, std::uint32_t object) {
        if (capacity_ > 0) orders_[cache]->touch(object);
    }
    /// Calls `evicted(object)` for each that goes for it. Precondition: may_hold(), not has().
    template <class Evicted>
    void store(std::size_t cache, std::uint32_t object, Evicted evicted) {
        if (capacity_ > 0) {
            const auto bytes = objects_.charged(object);
            while (used_[cache] + bytes > capacity_) evicted(evict(cache));
            used_[cache] += bytes;
            orders_[cache]->insert(object);
        }
        holders_.add(object, cache);
    }
    /// Nothing is left in it.
    void clear(std::size_t cache);

private:
    std::uint32_t evict(std::size_t cache);

    const SimulationConfig& config_;
    const Objects& objects_;
    const std::uint64_t capacity_;
    Holders holders_;
    std::vector<std::uint64_t> used_;                     // bytes of each
    std::vector<std::unique_ptr<EvictionOrder>> orders_;  // none without a limit
};

}  // namespace measure
