#include "measure/simulate/caches.hpp"

namespace measure {
namespace {

std::size_t count_of(const SimulationConfig& config) {
    return config.scheme == Scheme::single_cache ? 1 : config.proxies;
}

}  // namespace

Caches::Caches(const SimulationConfig& config, const Objects& objects)
    : config_(config),
      objects_(objects),
      capacity_(config.cache_bytes * (config.proxies / count_of(config))),
      holders_(objects.size(), count_of(config)),
      used_(count_of(config)) {
    for (std::size_t i = 0; i < size() && capacity_ > 0; ++i)
        orders_.push_back(make_eviction_order(config.replacement, objects));
}

bool Caches::may_hold(std::uint32_t object) const {
    if (config_.object_max > 0 && objects_.bytes(object) > config_.object_max) return false;
    const auto most = config_.unit_objects ? capacity_ : capacity_ / kLargestShare;
    return capacity_ == 0 || objects_.charged(object) <= most;
}

std::uint32_t Caches::evict(std::size_t cache) {
    const auto object = orders_[cache]->pop();
    used_[cache] -= objects_.charged(object);
    holders_.remove(object, cache);
    return object;
}

void Caches::clear(std::size_t cache) {
    holders_.remove_all(cache);
    used_[cache] = 0;
    if (capacity_ > 0) orders_[cache] = make_eviction_order(config_.replacement, objects_);
}

}  // namespace measure
