#include "summary/coding/coding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace coding_test {

Bytes bytes(std::initializer_list<unsigned> values) {
    Bytes result;
    for (const auto value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

Bytes encoded(const Delta& delta, std::uint64_t bits) {
    return test::payload_of(delta, bits);
}

Bytes encoded(const BitArray& snapshot) {
    return test::payload_of(snapshot);
}

/// Does a decoder accept the payload? An encoder could have written it: inside the shape, and in
/// order.
bool accepts(std::span<const std::byte> payload, std::uint64_t bits) {
    const auto delta = decode_delta(payload, bits);
    EXPECT_TRUE(!delta || is_valid(*delta, bits));
    const auto snapshot = test::bits_in(payload, bits);
    EXPECT_TRUE(!snapshot || snapshot->size() == bits);
    EXPECT_FALSE(delta && snapshot);
    return delta || snapshot;
}

BitArray random_bits(std::uint64_t size, double fill, std::uint64_t seed) {
    test::Random random(seed);
    BitArray bits(size);
    for (std::uint64_t i = 0; i < size; ++i) {
        if (static_cast<double>(random.below(1'000'000)) < fill * 1e6) bits.set(i);
    }
    return bits;
}

Delta random_delta(std::uint64_t bits, std::uint64_t flips, std::uint64_t seed) {
    test::Random random(seed);
    std::vector<Flip> list;
    for (std::uint64_t i = 0; i < flips; ++i)
        list.push_back({random.below(bits), random.one_in(2)});
    return last_values(std::move(list));
}

// The worked examples of summary/FORMAT.md.
TEST(Coding, WritesTheBytesOfTheFormatPage) {
    EXPECT_EQ(encoded(Delta{{3, 40, 77}, {12}}, 128),
              bytes({0x01, 0x03, 0x05, 0x87, 0x44, 0x02, 0x01, 0x06, 0x19}));
    EXPECT_EQ(encoded(Delta{}, 128), bytes({0x01, 0x00, 0x00}));
    BitArray sparse(128);
    sparse.set(3);
    sparse.set(40);
    EXPECT_EQ(encoded(sparse), bytes({0x03, 0x02, 0x05, 0x87, 0x04}));
    EXPECT_EQ(encoded(BitArray(128)), bytes({0x03, 0x00}));
    BitArray half(64);
    for (std::uint64_t i = 0; i < 64; i += 2) half.set(i);
    EXPECT_EQ(encoded(half), bytes({0x02, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}));
}

TEST(Coding, GivesBackEveryDelta) {
    for (const std::uint64_t bits : {1, 64, 1000, 1 << 20}) {
        for (const std::uint64_t flips : {0, 1, 2, 10, 1000}) {
            const auto delta = random_delta(bits, flips, bits + flips);
            EXPECT_EQ(decode_delta(encoded(delta, bits), bits), delta) << bits << ' ' << flips;
        }
    }
    const Delta extremes{{0, kMaxBits - 1}, {1}};
    EXPECT_EQ(decode_delta(encoded(extremes, kMaxBits), kMaxBits), extremes);
}

TEST(Coding, GivesBackEverySnapshotAndNeverTakesMoreThanItsWords) {
    for (const std::uint64_t size : {1, 63, 64, 65, 1000, 100'000}) {
        for (const double fill : {0.0, 0.001, 0.15, 0.5, 0.99, 1.0}) {
            const auto bits = random_bits(size, fill, size);
            const auto payload = encoded(bits);
            EXPECT_EQ(test::bits_in(payload, size), bits) << size << ' ' << fill;
            EXPECT_LE(payload.size(), max_snapshot_bytes(size));
        }
    }
}

TEST(Coding, AppendsBehindWhatIsThere) {
    auto out = bytes({7, 8});
    encode_delta(Delta{{3}, {}}, 64, out);
    test::append_snapshot(random_bits(640, 0.5, 3), out);
    EXPECT_EQ(out[0], std::byte{7});
    EXPECT_EQ(out[2], static_cast<std::byte>(Coding::delta));
}

TEST(Coding, UpdatesAreTheSmallerOfDeltaAndSnapshot) {
    const auto bits = random_bits(10'000, 0.2, 1);
    for (const std::uint64_t flips : {0, 5, 100, 400, 1000, 3000, 9000}) {
        const auto delta = random_delta(bits.size(), flips, flips);
        Bytes out = bytes({1});
        const auto coding = encode_update(delta, bits, out);
        const auto smaller = std::min(encoded(delta, bits.size()).size(), encoded(bits).size());
        EXPECT_EQ(out.size(), 1 + smaller) << flips;
        const auto payload = std::span(out).subspan(1);
        if (coding == Coding::delta) {
            EXPECT_EQ(decode_delta(payload, bits.size()), delta);
        } else {
            EXPECT_EQ(test::bits_in(payload, bits.size()), bits);
        }
        EXPECT_EQ(coding == Coding::delta, flips <= 1000) << flips;
    }
}

std::vector<Bytes> samples(std::uint64_t bits) {
    return {encoded(random_delta(bits, 60, 1), bits), encoded(Delta{{0, bits - 1}, {5}}, bits),
            encoded(random_bits(bits, 0.1, 2)), encoded(random_bits(bits, 0.5, 3)),
            encoded(BitArray(bits))};
}

TEST(Coding, RefusesEveryTruncationAndAnythingLeftOver) {
    constexpr std::uint64_t kBits = 1000;
    for (const auto& payload : samples(kBits)) {
        ASSERT_TRUE(accepts(payload, kBits));
        for (std::size_t size = 0; size < payload.size(); ++size) {
            EXPECT_FALSE(accepts(std::span(payload).first(size), kBits)) << size;
        }
        for (const auto more : {std::byte{0}, std::byte{0xff}}) {
            auto longer = payload;
            longer.push_back(more);
            EXPECT_FALSE(accepts(longer, kBits));
        }
    }
}

TEST(Coding, RefusesBitErrorsOrReadsValidPayloads) {
    constexpr std::uint64_t kBits = 1000;
    for (const auto& payload : samples(kBits)) {
        for (std::size_t i = 0; i < payload.size() * 8; ++i) {
            auto wrong = payload;
            wrong[i / 8] ^= std::byte{1} << (i % 8);
            const auto is_accepted = accepts(wrong, kBits);
            const auto is_unknown_coding = i >= 3 && i < 8;
            EXPECT_FALSE(is_accepted && is_unknown_coding) << "bit " << i;
        }
    }
}

TEST(Coding, RefusesRandomBytesOrReadsValidOnes) {
    constexpr std::uint64_t kSeed = 99;
    SCOPED_TRACE(testing::Message() << "seed " << kSeed);
    test::Random random(kSeed);
    int accepted = 0;
    for (int round = 0; round < 50'000; ++round) {
        Bytes payload(random.below(40));
        for (auto& byte : payload) byte = static_cast<std::byte>(random());
        if (!payload.empty()) payload[0] = static_cast<std::byte>(1 + random.below(3));
        accepted += accepts(payload, 1 + random.below(300)) ? 1 : 0;
    }
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 50'000 / 2);
}

TEST(Coding, RefusesHugeCountsWithoutAllocating) {
    // 2^32 positions are announced, one byte follows.
    for (const unsigned kind : {1, 3}) {
        EXPECT_FALSE(
            accepts(bytes({kind, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0xff}), kMaxBits / 4096));
        EXPECT_FALSE(accepts(bytes({kind, 0xff, 0xff, 0xff, 0x07, 0, 0xff}), 1 << 24));
    }
}

TEST(Coding, RefusesWhatNoEncoderWrites) {
    EXPECT_FALSE(accepts({}, 100));
    EXPECT_FALSE(accepts(bytes({0}), 100));
    EXPECT_FALSE(accepts(bytes({4, 0, 0}), 100));
    EXPECT_FALSE(accepts(bytes({1, 1, kMaxHashes + 17, 0xff, 0xff, 0xff, 0xff, 0xff, 0}), 100))
        << "parameter";
    EXPECT_FALSE(decode_delta(encoded(Delta{{70}, {}}, 100), 70)) << "out of range";
    // The same position set and cleared: two lists of one position each.
    auto both = encoded(Delta{{70}, {71}}, 100);
    const auto set = encoded(Delta{{70}, {}}, 100);
    const auto clear = encoded(Delta{{}, {70}}, 100);
    both.assign(set.begin(), set.end() - 1);
    both.insert(both.end(), clear.begin() + 2, clear.end());
    EXPECT_FALSE(decode_delta(both, 100));
    // A raw snapshot with a bit behind its end, and one for another size.
    Bytes raw(9, std::byte{0});
    raw[0] = std::byte{2};
    EXPECT_TRUE(test::bits_in(raw, 60));
    EXPECT_FALSE(test::bits_in(raw, 65));
    raw[8] = std::byte{0x10};
    EXPECT_FALSE(test::bits_in(raw, 60));
    // Kinds are not mistaken for each other.
    EXPECT_FALSE(decode_delta(encoded(BitArray(64)), 64));
    EXPECT_FALSE(test::bits_in(encoded(Delta{}, 64), 64));
}

}  // namespace coding_test
}  // namespace summary
