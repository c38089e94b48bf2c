#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Appends the digits of a number, after a minus for a negative one.
void append_number(std::string& out, std::integral auto value, int base = 10) {
    std::array<char, 20> digits;  // enough for 64 bits in base 10
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// A number of digits alone, as Content-Length has it (RFC 9110 §8.6).
inline std::optional<std::uint64_t> parse_number(std::string_view digits) {
    std::uint64_t value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace base
