#include "summary/directory/lane_bits.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "summary/bits/bit_array.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace lane_bits_test {

constexpr std::uint64_t kBits =
    20'032;  // not a whole number of table words for any number of lanes

/// Arrays, a third of whose bits are ones, beside the lanes that should hold them.
class Arrays {
public:
    explicit Arrays(std::size_t count) : lanes(kBits, count), arrays(count, BitArray(kBits)) {
        for (auto& array : arrays) {
            for (std::uint64_t i = 0; i < kBits / 3; ++i) array.set(random.below(kBits));
        }
    }
    std::vector<const std::uint64_t*> dense() const {
        std::vector<const std::uint64_t*> result(lanes.lanes());
        for (std::size_t i = 0; i < arrays.size(); ++i) result[i] = arrays[i].words().data();
        return result;
    }
    bool get(std::size_t lane, std::uint64_t position) const {
        if (lanes.is_wide()) return (lanes.wide(position)[lane / 64] >> (lane % 64) & 1) != 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
            if ((lanes.first_bits() >> bit & 1) == 0 || lanes.lane_at(bit) != lane) continue;
            return (lanes.narrow(position) >> bit & 1) != 0;
        }
        ADD_FAILURE() << "no lane " << lane;
        return false;
    }
    void expect_alike() const {
        for (std::uint64_t position = 0; position < kBits; position += 13) {
            for (std::size_t lane = 0; lane < lanes.lanes(); ++lane) {
                const bool expected = lane < arrays.size() && arrays[lane].get(position);
                ASSERT_EQ(get(lane, position), expected) << lane << ' ' << position;
            }
        }
    }

    test::Random random{9};
    LaneBits lanes;
    std::vector<BitArray> arrays;
};

class LaneBitsOf : public testing::TestWithParam<std::size_t> {};

TEST_P(LaneBitsOf, HasTheBitsLoadedInSlices) {
    Arrays arrays(GetParam());
    for (std::uint64_t block = 0; block < arrays.lanes.blocks();) {
        const auto end = std::min(block + 1 + block % 5, arrays.lanes.blocks());
        arrays.lanes.load_all(arrays.dense(), block, end);
        block = end;
    }
    arrays.expect_alike();
}

TEST_P(LaneBitsOf, HasTheBitsLoadedOverEarlierOnes) {
    Arrays arrays(GetParam());
    for (const bool blank : {true, false}) {
        for (std::size_t lane = 0; lane < arrays.arrays.size(); ++lane) {
            arrays.lanes.load(lane, arrays.arrays[lane].words(), 0, blank);
            if (blank) {
                for (std::uint64_t i = 0; i < 64; ++i) arrays.arrays[lane].clear(i);
            }
        }
    }
    arrays.expect_alike();
}

TEST_P(LaneBitsOf, ABitIsTurnedInItsLaneAlone) {
    Arrays arrays(GetParam());
    arrays.lanes.load_all(arrays.dense(), 0, arrays.lanes.blocks());
    const auto lane = arrays.arrays.size() - 1;
    for (std::uint64_t position = 0; position < kBits; position += 26) {
        auto& array = arrays.arrays[lane];
        const bool on = !array.get(position);
        on ? array.set(position) : array.clear(position);
        arrays.lanes.turn(lane, position, on);
        arrays.lanes.turn(lane, position, on);
    }
    arrays.expect_alike();
}

INSTANTIATE_TEST_SUITE_P(Lanes, LaneBitsOf, testing::Values(1, 3, 8, 64, 100, 513));

TEST(LaneBits, RoundsLanesUpToAPowerOfTwoAndBeyond64ToWords) {
    const auto lanes = [](std::size_t count) { return LaneBits(kBits, count).lanes(); };
    EXPECT_EQ(lanes(1), 1U);
    EXPECT_EQ(lanes(3), 4U);
    EXPECT_EQ(lanes(33), 64U);
    EXPECT_EQ(lanes(65), 128U);
    EXPECT_EQ(lanes(129), 192U);
    EXPECT_EQ(LaneBits(kBits, 5).memory_bytes(), kBits * 8 / 8);
}

}  // namespace lane_bits_test
}  // namespace summary
