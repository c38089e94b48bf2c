#pragma once

#include <chrono>

#include "proxy/http/vary.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// What stands in the summary is reusable without validation for more than this when announced.
inline constexpr std::chrono::seconds kAnnounceAtLeast{2};

/// Is it worth telling peers that this is stored? What has to be validated, cannot be selected, or
/// is as good as stale would be a false hit, or one that costs its asker two questions.
inline bool is_announceable(const StoredMetadata& response, Arrival::Steady now) {
    return !response.freshness.always_validate && response.vary_names != kVaryAny &&
           time_to_live(response.freshness, response.residence(now)) > kAnnounceAtLeast;
}

}  // namespace proxy
