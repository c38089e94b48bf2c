#pragma once

#include <cstdint>

#include "proxy/storage/eviction_queue.hpp"

namespace measure {

/// Decides which object of one simulated cache is evicted next. The caller keeps track of the
/// objects in the cache, and calls pop() until a new one fits before it inserts it.
class EvictionOrder {
public:
    virtual ~EvictionOrder() = default;

    /// Adds an object after the request that missed it. Only the orders of a node regard the
    /// sender.
    virtual void insert(std::uint32_t object, proxy::SentBy sender = proxy::SentBy::origin) = 0;
    /// Counts a use. Precondition: the object is in the order.
    virtual void touch(std::uint32_t object) = 0;
    /// Removes and returns the next victim. Precondition: the order has one.
    virtual std::uint32_t pop() = 0;
};

}  // namespace measure
