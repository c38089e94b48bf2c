#pragma once

#include <chrono>

#include "proxy/http/vary.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// An announced response stays reusable for more than this at its announcement, by freshness alone.
inline constexpr std::chrono::seconds kAnnounceAtLeast{2};

/// The response is worth an announcement to peers. A response that must be validated, cannot be
/// selected, or is nearly stale would cause a false hit, or a second request.
inline bool is_announceable(const StoredMetadata& response, Arrival::Steady now) {
    return !response.freshness.always_validate && response.vary_names != kVaryAny &&
           time_to_live(response.freshness, response.residence(now)) > kAnnounceAtLeast;
}

}  // namespace proxy
