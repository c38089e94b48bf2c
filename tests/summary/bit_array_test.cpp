#include "summary/bits/bit_array.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

namespace summary {
namespace bit_array_test {

std::vector<std::uint64_t> ones(const BitArray& bits) {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t position = 0; position < bits.size(); ++position)
        if (bits.get(position)) positions.push_back(position);
    return positions;
}

TEST(BitArray, RemembersWhatIsSetAndCleared) {
    BitArray bits(130);
    for (const std::uint64_t position : {0, 63, 64, 127, 128, 129}) bits.set(position);
    bits.clear(64);
    bits.clear(65);
    EXPECT_EQ(ones(bits), (std::vector<std::uint64_t>{0, 63, 127, 128, 129}));
    EXPECT_EQ(bits.count_ones(), 5U);
    EXPECT_TRUE(bits.has_ones(0));
    EXPECT_TRUE(bits.has_ones(5));
    EXPECT_FALSE(bits.has_ones(6));
    EXPECT_TRUE(bits.get(129));
    EXPECT_FALSE(bits.get(64));
}

TEST(BitArray, CheckHashDistinguishesArrays) {
    BitArray bits(1000);
    const auto empty = bits.check_hash();
    bits.set(999);
    EXPECT_NE(bits.check_hash(), empty);
    const auto words = bits.words();
    EXPECT_EQ(bits.check_hash(), XXH3_64bits(words.data(), words.size_bytes()));
    bits.clear(999);
    EXPECT_EQ(bits.check_hash(), empty);
}

TEST(BitArray, TakesWordsOnlyIfTheyFit) {
    BitArray bits(70);
    EXPECT_TRUE(bits.set_word(0, 5));
    EXPECT_TRUE(bits.set_word(1, 0x3f));
    EXPECT_EQ(bits.count_ones(), 8U);
    EXPECT_FALSE(bits.set_word(1, 0x40));  // past the end
    EXPECT_EQ(bits.count_ones(), 8U);
}

}  // namespace bit_array_test
}  // namespace summary
