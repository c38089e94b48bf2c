#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "summary/descriptor.hpp"

namespace protocol {

/// A filling cache changes its shape once per half octave of objects; a whole fill from nothing to
/// a hundred million is 34 times.
inline constexpr unsigned kShapesAtOnce = 60;
inline constexpr auto kShapeEvery = std::chrono::seconds(2);  // 30 a minute

/// How often a peer may change the shape of its summary, as its descriptor says it, over all its
/// connections: each change is a new table over all peers. Reads no clock.
class ShapeAllowance {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// False when it has changed it too often; nothing is counted then.
    bool take(const summary::Descriptor& shape, TimePoint now) {
        if (shape == last_) return true;
        if (left_ < kShapesAtOnce) {
            const auto gained = (now - since_) / kShapeEvery;
            left_ = static_cast<unsigned>(
                std::min<std::int64_t>(kShapesAtOnce, left_ + std::max<std::int64_t>(gained, 0)));
            since_ += gained * kShapeEvery;
        }
        if (left_ == 0) return false;
        if (left_-- == kShapesAtOnce) since_ = now;
        last_ = shape;
        return true;
    }

private:
    summary::Descriptor last_;
    unsigned left_ = kShapesAtOnce;
    TimePoint since_;  // of the last one gained
};

}  // namespace protocol
