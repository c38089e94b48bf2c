#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/range.hpp"

namespace proxy {

/// A body that is stored in blocks: a large one, or one that clients requested in parts. The entry
/// of the target is an *index*, a head alone. Each block of the body is an entry of its own, under
/// a key that names target, version (strong validator and form, see BodyVersion) and range. So
/// blocks of two versions stay apart (RFC 9111 §3.4). The index has the freshness of its blocks.
struct Blocks {
    std::uint64_t length = 0;  // of the complete body
    std::uint64_t block_bytes = 0;

    /// The block with this position.
    static ByteRange aligned(std::uint64_t offset, std::uint64_t block_bytes) {
        const auto first = offset - offset % block_bytes;
        return {first, first + block_bytes - 1};
    }
    ByteRange at(std::uint64_t offset) const {
        auto range = aligned(offset, block_bytes);
        range.last = std::min(range.last, length - 1);
        return range;
    }
    /// The number of blocks with bytes of `range`.
    std::uint64_t touched_by(const ByteRange& range) const {
        return range.last / block_bytes - range.first / block_bytes + 1;
    }
    /// The `i`th of `parts` parts of `range`, counted from 0. Parts begin at blocks and have about
    /// equally many. Together they are the range. At most touched_by(range) parts.
    ByteRange part_of(const ByteRange& range, std::uint64_t parts, std::uint64_t i) const {
        const auto first = range.first / block_bytes, count = touched_by(range);
        const auto begin = [&](std::uint64_t n) {
            return (first + n * count / parts) * block_bytes;
        };
        return {std::max(range.first, begin(i)), std::min(range.last, begin(i + 1) - 1)};
    }
};

/// The common prefix of the keys of all blocks of a version, apart from a space.
inline std::string version_key(std::string_view uri, std::string_view etag, std::string_view form) {
    std::string key;
    key.reserve(uri.size() + etag.size() + form.size() + 40);
    return key.append(uri).append(" ").append(etag).append(" ").append(form);
}

/// Identifies the responses that bring a version in blocks of this size. A reload may change the
/// size.
inline std::string flow_key(std::string_view uri, std::string_view etag, std::string_view form,
                            std::uint64_t block_bytes) {
    return version_key(uri, etag, form).append(" ").append(std::to_string(block_bytes));
}

/// The key of one block; `etag` and `form` as in BodyVersion. A space makes it different from every
/// URI, and ends the target in it.
inline std::string block_key(std::string_view uri, std::string_view etag, std::string_view form,
                             const ByteRange& range) {
    auto key = version_key(uri, etag, form).append(" ");
    return key.append(std::to_string(range.first)).append("-").append(std::to_string(range.last));
}

/// The URI of the body, if this is the key of a block.
inline std::optional<std::string_view> target_of_block(std::string_view key) {
    const auto space = key.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    return key.substr(0, space);
}

}  // namespace proxy
