#pragma once

#include <cstdint>
#include <memory>

#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"

namespace measure {

/// Which object of one simulated proxy goes next. Objects are in it or not; who asks keeps track.
class EvictionOrder {
public:
    virtual ~EvictionOrder() = default;

    virtual void insert(std::uint32_t object) = 0;
    /// It is used.
    virtual void touch(std::uint32_t object) = 0;
    /// Takes the next one out. Precondition: there is one.
    virtual std::uint32_t pop() = 0;
};

/// `objects` and `holders` must outlive it; `proxy` is whose order it is.
std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement, const Objects& objects,
                                                   const Holders& holders, std::size_t proxy);

}  // namespace measure
