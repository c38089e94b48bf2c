#include "summary/bits/packed_bits.hpp"

#include <gtest/gtest.h>

#include "tests/summary/keys.hpp"

namespace summary {
namespace packed_bits_test {

using Bits = std::vector<bool>;

constexpr std::size_t kWords = 8;

/// Words of chance, and the same bit by bit.
struct Both {
    explicit Both(test::Random& random) : words(kWords) {
        for (auto& word : std::span(words.data(), kWords)) word = random();
        bits = of(words);
    }
    static Bits of(const Words& words) {
        Bits all;
        for (std::size_t i = 0; i < kWords * 64; ++i) {
            all.push_back((words[i / 64] >> (i % 64) & 1) != 0);
        }
        return all;
    }

    Words words;
    Bits bits;
};

using Difference = Bits::difference_type;

/// The place of a change, of up to 200 bits, so within a word, over its end, and over some.
struct Range {
    Range(test::Random& random, unsigned size)
        : from(random.below(128)), to(from + size + random.below(random.one_in(2) ? 30 : 200)) {}

    std::uint64_t from;
    std::uint64_t to;
};

TEST(PackedBits, InsertedOnesMoveWhatFollowsAndNothingElse) {
    test::Random random(1);
    for (int i = 0; i < 5'000; ++i) {
        Both both(random);
        const auto size = 1 + static_cast<unsigned>(random.below(32));
        const Range range(random, 0);
        const auto added = random() & low_bits(size);
        insert_bits(both.words, range.from, range.to, size, added);
        const auto to = both.bits.begin() + static_cast<Difference>(range.to);
        both.bits.erase(to, to + size);
        for (unsigned bit = 0; bit < size; ++bit) {
            both.bits.insert(both.bits.begin() + static_cast<Difference>(range.from + bit),
                             (added >> bit & 1) != 0);
        }
        ASSERT_EQ(Both::of(both.words), both.bits)
            << range.from << ' ' << range.to << ' ' << size << ' ' << added;
    }
}

TEST(PackedBits, OneInsertedBitIsAsManyOfOne) {
    test::Random random(2);
    for (int i = 0; i < 5'000; ++i) {
        Both both(random);
        Words expected = both.words;
        const Range range(random, 0);
        const bool bit = random.one_in(2);
        insert_bits(expected, range.from, range.to, 1, bit ? 1 : 0);
        insert_bit(both.words, range.from, range.to, bit);
        ASSERT_EQ(both.words, expected) << range.from << ' ' << range.to;
    }
}

TEST(PackedBits, OnlyElementsBehindRemovedOnesMoveDown) {
    test::Random random(3);
    for (int i = 0; i < 5'000; ++i) {
        Both both(random);
        const auto size = 1 + static_cast<unsigned>(random.below(32));
        const Range range(random, size);
        remove_bits(both.words, range.from, range.to, size);
        auto left = Both::of(both.words);
        const auto end = static_cast<Difference>(range.to);
        for (auto* const bits : {&left, &both.bits}) {  // without what is not said
            if (bits == &both.bits) {
                const auto from = bits->begin() + static_cast<Difference>(range.from);
                bits->erase(from, from + size);
            } else {
                bits->erase(bits->begin() + end - size, bits->begin() + end);
            }
        }
        ASSERT_EQ(left, both.bits) << range.from << ' ' << range.to << ' ' << size;
    }
}

TEST(PackedBits, OneRemovedBitIsAsManyOfOne) {
    test::Random random(4);
    for (int i = 0; i < 5'000; ++i) {
        Both both(random);
        Words expected = both.words;
        const Range range(random, 1);
        remove_bits(expected, range.from, range.to, 1);
        remove_bit(both.words, range.from, range.to);
        put_bits(expected, range.to - 1, 1, 0);
        put_bits(both.words, range.to - 1, 1, 0);
        ASSERT_EQ(both.words, expected) << range.from << ' ' << range.to;
    }
}

}  // namespace packed_bits_test
}  // namespace summary
