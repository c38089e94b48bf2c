#pragma once

#include <cstdint>
#include <vector>

#include "summary/key_hash.hpp"

namespace protocol {

/// The tag of all keys that begin with one prefix is a hash of the prefix with this value in its
/// lower 48 bits. So a receiver looks through its keys for those with the tag, which no response
/// has by itself. An ordinary hash has these bits once in 2^48 times.
inline constexpr std::uint64_t kPrefixMark = 0x70'72'65'66'69'78;
inline constexpr std::uint64_t kPrefixMarkBits = 0xffff'ffff'ffff;
inline bool is_prefix_tag(summary::KeyHash tag) {
    return (tag.low & kPrefixMarkBits) == kPrefixMark;
}
inline summary::KeyHash as_prefix_tag(summary::KeyHash hash) {
    return {(hash.low & ~kPrefixMarkBits) | kPrefixMark, hash.high};
}

/// Stored responses that became invalid: those of these keys, and those with these tags. The same
/// value goes from the request or order to this node's store, to its peers, and to their stores.
struct Invalidation {
    std::vector<summary::KeyHash> keys, tags;
    bool all = false;  // everything else that is stored, too; only peers send it, see FORMAT.md

    bool empty() const { return keys.empty() && tags.empty() && !all; }
    Invalidation& operator+=(const Invalidation& more) {
        keys.insert(keys.end(), more.keys.begin(), more.keys.end());
        tags.insert(tags.end(), more.tags.begin(), more.tags.end());
        all = all || more.all;
        return *this;
    }
};

}  // namespace protocol
