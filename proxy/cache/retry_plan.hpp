#pragma once

#include <chrono>
#include <optional>

#include "proxy/http/fetch_error.hpp"

namespace proxy {

/// A part of a body that is on its way to clients is asked for so often in all, each time after a
/// longer pause, and not again when so long has passed since it first failed.
inline constexpr unsigned kMaxTries = 4;
inline constexpr std::chrono::milliseconds kFirstPause{50};
inline constexpr std::chrono::seconds kRetryWithin{15};

/// The tries that have failed of one part of a body, whoever made them: the fetch that asks for
/// what is missing of it, and the answer to the client, which begins another fetch when that one
/// fails. They share one of these, so that the tries of one do not multiply those of the other. One
/// thread; no clock.
class Tries {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// One has failed. How long to wait before the next; none: that was the last. `not_before`: the
    /// origin has said that it is not to be asked again until then.
    std::optional<std::chrono::nanoseconds> failed(FetchError error,
                                                   const std::optional<Time>& not_before, Time now);

private:
    unsigned failed_ = 0;
    Time since_;  // the first of them
};

}  // namespace proxy
