#pragma once

#include <array>
#include <cassert>
#include <cstdint>

/// Rank and select in one word, with instructions that every x86-64 has; std::popcount() would be a
/// call there. Source: Vigna 2008 (broadword).
namespace summary {

namespace detail {

inline constexpr std::uint64_t kEachByte = 0x0101010101010101;

/// The number of ones in each byte.
inline std::uint64_t ones_of_bytes(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

/// The place of the one number i in a byte, at [i][byte]. A loop over the bits would cost more, as
/// its length is unpredictable.
inline constexpr auto kPlaceInByte = [] {
    std::array<std::array<std::uint8_t, 256>, 8> places{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        unsigned index = 0;
        for (unsigned place = 0; place < 8; ++place) {
            if ((byte >> place & 1) != 0) places[index++][byte] = static_cast<std::uint8_t>(place);
        }
    }
    return places;
}();

}  // namespace detail

inline unsigned ones(std::uint64_t word) {
    return static_cast<unsigned>((detail::ones_of_bytes(word) * detail::kEachByte) >> 56);
}

/// The place of the one number `index`, counted from 0. Precondition: index < ones(word).
inline unsigned select_one(std::uint64_t word, unsigned index) {
    assert(index < ones(word));
    using detail::kEachByte;
    const auto up_to = detail::ones_of_bytes(word) * kEachByte;  // byte i: ones in bytes 0 to i
    const auto passed = ((index * kEachByte | kEachByte << 7) - up_to) & kEachByte << 7;
    const auto place = static_cast<unsigned>(((passed >> 7) * kEachByte) >> 56) * 8;
    const auto in_byte = index - static_cast<unsigned>((up_to << 8) >> place & 0xff);
    return place + detail::kPlaceInByte[in_byte][word >> place & 0xff];
}

/// All bits below number `count`, which is at most 64.
inline std::uint64_t low_bits(unsigned count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace summary
