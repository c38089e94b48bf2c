#include "summary/coding/fingerprint_coding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "summary/coding/fingerprint_descriptor.hpp"
#include "summary/coding/judge.hpp"
#include "tests/summary/fingerprints.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace fingerprint_coding_test {

using test::Random;
using Numbers = std::vector<std::uint64_t>;

Bytes bytes(std::initializer_list<unsigned> values) {
    Bytes result;
    for (const auto value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

constexpr QuotientShape kSmall{2048, 6, 16};

QuotientFilter filter_of(const Numbers& fingerprints, const QuotientShape& shape) {
    QuotientFilter filter(shape);
    for (const auto fingerprint : fingerprints) EXPECT_TRUE(filter.insert(fingerprint));
    return filter;
}

Bytes snapshot_of(const Numbers& fingerprints, std::uint64_t universe) {
    Bytes out;
    FingerprintSnapshotEncoder encoder(universe, fingerprints.size(), out);
    for (const auto fingerprint : fingerprints) encoder.append(fingerprint);
    encoder.finish();
    return out;
}

/// In pieces of so many bytes.
template <class Decoder>
auto decode(Decoder decoder, const Bytes& payload, std::size_t piece) {
    auto rest = std::span(payload);
    while (!rest.empty()) {
        const auto size = std::min(piece, rest.size());
        if (!decoder.take(rest.first(size))) return decltype(decoder.finish()){};
        rest = rest.subspan(size);
    }
    return decoder.finish();
}

Numbers some_fingerprints(std::size_t count, std::uint64_t universe, std::uint64_t seed) {
    Random random(seed);
    Numbers numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(random.below(universe));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

// The examples of summary/FORMAT.md.

TEST(FingerprintFormat, KeysBecomeNumbers) {
    const KeyHash key{0, std::uint64_t{3} << 62};
    EXPECT_EQ(fingerprint(key, std::uint64_t{2048}), 1536U);
    EXPECT_EQ(cuckoo_fingerprint(key, {10, 12}), std::uint64_t{768} << 12 | 1);
    EXPECT_EQ(fingerprint(key, FingerprintShape(kSmall)), 1536U);
    EXPECT_EQ(fingerprint(key, FingerprintShape(CuckooShape{10, 12})), 768U << 12 | 1);
}

TEST(FingerprintFormat, DescriptorsHaveTheBytesOfThePage) {
    const auto quotient = bytes({2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 32});
    EXPECT_EQ(descriptor_of(QuotientShape{2048, 6, 32}), *Descriptor::from(quotient));
    EXPECT_EQ(fingerprint_shape_of(*Descriptor::from(quotient)),
              FingerprintShape(QuotientShape{2048, 6, 32}));
    const auto cuckoo = bytes({3, 10, 12});
    EXPECT_EQ(descriptor_of(CuckooShape{10, 12}), *Descriptor::from(cuckoo));
    EXPECT_EQ(fingerprint_shape_of(*Descriptor::from(cuckoo)),
              FingerprintShape(CuckooShape{10, 12}));
}

TEST(FingerprintFormat, OtherDescriptorsAreRefused) {
    const auto refused = [](std::initializer_list<unsigned> values) {
        const auto of = *Descriptor::from(bytes(values));
        return !fingerprint_shape_of(of) &&
               judge(of, ~std::uint64_t{0}) == DescriptorVerdict::malformed;
    };
    EXPECT_TRUE(refused({2}));
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0}));
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 32})) << "no multiple";
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32})) << "no universe";
    EXPECT_TRUE(refused({2, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 32})) << "above 2^40";
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0})) << "no capacity";
    EXPECT_TRUE(refused({2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0, 0, 1})) << "above 2^30";
    EXPECT_TRUE(refused({2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}))
        << "far more quotients than places";
    EXPECT_TRUE(refused({3, 10}));
    EXPECT_TRUE(refused({3, 10, 12, 0}));
    EXPECT_TRUE(refused({3, 9, 12})) << "too few buckets";
    EXPECT_TRUE(refused({3, 29, 8}));
    EXPECT_TRUE(refused({3, 10, 3}));
    EXPECT_TRUE(refused({3, 10, 17}));
    EXPECT_TRUE(refused({3, 28, 13})) << "above 2^40";
}

TEST(FingerprintFormat, SnapshotHeadsAreJudged) {
    const auto verdict = [](const FingerprintShape& shape, std::uint64_t objects,
                            std::uint64_t payload_bytes) {
        return judge(SnapshotHead{descriptor_of(shape), objects, payload_bytes}, 1 << 26);
    };
    const auto roomy = quotient_shape_for(16 * 1'024, 0.001);
    EXPECT_EQ(verdict(roomy, 0, 2), DescriptorVerdict::accepted) << "as for 1,024 objects";
    EXPECT_EQ(verdict(quotient_shape_for(20'000, 0.001), 0, 2), DescriptorVerdict::too_large);
    EXPECT_EQ(verdict(quotient_shape_for(20'000, 0.001), 20'000, 2'500 - 64),
              DescriptorVerdict::accepted);
    EXPECT_EQ(verdict(quotient_shape_for(20'000, 0.001), 20'000, 2'500 - 65),
              DescriptorVerdict::too_large);
    EXPECT_EQ(verdict(quotient_shape_for(20'000, 0.001), 20'000, 1 << 20),
              DescriptorVerdict::malformed);
    EXPECT_EQ(verdict(quotient_shape_for(100'000'000, 0.001), 100'000'000, 1 << 27),
              DescriptorVerdict::too_large)
        << "more than it may take";
    EXPECT_EQ(verdict(CuckooShape{12, 12}, 900, 2'000), DescriptorVerdict::accepted);
    EXPECT_EQ(verdict(CuckooShape{13, 12}, 900, 2'000), DescriptorVerdict::too_large);
}

TEST(FingerprintFormat, ReplicasTakeWhatTheirFiltersTake) {
    for (const std::uint64_t objects : {1'000, 30'000, 1'000'000}) {
        const auto quotient = quotient_shape_for(objects, 0.0003);
        const auto said = replica_bytes(FingerprintShape(quotient));
        const auto taken = QuotientFilter(quotient).memory_bytes();
        EXPECT_EQ(said, taken);
        const auto cuckoo = cuckoo_shape_for(objects, 0.0003);
        EXPECT_EQ(replica_bytes(FingerprintShape(cuckoo)), CuckooFilter(cuckoo).memory_bytes());
    }
}

TEST(FingerprintFormat, SnapshotOfFour) {
    const Numbers four{30, 700, 700, 1900};
    const auto payload = bytes({0x06, 0x04, 0x08, 0x3d, 0xe8, 0x19, 0x00, 0xc2, 0x02});
    EXPECT_EQ(snapshot_of(four, 2048), payload);
    const auto filter = decode(QuotientSnapshotDecoder(kSmall), payload, 100);
    ASSERT_TRUE(filter);
    EXPECT_EQ(test::fingerprints_of(*filter), four);
}

TEST(FingerprintFormat, DeltaWithRanks) {
    auto filter = filter_of({30, 700, 700, 1900}, kSmall);
    const Numbers added{100, 1600};
    const Numbers ranks{1};
    Bytes payload;
    encode_ranked_delta(added, ranks, 2048, 4, payload);
    EXPECT_EQ(payload, bytes({0x04, 0x02, 0x09, 0xc9, 0x90, 0x3b, 0x01, 0x01, 0x03}));
    const auto delta = decode_ranked_delta(payload, filter);
    ASSERT_TRUE(delta);
    EXPECT_EQ(*delta, (FingerprintDelta{{100, 1600}, {700}}));
    ASSERT_TRUE(apply(*delta, filter));
    EXPECT_EQ(test::fingerprints_of(filter), (Numbers{30, 100, 700, 1600, 1900}));
}

TEST(FingerprintCoding, DeltasCarryMultisets) {
    const FingerprintDelta delta{{5, 5, 5, 2047}, {0, 0, 700}};
    Bytes payload;
    encode_fingerprint_delta(delta, 2048, payload);
    EXPECT_EQ(decode_fingerprint_delta(payload, 2048), delta);
    EXPECT_EQ(decode_fingerprint_delta(payload, 2047), std::nullopt);

    payload.clear();
    encode_fingerprint_delta({}, 2048, payload);
    EXPECT_EQ(payload, bytes({0x05, 0x00, 0x00}));
    EXPECT_EQ(decode_fingerprint_delta(payload, 2048), FingerprintDelta());
}

TEST(FingerprintCoding, SnapshotsComeInPiecesOfAnySize) {
    constexpr std::uint64_t kUniverse = 3'000 * 1'024;
    auto fingerprints = some_fingerprints(3'000, kUniverse, 1);
    fingerprints[5] = fingerprints[6] = fingerprints[7];
    const auto payload = snapshot_of(fingerprints, kUniverse);
    const auto shape = quotient_shape(kUniverse, 3'000);
    for (const std::size_t piece : {1, 2, 7, 64, 100'000}) {
        const auto filter = decode(QuotientSnapshotDecoder(shape), payload, piece);
        ASSERT_TRUE(filter) << piece;
        EXPECT_EQ(test::fingerprints_of(*filter), fingerprints);
    }
    const auto nothing = snapshot_of({}, kUniverse);
    EXPECT_EQ(nothing, bytes({0x06, 0x00}));
    const auto empty = decode(QuotientSnapshotDecoder(shape), nothing, 1);
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->size(), 0U);
}

TEST(FingerprintCoding, DeltasOfCuckooFiltersNameFingerprints) {
    const auto shape = cuckoo_shape_for(3'000, 0.001);
    std::vector<std::uint64_t> fingerprints;
    for (std::uint64_t i = 0; i < 3'000; ++i) {
        fingerprints.push_back(cuckoo_fingerprint(test::key(i), shape));
    }
    std::sort(fingerprints.begin(), fingerprints.end());
    const auto payload = snapshot_of(fingerprints, universe(shape));
    auto filter = decode(CuckooSnapshotDecoder(shape), payload, 50);
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->size(), fingerprints.size());
    for (const auto fingerprint : fingerprints) ASSERT_TRUE(filter->contains(fingerprint));

    const FingerprintDelta delta{{}, {fingerprints[1], fingerprints[2'000]}};
    Bytes coded;
    encode_fingerprint_delta(delta, universe(shape), coded);
    const auto decoded = decode_fingerprint_delta(coded, universe(shape));
    ASSERT_EQ(decoded, delta);
    ASSERT_TRUE(apply(*decoded, *filter));
    EXPECT_EQ(filter->size(), fingerprints.size() - 2);
    EXPECT_FALSE(apply(*decoded, *filter)) << "they are gone";
}

TEST(FingerprintCoding, ADeltaThatIsNotAboutThisStateIsFound) {
    auto filter = filter_of({30, 700, 700, 1900}, kSmall);
    EXPECT_FALSE(apply(FingerprintDelta{{}, {31}}, filter));
    auto full = filter_of({}, kSmall);
    Numbers many(300, 5);
    EXPECT_FALSE(apply(FingerprintDelta{many, {}}, full));

    Bytes payload;
    encode_ranked_delta({}, Numbers{4}, 2048, 5, payload);
    EXPECT_EQ(decode_ranked_delta(payload, filter), std::nullopt) << "it has ranks 0 to 3";
    payload.clear();
    encode_ranked_delta(Numbers{700}, Numbers{1}, 2048, 4, payload);
    EXPECT_EQ(decode_ranked_delta(payload, filter), std::nullopt) << "700 comes and goes";
}

TEST(FingerprintCoding, RefusesWhatTheFormatDoesNotAllow) {
    const auto refused = [](std::initializer_list<unsigned> values) {
        const auto payload = bytes(values);
        const auto filter = filter_of({30, 700, 700, 1900}, kSmall);
        return !decode_ranked_delta(payload, filter) && !decode_fingerprint_delta(payload, 2048) &&
               !decode(QuotientSnapshotDecoder(kSmall), payload, 3) &&
               !decode(CuckooSnapshotDecoder({10, 4}), payload, 3);
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused({0x01, 0x00, 0x00})) << "another kind's";
    EXPECT_TRUE(refused({0x04})) << "no lists";
    EXPECT_TRUE(refused({0x04, 0x00})) << "one list";
    EXPECT_TRUE(refused({0x04, 0x00, 0x00, 0x00})) << "left over";
    EXPECT_TRUE(refused({0x05, 0x01})) << "no parameter";
    EXPECT_TRUE(refused({0x05, 0x01, 0x21, 0x01, 0x00})) << "parameter above 32";
    EXPECT_TRUE(refused({0x05, 0xff, 0xff, 0xff, 0xff, 0x03, 0x00, 0x01, 0x00})) << "too many";
    EXPECT_TRUE(refused({0x05, 0x80, 0x00, 0x00})) << "a count in a longer form";
    EXPECT_TRUE(refused({0x06, 0x04, 0x08, 0x3d, 0xe8, 0x19, 0x00, 0xc2})) << "it ends too early";
    EXPECT_TRUE(refused({0x06, 0x04, 0x08, 0x3d, 0xe8, 0x19, 0x00, 0xc2, 0x02, 0x00}))
        << "left over";
    EXPECT_TRUE(refused({0x06, 0x01, 0x0b, 0x01, 0xff})) << "beyond the universe, and padding";
    EXPECT_TRUE(refused({0x06, 0x01, 0x00, 0x03})) << "padding that is not zero";
    EXPECT_TRUE(refused({0x06, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00})) << "too many";
}

TEST(FingerprintCoding, ATagIsNeverZero) {
    const CuckooShape shape{10, 12};
    EXPECT_FALSE(decode(CuckooSnapshotDecoder(shape), snapshot_of({5 << 12}, universe(shape)), 9));
    EXPECT_TRUE(
        decode(CuckooSnapshotDecoder(shape), snapshot_of({5 << 12 | 1}, universe(shape)), 9));
}

TEST(FingerprintCoding, ShapesThatAreTooSmallForTheSnapshotRefuseIt) {
    const auto payload = snapshot_of(some_fingerprints(2'000, 1 << 20, 3), 1 << 20);
    EXPECT_FALSE(decode(QuotientSnapshotDecoder({1 << 20, 10, 1'000}), payload, 500));
    EXPECT_TRUE(decode(QuotientSnapshotDecoder({1 << 20, 10, 2'000}), payload, 500));
}

TEST(FingerprintCoding, AnyBytesAreAnswered) {
    Random random(4);
    const auto filter = filter_of({30, 700, 700, 1900}, kSmall);
    unsigned taken = 0;
    for (int i = 0; i < 60'000; ++i) {
        Bytes payload;
        payload.push_back(static_cast<std::byte>(4 + random.below(3)));
        for (auto left = random.below(12); left > 0; --left) {
            payload.push_back(
                static_cast<std::byte>(random.one_in(2) ? random.below(8) : random()));
        }
        if (const auto delta = decode_ranked_delta(payload, filter)) {
            ASSERT_TRUE(is_valid(*delta, 2048));
            ++taken;
        }
        if (const auto delta = decode_fingerprint_delta(payload, 2048)) {
            ASSERT_TRUE(is_valid(*delta, 2048));
            ++taken;
        }
        if (const auto made = decode(QuotientSnapshotDecoder(kSmall), payload, 2)) {
            ASSERT_EQ(test::fingerprints_of(*made).size(), made->size());
            ++taken;
        }
        if (decode(CuckooSnapshotDecoder({10, 4}), payload, 2)) ++taken;
    }
    EXPECT_GT(taken, 30U) << "else nothing was tested";
}

TEST(FingerprintCoding, ADamagedPayloadIsRefusedOrReadsAsSomethingElse) {
    constexpr std::uint64_t kUniverse = 300 * 1'024;
    const auto fingerprints = some_fingerprints(300, kUniverse, 5);
    const auto payload = snapshot_of(fingerprints, kUniverse);
    const auto shape = quotient_shape(kUniverse, 300);
    Random random(6);
    for (int i = 0; i < 3'000; ++i) {
        auto damaged = payload;
        damaged[random.below(damaged.size())] ^= static_cast<std::byte>(1U << random.below(8));
        if (random.one_in(4)) damaged.resize(random.below(damaged.size()));
        const auto filter = decode(QuotientSnapshotDecoder(shape), damaged, 1 + random.below(64));
        ASSERT_TRUE(!filter || test::fingerprints_of(*filter) != fingerprints);
    }
}

TEST(FingerprintShapes, GrowByQuartersOfAnOctaveAndKeepTheError) {
    std::uint64_t before = 0;
    for (std::uint64_t objects = 1; objects < 100'000'000; objects += objects / 3 + 1) {
        const auto shape = quotient_shape_for(objects, 0.00024);
        ASSERT_TRUE(is_valid(shape));
        ASSERT_GE(shape.capacity, objects);
        ASSERT_LE(shape.capacity, std::max<std::uint64_t>(objects * 12 / 10, 1'024));
        ASSERT_GE(shape.capacity, before);
        ASSERT_EQ(shape.universe % 1'024, 0U);
        ASSERT_LE(false_positive_rate(shape, static_cast<double>(objects)), 0.00024);
        before = shape.capacity;
        const auto cuckoo = cuckoo_shape_for(objects, 0.00024);
        ASSERT_TRUE(is_valid(cuckoo));
        ASSERT_GE(capacity(cuckoo), objects);
        ASSERT_LE(false_positive_rate(cuckoo, static_cast<double>(objects)), 0.00024);
    }
    EXPECT_EQ(quotient_shape_for(1 << 20, 1.0 / 4096),
              (QuotientShape{std::uint64_t{1} << 32, 12, 1 << 20}));
    EXPECT_EQ(quotient_shape_for(1 << 28, 1e-6).universe, kMaxUniverse) << "as far as it goes";
}

}  // namespace fingerprint_coding_test
}  // namespace summary
