#pragma once

#include <cstdint>

namespace measure {

/// Which object of one simulated cache goes next. Objects are in it or not; who asks keeps track,
/// and takes out what must go before it inserts.
class EvictionOrder {
public:
    virtual ~EvictionOrder() = default;

    /// It is stored, by the request that missed it.
    virtual void insert(std::uint32_t object) = 0;
    /// It is used. Precondition: it is in.
    virtual void touch(std::uint32_t object) = 0;
    /// Takes the next one out. Precondition: there is one.
    virtual std::uint32_t pop() = 0;
};

}  // namespace measure
