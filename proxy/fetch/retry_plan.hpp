#pragma once

#include <chrono>
#include <optional>

#include "proxy/http/fetch_error.hpp"

namespace proxy {

/// The tries for one part of a body on its way to clients, with growing pauses, and the time from
/// the first failure after which there is no other.
inline constexpr unsigned kMaxTries = 4;
inline constexpr std::chrono::milliseconds kFirstPause{50};
inline constexpr std::chrono::seconds kRetryWithin{15};

/// The failed tries for one part of a body. The fetch that requests its rest and the client's
/// request, which begins another fetch after a failure, share one of these, so that their tries do
/// not multiply. One thread; no clock.
class RetryBudget {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Notes a failure. Returns the pause before the next try; none: that was the last.
    /// `not_before`: the origin's Retry-After.
    std::optional<std::chrono::nanoseconds> failed(FetchError error,
                                                   const std::optional<Time>& not_before, Time now);

private:
    unsigned failed_ = 0;
    Time since_;  // the first of them
};

}  // namespace proxy
