#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/range.hpp"

namespace proxy {

/// How a body is stored that does not stand in the store whole: large ones, and those of which only
/// parts were asked for. The object at the target's own key is an *index*, head without body; each
/// block of the body is an object of its own, under a key that names target, version (strong
/// validator and form, see BodyVersion) and range. So blocks of two versions never meet (RFC 9111
/// §3.4), and a block needs no freshness: the index has it.
struct Blocks {
    std::uint64_t length = 0;  // of the whole body
    std::uint64_t block_bytes = 0;

    /// The block that holds this position.
    static ByteRange aligned(std::uint64_t offset, std::uint64_t block_bytes) {
        const auto first = offset - offset % block_bytes;
        return {first, first + block_bytes - 1};
    }
    ByteRange at(std::uint64_t offset) const {
        auto range = aligned(offset, block_bytes);
        range.last = std::min(range.last, length - 1);
        return range;
    }
    /// So many blocks have bytes of `range`.
    std::uint64_t touched_by(const ByteRange& range) const {
        return range.last / block_bytes - range.first / block_bytes + 1;
    }
    /// `range` cut between blocks into `parts`, each about equally many blocks long: the `i`th from
    /// 0 on. At most touched_by(range) parts; together they are the range.
    ByteRange part_of(const ByteRange& range, std::uint64_t parts, std::uint64_t i) const {
        const auto first = range.first / block_bytes, count = touched_by(range);
        const auto begin = [&](std::uint64_t n) {
            return (first + n * count / parts) * block_bytes;
        };
        return {std::max(range.first, begin(i)), std::min(range.last, begin(i + 1) - 1)};
    }
};

/// What the keys of all blocks of one version begin with, but for a space.
inline std::string version_key(std::string_view uri, std::string_view etag, std::string_view form) {
    std::string key;
    key.reserve(uri.size() + etag.size() + form.size() + 40);
    return key.append(uri).append(" ").append(etag).append(" ").append(form);
}

/// The key of one block; `etag`, `form`: as in BodyVersion. A space keeps it apart from every URI,
/// and its target from the rest.
inline std::string block_key(std::string_view uri, std::string_view etag, std::string_view form,
                             const ByteRange& range) {
    auto key = version_key(uri, etag, form).append(" ");
    return key.append(std::to_string(range.first)).append("-").append(std::to_string(range.last));
}

/// Of which URI this is the key of a block; none when it is a URI itself.
inline std::optional<std::string_view> target_of_block(std::string_view key) {
    const auto space = key.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    return key.substr(0, space);
}

}  // namespace proxy
