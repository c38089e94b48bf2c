#pragma once

#include <vector>

#include "summary/key_hash.hpp"

namespace protocol {

/// Stored responses that no longer count: those of these keys and those with these tags. One value
/// on all its way: from the request or order that makes it to this node's store, to its peers, and
/// to theirs.
struct Invalidation {
    std::vector<summary::KeyHash> keys, tags;
    bool all = false;  // nor does anything else that is stored; peers say so, see FORMAT.md

    bool empty() const { return keys.empty() && tags.empty() && !all; }
    Invalidation& operator+=(const Invalidation& more) {
        keys.insert(keys.end(), more.keys.begin(), more.keys.end());
        tags.insert(tags.end(), more.tags.begin(), more.tags.end());
        all = all || more.all;
        return *this;
    }
};

}  // namespace protocol
