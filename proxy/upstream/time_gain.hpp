#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/upstream/round_trip.hpp"

namespace proxy {

/// The gain or loss of a peer request in time, as far as the origin's time is known. Neither is
/// negative.
struct TimeGain {
    std::chrono::nanoseconds saved{0}, lost{0};

    bool operator==(const TimeGain&) const = default;
};

/// The head came `took` after the request. `of_use`: it was the result. `alone`: for this long no
/// other request was under way, so the client waited for this one. The time of the body does not
/// count.
inline TimeGain time_won(bool of_use, std::chrono::nanoseconds took, std::chrono::nanoseconds alone,
                         const RoundTrip& origin) {
    if (!of_use) return {{}, std::min(took, alone)};
    if (!origin.known()) return {};
    const auto sooner = origin.mean() - took;
    const auto none = std::chrono::nanoseconds(0);
    return {std::max(sooner, none), std::max(-sooner, none)};
}

}  // namespace proxy
