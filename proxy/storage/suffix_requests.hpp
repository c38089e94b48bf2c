#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>

#include "proxy/storage/fill.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The targets of which clients asked for the last bytes while nothing of them was stored. Only the
/// origin knows where such a range begins, so it answers the request. A repeated one begins a fill
/// of the whole in the background. Fixed memory: one note for each of kPlaces places, where a later
/// target takes the place of an earlier one. Any thread.
class SuffixRequests {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kPlaces = 1024;
    /// Fills of this node at the same time.
    static constexpr std::size_t kMaxFills = 4;
    /// A later request counts as the first one again.
    static constexpr std::chrono::minutes kRemembered{10};
    /// A fill that brought nothing is not begun again for this time.
    static constexpr std::chrono::minutes kPause{2};

    /// Notes a request. True: it is a repeated one, and may begin() a fill.
    bool is_repeated(summary::KeyHash target, Time now) {
        const std::lock_guard lock(access_);
        auto& place = places_[target.low % kPlaces];
        const auto is_first = place.target != target || now - place.at > kRemembered;
        if (is_first) place.not_before = now;
        place.target = target;
        place.at = now;
        return !is_first && now >= place.not_before;
    }
    /// False: as many fills as can be are under way.
    bool begin(summary::KeyHash target, const std::shared_ptr<Fill>& fill, Time now) {
        const std::lock_guard lock(access_);
        const auto seat = std::find_if(fills_.begin(), fills_.end(),
                                       [](const auto& other) { return other.expired(); });
        if (seat == fills_.end()) return false;
        *seat = fill;
        auto& place = places_[target.low % kPlaces];
        if (place.target == target) place.not_before = now + kPause;
        return true;
    }

private:
    struct Place {
        summary::KeyHash target{};
        Time at{}, not_before{};
    };
    std::mutex access_;
    std::array<Place, kPlaces> places_{};
    std::array<std::weak_ptr<Fill>, kMaxFills> fills_;  // expired once nobody writes or reads it
};

}  // namespace proxy
