#pragma once

#include <string>
#include <vector>

namespace app {

/// A smaller difference of two clocks may be the way of the message that told it.
inline constexpr double kClocksApart = 2;  // seconds

/// How far the clock of a peer is ahead of that of the asked node; negative: behind.
struct PeerClock {
    std::string node;
    double ahead_seconds = 0;
};

/// One sentence for each clock that is wrong, such as "the clock of b is 60 m ahead of that of a".
/// Where `self` differs alike from all of several peers, its own clock is the wrong one. Empty: no
/// clocks are further apart than kClocksApart. The dashboard judges alike (problems.js).
std::vector<std::string> clock_words(const std::string& self, const std::vector<PeerClock>& peers);

}  // namespace app
