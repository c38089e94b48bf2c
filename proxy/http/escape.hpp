#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace proxy {

/// The byte for which `%xx` at the start of `text` stands (RFC 3986 §2.1); nullopt: no such escape
/// is there.
inline std::optional<char> escaped_byte(std::string_view text) {
    if (text.size() < 3 || text.front() != '%') return std::nullopt;
    unsigned char byte = 0;
    const auto* const end = text.data() + 3;
    if (std::from_chars(text.data() + 1, end, byte, 16).ptr != end) return std::nullopt;
    return static_cast<char>(byte);
}

}  // namespace proxy
