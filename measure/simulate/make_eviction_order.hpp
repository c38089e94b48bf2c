#pragma once

#include <memory>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// Makes the order of the cache of `proxy`. `objects` and `holders` must outlive it.
std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement, const Objects& objects,
                                                   const Holders& holders, std::size_t proxy);

}  // namespace measure
