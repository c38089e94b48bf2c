#pragma once

#include <cstddef>
#include <cstdint>

namespace measure {

/// The output function of SplitMix64 (Steele, Lea, Flood 2014) applied to one number.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// Returns which of `proxies` (at least 1) serves a client. The choice is stable as long as the
/// number of proxies is. The published ideals of the sample traces use the same rule, so figures
/// can be compared.
constexpr std::size_t proxy_of(std::uint64_t client, std::size_t proxies) {
    return splitmix64(client) % proxies;
}

/// A small seeded generator with the same numbers on every machine.
class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        const std::uint64_t out = splitmix64(state_);
        state_ += 0x9E3779B97F4A7C15u;
        return out;
    }
    /// Uniform in [0, bound); `bound` at least 1.
    std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>(static_cast<double>(bound) * unit());
    }
    /// Uniform in [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

}  // namespace measure
