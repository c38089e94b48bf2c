#pragma once

#include <cstdint>
#include <ostream>  // what verb.hpp below needs
#include <string_view>

#include "proxy/http/cache_key.hpp"

namespace measure {

/// The body that the built-in origin gives for a URL: a 64-bit hash of the URL in hex, then
/// printable text that begins at a place the hash chooses. Any part is at hand without copying or
/// computing, so neither origin nor verification costs much. Its period is prime, so that blocks of
/// a power of two put together in the wrong order do not fit. Immutable, a value.
class Body {
public:
    /// `key` is the target URI as caches identify it; a fragment, which is never sent on, does not
    /// count.
    static Body of(const proxy::CacheKey& key);
    explicit Body(std::uint64_t hash);

    std::uint64_t hash() const { return hash_; }
    /// Contiguous content from `offset` on: at least one byte, as much as is at hand. Views into
    /// static memory, or into this object for offsets below 16.
    std::string_view piece(std::uint64_t offset) const;
    /// Is `data` what stands at `offset`?
    bool matches(std::uint64_t offset, std::string_view data) const;

private:
    static constexpr std::size_t kHexBytes = 16;
    std::uint64_t hash_;
    char hex_[kHexBytes];
};

}  // namespace measure
