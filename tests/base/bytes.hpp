#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace base::test {

using Bytes = std::vector<std::byte>;

/// Hex digits -> bytes; blanks between them are ignored.
inline Bytes unhex(std::string_view digits) {
    Bytes bytes;
    unsigned value = 0;
    bool second = false;
    for (const char digit : digits) {
        if (digit == ' ' || digit == '\n') continue;
        value = value << 4 | static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        if (second) bytes.push_back(static_cast<std::byte>(value & 255));
        second = !second;
    }
    return bytes;
}

/// Field of `Array`'s size, all bytes alike.
template <typename Array>
Array filled(unsigned value) {
    Array array;
    array.fill(static_cast<std::byte>(value));
    return array;
}

/// Field of `Array`'s size that counts up from `first`.
template <typename Array>
Array counting(unsigned first) {
    Array array;
    for (auto& byte : array) byte = static_cast<std::byte>(first++);
    return array;
}

}  // namespace base::test
