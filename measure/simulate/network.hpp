#pragma once

#include <algorithm>
#include <chrono>

#include "measure/simulate/simulation_config.hpp"
#include "measure/trace/splitmix.hpp"

namespace measure {

/// The network between the proxies, at each moment of virtual time.
class SimulatedLines {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::nanoseconds;

    SimulatedLines(const SimulatedNetwork& network, std::uint64_t seed, TimePoint start)
        : network_(network), random_(seed), start_(start) {}

    /// Delay of one way, drawn anew each time.
    Duration delay() {
        if (network_.jitter.count() == 0) return network_.delay;
        const auto most = Duration(network_.jitter).count();
        return network_.delay + Duration(random_.below(static_cast<std::uint64_t>(most) + 1));
    }
    Duration round_trip() { return delay() + delay(); }
    bool drops() { return network_.dropped > 0 && random_.unit() < network_.dropped; }

    /// Returns the first time from `now` on at which two proxies can reach each other.
    TimePoint reachable_from(std::size_t one, std::size_t other, TimePoint now) const {
        for (bool moved = true; moved;) {
            moved = false;
            for (const auto& cut : network_.partitions) {
                if (!separates(cut, one, other, now)) continue;
                now = start_ + cut.until;
                moved = true;
            }
        }
        return now;
    }
    /// Returns true if two proxies can reach each other at `now`.
    bool reaches(std::size_t one, std::size_t other, TimePoint now) const {
        return std::none_of(network_.partitions.begin(), network_.partitions.end(),
                            [&](const auto& cut) { return separates(cut, one, other, now); });
    }

private:
    bool separates(const SimulatedNetwork::Partition& cut, std::size_t one, std::size_t other,
                   TimePoint now) const {
        return (one < cut.proxies) != (other < cut.proxies) && now >= start_ + cut.from &&
               now < start_ + cut.until;
    }

    const SimulatedNetwork& network_;
    SplitMix random_;
    const TimePoint start_;
};

}  // namespace measure
