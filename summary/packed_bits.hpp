#pragma once

#include <cstdint>

#include "summary/rank_select.hpp"
#include "summary/shared_words.hpp"
#include "summary/words.hpp"

/// Numbers of a few bits each, packed into words that others may read meanwhile (shared_words.hpp).
/// Bits beside those that change keep their values, as their readers are not warned. All take
/// words with one to spare behind the last bit.
namespace summary {

/// Bits [at, at + 64), whatever they are.
inline std::uint64_t window(const Words& words, std::uint64_t at) {
    const auto* const there = words.data() + at / 64;
    const auto shift = at % 64;
    return shared_load(there[0]) >> shift | shared_load(there[1]) << 1 << (63 - shift);
}

/// Bits [at, at + size) become these. Preconditions: size <= 32, bits < 2^size.
void put_bits(Words& words, std::uint64_t at, unsigned size, std::uint64_t bits);

/// Bits [from, to) move up by `size`, and these come before them. Preconditions: from <= to,
/// 1 <= size <= 32, bits < 2^size.
void insert_bits(Words& words, std::uint64_t from, std::uint64_t to, unsigned size,
                 std::uint64_t bits);
/// Bits [from, from + size) go, and those up to `to` move down. Preconditions: from + size <= to,
/// 1 <= size <= 32.
void remove_bits(Words& words, std::uint64_t from, std::uint64_t to, unsigned size);

/// The same of one bit, for less when few move: nothing waits for how many.
void insert_bit(Words& words, std::uint64_t from, std::uint64_t to, bool bit);
/// So too. What bit to - 1 is then is not said.
void remove_bit(Words& words, std::uint64_t from, std::uint64_t to);

/// Bits [from, to) to [from + by, to + by).
void move_bits_up(Words& words, std::uint64_t from, std::uint64_t to, std::uint64_t by);
/// Bits [from, to) to [from - by, to - by).
void move_bits_down(Words& words, std::uint64_t from, std::uint64_t to, std::uint64_t by);

}  // namespace summary
