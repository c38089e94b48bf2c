#pragma once

#include <cstdint>

namespace measure {

/// The disk tier of one simulated proxy: its objects, and the bytes written for them.
class SimulatedDisk {
public:
    virtual ~SimulatedDisk() = default;

    virtual bool has(std::uint32_t object) const = 0;
    /// Counts a request for the object, whichever tier answers. Precondition: has().
    virtual void use(std::uint32_t object) = 0;
    /// Writes an object and evicts others to make room. Preconditions: not has(), at most half the
    /// disk.
    virtual void write(std::uint32_t object) = 0;

    virtual std::uint64_t used_bytes() const = 0;
    virtual std::uint64_t objects() const = 0;
    /// Bytes written so far in addition to write().
    virtual std::uint64_t written_again_bytes() const = 0;
};

}  // namespace measure
