#pragma once

#include <cstdint>
#include <ostream>  // for <boost/beast/http/verb.hpp>
#include <string_view>

#include "proxy/http/cache_key.hpp"

namespace measure {

/// The body that the built-in origin gives for a URL: a 64-bit hash of the URL in hex, then
/// printable text that begins at a place chosen by the hash. Any part is available directly, so
/// origin and verification stay cheap. The period is prime: blocks of a power of two in the wrong
/// order change the text. An immutable value.
class OriginBody {
public:
    /// `key` is the target URI as caches identify it. A fragment is ignored, since clients keep it
    /// to themselves.
    static OriginBody of(const proxy::CacheKey& key);
    explicit OriginBody(std::uint64_t hash);

    std::uint64_t hash() const { return hash_; }
    /// Returns contiguous content from `offset` on: at least one byte, at most one piece. The view
    /// points into static memory, or into this object for offsets below 16.
    std::string_view piece(std::uint64_t offset) const;
    /// Returns true if `data` equals the body at `offset`.
    bool matches(std::uint64_t offset, std::string_view data) const;

private:
    static constexpr std::size_t kHexBytes = 16;
    std::uint64_t hash_;
    char hex_[kHexBytes];
};

}  // namespace measure
