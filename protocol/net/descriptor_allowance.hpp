#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "summary/descriptor.hpp"

namespace protocol {

/// A filling cache changes its descriptor once per half octave of objects; a whole fill from
/// nothing to a hundred million is 34 times.
inline constexpr unsigned kDescriptorsAtOnce = 60;
inline constexpr auto kDescriptorEvery = std::chrono::seconds(2);  // 30 a minute

/// How often a peer may change the descriptor of its summary, over all its connections: each change
/// is a new table over all peers. Reads no clock.
class DescriptorAllowance {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// False when it has changed it too often; nothing is counted then.
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
    TimePoint since_;  // of the last one gained
};

}  // namespace protocol
