#include "summary/packed_bits.hpp"

namespace summary {

namespace {

/// The edges of a move: bits beside it belong to others, whose readers nobody warns.
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

/// Low words first, each with what the one before it has lost.
void insert_bits(Words& all, std::uint64_t from, std::uint64_t to, unsigned size,
                 std::uint64_t bits) {
    auto* const words = all.data();
    auto i = from / 64;
    const auto last = (to + size - 1) / 64;
    const auto in_last = low_bits(static_cast<unsigned>((to + size - 1) % 64 + 1));
    const auto shift = from % 64;
    const auto before = words[i];
    const auto moved = before >> shift << shift;
    const auto first = (before ^ moved) | bits << shift | moved << size;
    if (i == last) return merge(words[i], first, in_last);
    shared_store(words[i], first);
    auto lost = moved >> (64 - size) | bits >> 1 >> (63 - shift);
    for (++i; i < last; ++i) {
        const auto word = words[i];
        shared_store(words[i], word << size | lost);
        lost = word >> (64 - size);
    }
    merge(words[last], words[last] << size | lost, in_last);
}

/// Low words first, each with what the next one has to give.
void remove_bits(Words& all, std::uint64_t from, std::uint64_t to, unsigned size) {
    if (from + size == to) return;
    auto* const words = all.data();
    auto i = from / 64;
    const auto last = (to - size - 1) / 64;
    const auto in_first = ~low_bits(static_cast<unsigned>(from % 64));
    const auto in_last = low_bits(static_cast<unsigned>((to - size - 1) % 64 + 1));
    auto word = words[i];
    auto next = words[i + 1];
    const auto first = word >> size | next << (64 - size);
    if (i == last) return merge(words[i], first, in_first & in_last);
    merge(words[i], first, in_first);
    for (++i; i < last; ++i) {
        word = next;
        next = words[i + 1];
        shared_store(words[i], word >> size | next << (64 - size));
    }
    merge(words[last], next >> size | words[last + 1] << (64 - size), in_last);
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
