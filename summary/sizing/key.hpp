#pragma once

#include <string_view>

#include "summary/sizing/key_hash.hpp"

namespace summary {

/// A cache key as the caller of a look-up gives it: the cluster's hash, and the URI for kinds that
/// hash it in their own way. A view that is valid during the call.
struct Key {
    KeyHash hash;
    std::string_view uri;
};

}  // namespace summary
