#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
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

/// The text with each escape as its byte; nullopt for a `%` that begins none.
inline std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = escaped_byte(text.substr(i));
        if (text[i] == '%' && !byte) return std::nullopt;
        out.push_back(byte.value_or(text[i]));
        if (byte) i += 2;
    }
    return out;
}

/// An unreserved character (RFC 3986 §2.3): it means the same as its escape.
inline bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace proxy
