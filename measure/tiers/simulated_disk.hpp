#pragma once

#include <cstdint>

namespace measure {

/// The disk tier of one simulated proxy: what it holds, and what it wrote for that.
class SimulatedDisk {
public:
    virtual ~SimulatedDisk() = default;

    virtual bool has(std::uint32_t object) const = 0;
    /// It is asked for, whichever tier answers. Precondition: has().
    virtual void use(std::uint32_t object) = 0;
    /// Whatever has to go for it goes. Preconditions: not has(), of at most half the disk.
    virtual void write(std::uint32_t object) = 0;

    virtual std::uint64_t used_bytes() const = 0;
    virtual std::uint64_t objects() const = 0;
    /// So far, beside what was asked for by write().
    virtual std::uint64_t written_again_bytes() const = 0;
};

}  // namespace measure
