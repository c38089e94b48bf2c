#pragma once

#include <cstdint>

#include "summary/filters/aging_bloom_filter.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Decides whether a missed response is written to the disk: always while the disk has room, and at
/// the second miss within a window from then on. A response that is requested once then costs
/// neither a write nor room. Responses still in memory at their second request bypass the window.
///
/// The window covers kWindow times as many different misses as the disk has objects, at least
/// `least_keys`, and up to twice as many. Memory: 2.2 bytes for each of these misses, so 4.4 bytes
/// for each object on the disk, taken as it is touched. One thread at a time.
class AdmissionFilter {
public:
    /// On some logs, a window of one loses as many hits as a window of two wins.
    static constexpr std::uint64_t kWindow = 2;
    /// A disk has room while one part in so many of it is free.
    static constexpr std::uint64_t kRoomPart = 10;
    /// A wrong "missed before" costs one needless write.
    static constexpr double kError = 0.03;

    explicit AdmissionFilter(std::uint64_t least_keys)
        : seen_({.keys = least_keys, .error = kError}) {}

    /// To be called for every miss of a response that could be written, because it remembers the
    /// key. `has_room` is DiskTier::has_room(). It forgets earlier misses when the number of
    /// objects requires a window of twice the length.
    bool admits(summary::KeyHash key, bool has_room, std::uint64_t objects_on_disk);

private:
    summary::AgingBloomFilter seen_;
};

}  // namespace proxy
