#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/upstream/round_trip.hpp"

namespace proxy {

/// What a question to a peer was worth in time, as far as the origin's is known. Neither is
/// negative.
struct TimeWon {
    std::chrono::nanoseconds saved{0}, lost{0};

    bool operator==(const TimeWon&) const = default;
};

/// The head came `took` after the question. `of_use`: it was the answer. `alone`: for so long
/// nobody else was asked, so that the question was what the client waited for. The body is not
/// looked at.
inline TimeWon time_won(bool of_use, std::chrono::nanoseconds took, std::chrono::nanoseconds alone,
                        const RoundTrip& origin) {
    if (!of_use) return {{}, std::min(took, alone)};
    if (!origin.known()) return {};
    const auto sooner = origin.mean() - took;
    const auto none = std::chrono::nanoseconds(0);
    return {std::max(sooner, none), std::max(-sooner, none)};
}

}  // namespace proxy
