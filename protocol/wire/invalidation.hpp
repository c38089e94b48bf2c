#pragma once

#include <cstdint>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace protocol {

/// Stored responses that became invalid: those of these keys, and those with these tags. The same
/// value goes from the request or order to this node's store, to its peers, and to their stores.
struct Invalidation {
    std::vector<summary::KeyHash> keys, tags;
    bool all = false;   // everything else that is stored, too; only peers send it, see FORMAT.md
    bool soft = false;  // they become stale in place of ending, where a node can do so

    bool operator==(const Invalidation&) const = default;
    bool empty() const { return keys.empty() && tags.empty() && !all; }
    /// Precondition: `more` is as soft.
    Invalidation& operator+=(const Invalidation& more) {
        keys.insert(keys.end(), more.keys.begin(), more.keys.end());
        tags.insert(tags.end(), more.tags.begin(), more.tags.end());
        all = all || more.all;
        return *this;
    }
};

}  // namespace protocol
