#pragma once

#include <memory>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// Makes the order of one cache. `objects` must outlive it.
std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement, const Objects& objects);

}  // namespace measure
