#pragma once

#include <string>

namespace proxy {

/// Parts of an upstream answer's head that are passed on to the client whose request fetched it,
/// and to no other: they are not stored.
struct LiveFields {
    std::string lines;         // fields named by a qualified no-cache or private
    std::string cache_status;  // the upstream caches' members of Cache-Status, joined
    bool has_age = false;      // an upstream cache answered
};

}  // namespace proxy
