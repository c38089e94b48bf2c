#pragma once

#include <string>

namespace proxy {

/// Parts of an upstream response's head for the client whose request fetched it. The store leaves
/// them out.
struct LiveFields {
    std::string lines;         // fields named by a qualified no-cache or private
    std::string cache_status;  // the upstream caches' members of Cache-Status, joined
    bool has_age = false;      // an upstream cache answered
};

}  // namespace proxy
