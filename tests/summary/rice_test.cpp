#include "summary/bits/rice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/summary/keys.hpp"

namespace summary {
namespace rice_test {

using Bytes = std::vector<std::byte>;
using Numbers = std::vector<std::uint64_t>;

Bytes bytes(std::initializer_list<unsigned> values) {
    Bytes result;
    for (const auto value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

Bytes coded(const Numbers& positions, unsigned parameter) {
    Bytes out;
    RiceWriter writer(parameter, out);
    for (const auto position : positions) writer.append(position);
    writer.finish();
    return out;
}

TEST(Rice, WritesUnaryQuotientThenLowBits) {
    // Gaps 3, 0 and 6 with two low bits each, first bit first: 1|11, 1|00, 01|01, and zeros to the
    // byte's end.
    EXPECT_EQ(coded({3, 4, 11}, 2), bytes({0b1000'1111, 0b0000'0010}));
}

TEST(Rice, GivesBackWhatWasWritten) {
    test::Random random(7);
    for (unsigned parameter = 0; parameter <= kMaxRiceParameter; ++parameter) {
        const std::uint64_t spread =
            std::min<std::uint64_t>(std::uint64_t{40} << parameter, std::uint64_t{1} << 33);
        Numbers positions;
        std::uint64_t position = random.below(spread);
        for (int i = 0; i < 300; ++i, position += 1 + random.below(spread)) {
            positions.push_back(position);
        }
        const auto out = coded(positions, parameter);
        RiceReader reader(parameter, positions.back() + 1, out);
        for (const auto expected : positions) {
            ASSERT_EQ(reader.next(), expected) << "parameter " << parameter;
        }
        ASSERT_TRUE(reader.rest());
        EXPECT_TRUE(reader.rest()->empty());
    }
}

TEST(Rice, ReadsLongRunsOfZeros) {
    const Numbers positions{500, 501, 1700};
    const auto out = coded(positions, 0);
    RiceReader reader(0, 2000, out);
    for (const auto expected : positions) ASSERT_EQ(reader.next(), expected);
}

TEST(Rice, RefusesPositionsOutsideTheUniverse) {
    const auto out = coded({5, 90}, 3);
    RiceReader reader(3, 90, out);
    EXPECT_EQ(reader.next(), 5U);
    EXPECT_FALSE(reader.next());
    RiceReader exact(3, 91, out);
    EXPECT_EQ(exact.next(), 5U);
    EXPECT_EQ(exact.next(), 90U);
}

TEST(Rice, RefusesToReadPastTheEnd) {
    const auto out = coded({5, 90, 1000}, 3);
    for (std::size_t size = 0; size < out.size(); ++size) {
        const Bytes cut(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
        RiceReader reader(3, 2000, cut);
        EXPECT_FALSE(reader.next() && reader.next() && reader.next()) << size;
    }
    const Bytes zeros(1000);
    EXPECT_FALSE(RiceReader(0, 100, zeros).next());
    EXPECT_FALSE(RiceReader(0, ~std::uint64_t{0}, zeros).next());
    EXPECT_FALSE(RiceReader(kMaxRiceParameter, ~std::uint64_t{0}, zeros).next());
}

TEST(Rice, RefusesPaddingThatIsNotZero) {
    auto out = coded({5}, 3);
    ASSERT_EQ(out.size(), 1U);
    out[0] |= std::byte{0x80};
    RiceReader reader(3, 100, out);
    EXPECT_EQ(reader.next(), 5U);
    EXPECT_FALSE(reader.rest());
}

TEST(RiceParameter, IsTheBestOfAllForRandomPositions) {
    constexpr std::uint64_t kUniverse = 1'000'000;
    for (const std::uint64_t count : {20, 1000, 20'000, 250'000, 600'000}) {
        test::Random random(count);
        std::set<std::uint64_t> chosen;
        while (chosen.size() < count) chosen.insert(random.below(kUniverse));
        const Numbers positions(chosen.begin(), chosen.end());
        const auto parameter = rice_parameter(count, kUniverse);
        const auto size = static_cast<double>(coded(positions, parameter).size());
        for (unsigned other = 0; other < 24; ++other) {
            EXPECT_LE(size, static_cast<double>(coded(positions, other).size()) * 1.005 + 1)
                << count << " positions, " << other << " instead of " << parameter;
        }
    }
}

TEST(RiceParameter, IsInRangeForAnyInput) {
    EXPECT_EQ(rice_parameter(0, 1000), 0U);
    EXPECT_EQ(rice_parameter(1000, 1000), 0U);
    EXPECT_EQ(rice_parameter(2000, 1000), 0U);
    EXPECT_LE(rice_parameter(1, std::uint64_t{1} << 62), kMaxRiceParameter);
}

TEST(Varint, GivesBackWhatWasWritten) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128},
                                      std::uint64_t{300}, std::uint64_t{1} << 32}) {
        Bytes out;
        append_varint(value, out);
        std::span<const std::byte> input(out);
        EXPECT_EQ(take_varint(input), value);
        EXPECT_TRUE(input.empty());
    }
}

TEST(Varint, RefusesCutOverlongAndPaddedNumbers) {
    for (const auto& wrong : {bytes({}), bytes({0x80}), bytes({0xff, 0xff}), bytes({0x80, 0x00}),
                              bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0x01})}) {
        std::span<const std::byte> input(wrong);
        EXPECT_FALSE(take_varint(input));
    }
}

}  // namespace rice_test
}  // namespace summary
