#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

/// The hash of the worked examples (lecture notes on membership filters): MurmurHash3 x86_32
/// (Austin Appleby, public domain algorithm) with seed 42; a text is hashed between two single
/// quotes, a number as four bytes, little endian.
namespace summary::test {

inline std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
    const auto mixed = [](std::uint32_t word) {
        return std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
    };
    auto hash = seed;
    std::size_t at = 0;
    for (; at + 4 <= bytes.size(); at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes.data() + at, 4);
        hash = std::rotl(hash ^ mixed(word), 13) * 5 + 0xe6546b64U;
    }
    std::uint32_t tail = 0;
    std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
    if (at < bytes.size()) hash ^= mixed(tail);
    hash ^= static_cast<std::uint32_t>(bytes.size());
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

inline std::uint32_t notes_hash(std::string_view text) {
    return murmur3("'" + std::string(text) + "'", 42);
}
inline std::uint32_t notes_hash(std::uint32_t number) {
    char bytes[4];
    std::memcpy(bytes, &number, 4);
    return murmur3({bytes, 4}, 42);
}

}  // namespace summary::test
