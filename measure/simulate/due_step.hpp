#pragma once

#include <chrono>
#include <functional>
#include <queue>
#include <vector>

namespace measure {

/// The time of a proxy's next step. Of the proxies that are due together, the lowest number is
/// first.
struct DueStep {
    std::chrono::steady_clock::time_point at;
    unsigned proxy = 0;

    bool operator>(const DueStep& other) const {
        return at != other.at ? at > other.at : proxy > other.proxy;
    }
};

/// The earliest is on top.
using DueQueue = std::priority_queue<DueStep, std::vector<DueStep>, std::greater<>>;

}  // namespace measure
