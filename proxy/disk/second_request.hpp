#pragma once

#include <cstdint>

#include "summary/aging_bloom_filter.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Whether what was missed is written to the disk: all while there is room, then what was missed
/// before within a window. So what is asked for once takes no write and no room. What memory still
/// has when it is asked for again needs no window: it is to be written at once.
///
/// The window is kWindow times as many different misses as objects are on the disk, `least_keys` at
/// least, and up to twice as long. Memory: 2.2 bytes for each of these, so 4.4 for each object on
/// the disk, taken as it is touched. One thread at a time.
class SecondRequest {
public:
    /// With a window of one, as many hits are lost on some logs as with two are won.
    static constexpr std::uint64_t kWindow = 2;
    /// A disk has room while one part in so many of it is free.
    static constexpr std::uint64_t kRoomPart = 10;
    /// A wrong "before" is one write in vain.
    static constexpr double kError = 0.03;

    explicit SecondRequest(std::uint64_t least_keys)
        : seen_({.keys = least_keys, .error = kError}) {}

    /// To be called for every miss that could be written, as it remembers it. `has_room`: of the
    /// disk, see DiskTier::has_room(). Once there are so many more objects that the window has to
    /// be twice as long, what was missed before that is forgotten.
    bool admits(summary::KeyHash key, bool has_room, std::uint64_t objects_on_disk);

    std::uint64_t window() const { return seen_.capacity(); }
    std::uint64_t memory_bytes() const { return seen_.memory_bytes(); }

private:
    summary::AgingBloomFilter seen_;
};

}  // namespace proxy
