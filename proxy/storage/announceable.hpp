#pragma once

#include <chrono>

#include "proxy/http/vary.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// An announced response stays reusable for more than this at its announcement, by freshness alone.
inline constexpr std::chrono::seconds kAnnounceAtLeast{2};

/// The response is worth an announcement to peers. A response that must be validated, cannot be
/// selected, or is nearly stale would cause a false hit, or a second request. A response that the
/// origin confirms for each client is announced: a peer needs only its body.
inline bool is_announceable(const StoredMetadata& response, Arrival::Steady now) {
    const auto& freshness = response.freshness;
    return (!freshness.always_validate || freshness.each_client) &&
           response.vary_names != kVaryAny &&
           time_to_live(freshness, response.residence(now)) > kAnnounceAtLeast;
}

}  // namespace proxy
