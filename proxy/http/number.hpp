#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>

namespace proxy {

/// Appends the digits of a number, after a minus for a negative one.
void append_number(std::string& out, std::integral auto value, int base = 10) {
    std::array<char, 20> digits;  // enough for 64 bits in base 10
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), end);
}

}  // namespace proxy
