#include "proxy/fetch/retry_plan.hpp"

#include <algorithm>

#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {

std::optional<std::chrono::nanoseconds> RetryBudget::failed(FetchError error,
                                                            const std::optional<Time>& not_before,
                                                            Time now) {
    if (failed_ == 0) since_ = now;
    ++failed_;
    if (!may_pass(error) || failed_ >= kMaxTries) return std::nullopt;
    std::chrono::nanoseconds pause = kFirstPause;
    for (unsigned i = 1; i < failed_; ++i) pause *= 4;
    if (not_before) pause = std::max<std::chrono::nanoseconds>(pause, *not_before - now);
    if (now - since_ + pause > kRetryWithin) return std::nullopt;
    return pause;
}

}  // namespace proxy
