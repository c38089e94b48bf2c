#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "proxy/storage/fill.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// The result of a look-up in the store.
struct FoundResponse {
    std::shared_ptr<const StoredResponse> response;  // complete, matches the request; maybe stale
    std::shared_ptr<Fill> fill;       // in progress for this URI and requests like this one
    bool other_variants = false;      // the URI has responses, but none for this request
    bool on_disk = false;             // no response, but the disk may have one: see recall()
    bool unshareable = false;         // hit-for-miss; never together with a fresh response
    std::uint64_t invalidations = 0;  // the count at the look-up, for a FillLease
    std::chrono::steady_clock::time_point at{};  // the `now` of find()
};

}  // namespace proxy
