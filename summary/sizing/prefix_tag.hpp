#pragma once

#include <cstdint>

#include "summary/sizing/key_hash.hpp"

namespace summary {

/// The tag of all keys that begin with one prefix is a hash of the prefix with this value in its
/// lower 48 bits. So a receiver looks through its keys for those with the tag, which no response
/// has by itself. An ordinary hash has these bits once in 2^48 times.
inline constexpr std::uint64_t kPrefixMark = 0x70'72'65'66'69'78;
inline constexpr std::uint64_t kPrefixMarkBits = 0xffff'ffff'ffff;
inline bool is_prefix_tag(KeyHash tag) {
    return (tag.low & kPrefixMarkBits) == kPrefixMark;
}
inline KeyHash as_prefix_tag(KeyHash hash) {
    return {(hash.low & ~kPrefixMarkBits) | kPrefixMark, hash.high};
}

}  // namespace summary
