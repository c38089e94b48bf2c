#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"
#include "protocol/wire/frame.hpp"
#include "protocol/wire/keys.hpp"
#include "tests/summary/bloom.hpp"

namespace protocol::test {

using summary::test::bloom;

/// The name of a cluster key.
inline KeyId key_id(std::string_view cluster_key) {
    return KeyRing({std::string(cluster_key)}).ids().front();
}

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

inline std::string hex(ByteView bytes) {
    std::string digits;
    for (const auto byte : bytes) {
        const auto value = std::to_integer<unsigned>(byte);
        digits += "0123456789abcdef"[value >> 4];
        digits += "0123456789abcdef"[value & 15];
    }
    return digits;
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

inline Bytes sealed(const HelloMessage& message) {
    Bytes bytes;
    seal_hello(message, bytes);
    return bytes;
}

inline Bytes sealed(Sealer& sealer, const Message& message) {
    Bytes bytes;
    sealer.seal(message, bytes);
    return bytes;
}

/// A frame as the buffer hands it out.
inline ByteView without_length(const Bytes& frame) {
    return ByteView(frame).subspan(kLengthBytes);
}

inline Bytes with_byte(Bytes bytes, std::size_t index, unsigned value) {
    bytes.at(index) = static_cast<std::byte>(value);
    return bytes;
}

}  // namespace protocol::test
