#pragma once

#include <string_view>

#include "summary/key_hash.hpp"

namespace summary {

/// A cache key as summaries are asked for it: the cluster's hash, and the URI itself for kinds that
/// hash it in their own way. A view, good for the call it is given to.
struct Key {
    KeyHash hash;
    std::string_view uri;
};

}  // namespace summary
