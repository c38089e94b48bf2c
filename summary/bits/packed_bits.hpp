#pragma once

#include <cstdint>

#include "summary/bits/rank_select.hpp"
#include "summary/bits/shared_words.hpp"
#include "summary/bits/words.hpp"

/// Numbers of a few bits each, packed into words that readers may read at the same time
/// (shared_words.hpp). Neighbouring bits keep their values, as their readers get no warning. All
/// functions need one spare word behind the last bit.
namespace summary {

/// Returns bits [at, at + 64).
inline std::uint64_t window(const Words& words, std::uint64_t at) {
    const auto* const there = words.data() + at / 64;
    const auto shift = at % 64;
    return shared_load(there[0]) >> shift | shared_load(there[1]) << 1 << (63 - shift);
}

/// Sets bits [at, at + size) to `bits`. Preconditions: size <= 32, bits < 2^size.
void put_bits(Words& words, std::uint64_t at, unsigned size, std::uint64_t bits);

/// Moves bits [from, to) up by `size`, and puts `bits` before them. Preconditions: from <= to, 1 <=
/// size <= 32, bits < 2^size.
void insert_bits(Words& words, std::uint64_t from, std::uint64_t to, unsigned size,
                 std::uint64_t bits);
/// Removes bits [from, from + size), and moves the bits up to `to` down. Preconditions: from + size
/// <= to, 1 <= size <= 32.
void remove_bits(Words& words, std::uint64_t from, std::uint64_t to, unsigned size);

/// Inserts one bit. Cheaper when few bits move, since the number of bits is never waited for.
void insert_bit(Words& words, std::uint64_t from, std::uint64_t to, bool bit);
/// Removes one bit, equally cheap. Bit to - 1 is undefined afterwards.
void remove_bit(Words& words, std::uint64_t from, std::uint64_t to);

/// Moves bits [from, to) to [from + by, to + by).
void move_bits_up(Words& words, std::uint64_t from, std::uint64_t to, std::uint64_t by);
/// Moves bits [from, to) to [from - by, to - by).
void move_bits_down(Words& words, std::uint64_t from, std::uint64_t to, std::uint64_t by);

}  // namespace summary
