#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "summary/coding/descriptor.hpp"

namespace protocol {

/// A growing cache changes its descriptor once per half octave of objects, or 34 times from nothing
/// to a hundred million.
inline constexpr unsigned kDescriptorsAtOnce = 60;
inline constexpr auto kDescriptorEvery = std::chrono::seconds(2);  // 30 a minute

/// Limits how often a peer changes the descriptor of its summary, over all its connections, as each
/// change means a new table over all peers. Reads no clock.
class DescriptorAllowance {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// Returns false, and counts nothing, when the peer has changed it too often.
    bool take(const summary::Descriptor& descriptor, TimePoint now) {
        if (descriptor == last_) return true;
        if (left_ < kDescriptorsAtOnce) {
            const auto gained = (now - since_) / kDescriptorEvery;
            left_ = static_cast<unsigned>(std::min<std::int64_t>(
                kDescriptorsAtOnce, left_ + std::max<std::int64_t>(gained, 0)));
            since_ += gained * kDescriptorEvery;
        }
        if (left_ == 0) return false;
        if (left_-- == kDescriptorsAtOnce) since_ = now;
        last_ = descriptor;
        return true;
    }

private:
    summary::Descriptor last_;
    unsigned left_ = kDescriptorsAtOnce;
    TimePoint since_;  // of the last change regained
};

}  // namespace protocol
