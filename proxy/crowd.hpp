#pragma once

#include <algorithm>
#include <cstdint>

namespace proxy {

/// Tells when many connections have ended, so that it is worth the time to give the memory that
/// they took back to the system. One thread.
class Crowd {
public:
    static constexpr std::uint64_t kLeast = 250;

    /// True when of the most that there were, since it was true last, half have gone and no fewer
    /// than kLeast.
    bool has_left(std::uint64_t connections) {
        most_ = std::max(most_, connections);
        const auto gone = most_ - connections;
        if (gone < kLeast || gone < connections) return false;
        most_ = connections;
        return true;
    }

private:
    std::uint64_t most_ = 0;
};

}  // namespace proxy
