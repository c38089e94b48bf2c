#pragma once

#include <string>

namespace proxy {

/// What came with an answer for the request that fetched it alone, and is not stored.
struct LiveFields {
    std::string lines;         // fields that a qualified no-cache or private withholds from others
    std::string cache_status;  // members of the caches before us, joined
    bool has_age = false;      // it came out of a cache
};

}  // namespace proxy
