#pragma once

#include <memory>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// `objects` and `holders` must outlive it; `proxy` is whose order it is.
std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement, const Objects& objects,
                                                   const Holders& holders, std::size_t proxy);

}  // namespace measure
