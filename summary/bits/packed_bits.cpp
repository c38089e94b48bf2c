#include "summary/bits/packed_bits.hpp"

namespace summary {

namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t low(Wide wide) {
    return static_cast<std::uint64_t>(wide);
}

std::uint64_t high(Wide wide) {
    return static_cast<std::uint64_t>(wide >> 64);
}

/// Merges the edge of a move: the neighbouring bits belong to others, whose readers get no warning.
void merge(std::uint64_t& word, std::uint64_t bits, std::uint64_t mask) {
    shared_store(word, (word & ~mask) | (bits & mask));
}

}  // namespace

void put_bits(Words& words, std::uint64_t at, unsigned size, std::uint64_t bits) {
    const auto shift = static_cast<unsigned>(at % 64);
    auto& word = words[at / 64];
    shared_store(word, (word & ~(low_bits(size) << shift)) | bits << shift);
    if (shift + size <= 64) return;
    auto& next = words[at / 64 + 1];
    const auto more = 64 - shift;
    shared_store(next, (next & ~(low_bits(size) >> more)) | bits >> more);
}

/// Low words first, each with the bits that the word before has lost. A product by a power of two
/// gives both the kept and the lost bits, at a lower cost than two shifts by a variable.
void insert_bits(Words& all, std::uint64_t from, std::uint64_t to, unsigned size,
                 std::uint64_t bits) {
    auto* word = all.data() + from / 64;
    auto* const last = all.data() + (to + size - 1) / 64;
    const auto shift = from % 64;
    const auto below = *word & ((std::uint64_t{1} << shift) - 1);
    const auto up = std::uint64_t{1} << size;
    const auto first = Wide{*word ^ below} * up;
    auto moved = low(first) | bits << shift | below;
    auto lost = high(first) | bits >> 1 >> (63 - shift);
    while (word != last) {
        shared_store(*word, moved);
        const auto next = Wide{*++word} * up;
        moved = low(next) | lost;
        lost = high(next);
    }
    merge(*word, moved, ~std::uint64_t{0} >> (63 - (to + size - 1) % 64));
}

/// Low words first, each with the bits of the next one.
void remove_bits(Words& all, std::uint64_t from, std::uint64_t to, unsigned size) {
    if (from + size == to) return;
    auto* word = all.data() + from / 64;
    auto* const last = all.data() + (to - size - 1) / 64;
    const auto down = std::uint64_t{1} << (64 - size);
    const auto below = (std::uint64_t{1} << from % 64) - 1;
    auto keeps = (high(Wide{*word} * down) & ~below) | (*word & below);
    auto next = Wide{word[1]} * down;
    auto moved = keeps | (low(next) & ~below);
    while (word != last) {
        shared_store(*word, moved);
        ++word;
        keeps = high(next);
        next = Wide{word[1]} * down;
        moved = keeps | low(next);
    }
    merge(*word, moved, ~std::uint64_t{0} >> (63 - (to - size - 1) % 64));
}

void insert_bit(Words& all, std::uint64_t from, std::uint64_t to, bool bit) {
    if (to / 64 > from / 64 + 1) return insert_bits(all, from, to, 1, bit ? 1 : 0);
    auto* const words = all.data() + from / 64;
    const auto shift = from % 64;
    const auto first = words[0];
    const auto below = first & ((std::uint64_t{1} << shift) - 1);
    const auto in_last = ~std::uint64_t{0} >> (63 - to % 64);
    const bool one = to / 64 == from / 64;
    merge(words[0], below | std::uint64_t{bit} << shift | (first ^ below) << 1,
          one ? in_last : ~std::uint64_t{0});
    merge(words[1], words[1] << 1 | first >> 63, one ? 0 : in_last);
}

void remove_bit(Words& all, std::uint64_t from, std::uint64_t to) {
    const auto end = to - 1;
    if (end / 64 > from / 64 + 1) return remove_bits(all, from, to, 1);
    auto* const words = all.data() + from / 64;
    const auto from_here = ~std::uint64_t{0} << from % 64;
    const auto in_last = ~std::uint64_t{0} >> (63 - end % 64);
    const bool one = end / 64 == from / 64;
    const auto next = words[1];
    merge(words[0], words[0] >> 1 | next << 63, from_here & (one ? in_last : ~std::uint64_t{0}));
    merge(words[1], next >> 1, one ? 0 : in_last);
}

/// The last word first.
void move_bits_up(Words& all, std::uint64_t from, std::uint64_t to, std::uint64_t by) {
    if (from == to) return;
    auto* const words = all.data();
    const auto first = (from + by) / 64;
    const auto last = (to + by - 1) / 64;
    const auto in_first = ~low_bits(static_cast<unsigned>((from + by) % 64));
    const auto in_last = low_bits(static_cast<unsigned>((to + by - 1) % 64 + 1));
    const auto shift = by % 64;
    const auto back = by / 64;
    auto upper = words[last - back];
    const auto next = [&](std::uint64_t i) {
        const auto lower = i > back ? words[i - back - 1] : 0;
        const auto bits = upper << shift | lower >> 1 >> (63 - shift);
        upper = lower;
        return bits;
    };
    if (first == last) return merge(words[first], next(first), in_first & in_last);
    merge(words[last], next(last), in_last);
    for (auto i = last - 1; i > first; --i) shared_store(words[i], next(i));
    merge(words[first], next(first), in_first);
}

/// The first word first.
void move_bits_down(Words& all, std::uint64_t from, std::uint64_t to, std::uint64_t by) {
    if (from == to) return;
    auto* const words = all.data();
    const auto first = (from - by) / 64;
    const auto last = (to - by - 1) / 64;
    const auto in_first = ~low_bits(static_cast<unsigned>((from - by) % 64));
    const auto in_last = low_bits(static_cast<unsigned>((to - by - 1) % 64 + 1));
    const auto shift = by % 64;
    const auto ahead = by / 64;
    auto lower = words[first + ahead];
    const auto next = [&](std::uint64_t i) {
        const auto upper = words[i + ahead + 1];
        const auto bits = lower >> shift | upper << 1 << (63 - shift);
        lower = upper;
        return bits;
    };
    if (first == last) return merge(words[first], next(first), in_first & in_last);
    merge(words[first], next(first), in_first);
    for (auto i = first + 1; i < last; ++i) shared_store(words[i], next(i));
    merge(words[last], next(last), in_last);
}

}  // namespace summary
