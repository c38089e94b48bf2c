#include "summary/filters/quotient_filter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <tuple>

#include "summary/bits/rank_select.hpp"
#include "tests/summary/fingerprints.hpp"
#include "tests/summary/keys.hpp"
#include "tests/summary/known_answers.hpp"

namespace summary {
namespace quotient_filter_test {

using test::key;
using test::Random;

/// A slot of the classic table (Bender et al. 2012): number, remainder, and the three bits.
struct Slot {
    std::uint64_t slot;
    std::uint64_t remainder;
    bool occupied;
    bool continued;
    bool shifted;

    bool operator==(const Slot&) const = default;
};
void PrintTo(const Slot& slot, std::ostream* out) {
    *out << slot.slot << ": " << slot.remainder << ' ' << slot.occupied << slot.continued
         << slot.shifted;
}

/// The table that stands for a filter's contents: each remainder in the first slot that is free
/// from its quotient on, in the order that the filter gives them out.
std::vector<Slot> table_of(const QuotientFilter& filter) {
    std::set<std::uint64_t> quotients;
    std::vector<Slot> slots;
    const auto bits = filter.shape().remainder_bits;
    for (const auto fingerprint : test::fingerprints_of(filter)) {
        const auto quotient = fingerprint >> bits;
        const bool continued = !quotients.insert(quotient).second;
        const auto free = slots.empty() ? 0 : slots.back().slot + 1;
        const auto slot = std::max(free, quotient);
        slots.push_back({slot, fingerprint & low_bits(bits), false, continued, slot != quotient});
    }
    for (auto& slot : slots) slot.occupied = quotients.contains(slot.slot);
    return slots;
}

/// Quotient and remainder in binary, as one number.
std::uint64_t binary(const char* digits) {
    std::uint64_t value = 0;
    for (; *digits != 0; ++digits) {
        if (*digits != ' ') value = value * 2 + (*digits == '1' ? 1 : 0);
    }
    return value;
}

TEST(RankSelect, AgreesWithCountingBitByBit) {
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        auto word = random();
        if (i % 3 == 0) word &= random() & random();
        if (i % 3 == 1) word |= random() | random();
        unsigned seen = 0;
        for (unsigned place = 0; place < 64; ++place) {
            if ((word >> place & 1) == 0) continue;
            ASSERT_EQ(select_one(word, seen), place) << word;
            ++seen;
            ASSERT_EQ(ones(word & low_bits(place + 1)), seen);
        }
        ASSERT_EQ(ones(word), seen);
    }
    EXPECT_EQ(ones(0), 0U);
    EXPECT_EQ(ones(~std::uint64_t{0}), 64U);
}

// The worked tables of the lecture notes, examples 12 and 13 (their printed algorithms are wrong,
// the tables are right).

TEST(QuotientFilterKnownAnswers, SixFingerprintsOfElevenBits) {
    QuotientFilter filter({2048, 6, 32});
    const auto insert = [&](const char* fingerprint) {
        ASSERT_TRUE(filter.insert(binary(fingerprint)));
    };
    std::vector<Slot> table;
    const auto expect = [&] { EXPECT_EQ(table_of(filter), table); };

    insert("10001 001010");  // v
    table = {{17, 10, true, false, false}};
    expect();
    insert("10011 100111");  // w
    table.push_back({19, 39, true, false, false});
    expect();
    insert("10011 111111");  // x
    table.push_back({20, 63, false, true, true});
    expect();
    insert("10100 101101");  // y
    table[2].occupied = true;
    table.push_back({21, 45, false, false, true});
    expect();
    insert("10100 111110");  // z
    table.push_back({22, 62, false, true, true});
    expect();
    insert("10100 000000");  // a
    table[3] = {21, 0, false, false, true};
    table[4] = {22, 45, false, true, true};
    table.push_back({23, 62, false, true, true});
    expect();

    // Taken out again in the same order, the rest is the same as the others alone make.
    ASSERT_TRUE(filter.erase(binary("10001 001010")));
    ASSERT_TRUE(filter.erase(binary("10011 100111")));
    table = {{19, 63, true, false, false},
             {20, 0, true, false, false},
             {21, 45, false, true, true},
             {22, 62, false, true, true}};
    expect();
}

TEST(QuotientFilterKnownAnswers, SixCapitalsIn32Bits) {
    const auto copenhagen = test::notes_hash("Copenhagen");
    const auto lisbon = test::notes_hash("Lisbon");
    const auto paris = test::notes_hash("Paris");
    const auto stockholm = test::notes_hash("Stockholm");
    const auto zagreb = test::notes_hash("Zagreb");
    const auto warsaw = test::notes_hash("Warsaw");
    ASSERT_EQ(copenhagen, 4248224207);
    ASSERT_EQ(lisbon, 629555247);
    ASSERT_EQ(paris, 2673248856);
    ASSERT_EQ(stockholm, 775943400);
    ASSERT_EQ(zagreb, 1474643542);
    ASSERT_EQ(warsaw, 567538184);

    QuotientFilter filter({std::uint64_t{1} << 32, 29, 8});
    const Slot last{7, 490127823, true, false, false};
    const auto then = [&](std::uint64_t fingerprint, std::vector<Slot> table) {
        ASSERT_TRUE(filter.insert(fingerprint));
        table.push_back(last);
        EXPECT_EQ(table_of(filter), table);
    };
    then(copenhagen, {});
    then(lisbon, {{1, 92684335, true, false, false}});
    then(paris, {{1, 92684335, true, false, false}, {4, 525765208, true, false, false}});
    then(stockholm, {{1, 92684335, true, false, false},
                     {2, 239072488, false, true, true},
                     {4, 525765208, true, false, false}});
    then(zagreb, {{1, 92684335, true, false, false},
                  {2, 239072488, true, true, true},
                  {3, 400901718, false, false, true},
                  {4, 525765208, true, false, false}});
    then(warsaw, {{1, 30667272, true, false, false},
                  {2, 92684335, true, true, true},
                  {3, 239072488, false, true, true},
                  {4, 400901718, true, false, true},
                  {5, 525765208, false, false, true}});
    EXPECT_TRUE(filter.contains(paris));
    EXPECT_FALSE(filter.contains(test::notes_hash("Oslo")));
}

TEST(QuotientFilterKnownAnswers, SizeOfABillionAtTwoPercent) {
    // Example 2.11: q = 30, r = 6. The notes count nine bits for each of 2^30 slots; here three
    // bits of flags are two, and the load may be higher.
    const auto shape = quotient_shape(std::uint64_t{1} << 36, std::uint64_t{1} << 30);
    EXPECT_EQ(shape.remainder_bits, 6U);
    EXPECT_EQ(shape.universe >> shape.remainder_bits, std::uint64_t{1} << 30);
}

/// A filter beside a multiset; they must agree after each change.
class QuotientModel {
public:
    QuotientModel(QuotientShape shape, std::uint64_t seed) : filter(shape), random(seed) {}

    void step(bool filling) {
        auto fingerprint = random.below(filter.shape().universe);
        if (filling ? !random.one_in(4) : random.one_in(4)) {
            if (filter.size() >= filter.shape().capacity) return;
            if (const auto near = all.lower_bound(fingerprint);
                near != all.end() && random.one_in(10)) {
                fingerprint = *near;  // once more
            }
            ASSERT_TRUE(filter.insert(fingerprint));
            all.insert(fingerprint);
        } else {
            if (const auto near = all.lower_bound(fingerprint);
                near != all.end() && !random.one_in(5)) {
                fingerprint = *near;
            }
            const auto found = all.find(fingerprint);
            ASSERT_EQ(filter.erase(fingerprint), found != all.end());
            if (found != all.end()) all.erase(found);
        }
    }

    void check() {
        ASSERT_EQ(filter.size(), all.size());
        const auto in_order = test::fingerprints_of(filter);
        ASSERT_EQ(in_order, std::vector(all.begin(), all.end()));
        std::uint64_t rank = 0;
        std::uint64_t check_hash = 0;
        for (const auto fingerprint : all) {
            ASSERT_EQ(filter.at(rank), fingerprint);
            ASSERT_TRUE(filter.contains(fingerprint));
            check_hash += check_term(fingerprint);
            ++rank;
        }
        ASSERT_EQ(filter.check_hash(), check_hash);
        for (int i = 0; i < 300; ++i) {
            const auto fingerprint = random.below(filter.shape().universe);
            ASSERT_EQ(filter.contains(fingerprint), all.contains(fingerprint));
        }
    }

    QuotientFilter filter;
    std::multiset<std::uint64_t> all;
    Random random;
};

class QuotientFilterModel : public testing::TestWithParam<QuotientShape> {};

TEST_P(QuotientFilterModel, AgreesWithAMultisetAlways) {
    QuotientModel model(GetParam(), 11);
    for (int i = 0; i < 24'000; ++i) {
        model.step(i / 4'000 % 2 == 0);
        if (i % 1'500 == 0) model.check();
        if (HasFatalFailure()) FAIL() << "at step " << i;
    }
    model.check();
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, QuotientFilterModel,
    testing::Values(QuotientShape{std::uint64_t{1} << 22, 12, 1'000},  // as the summaries have it
                    QuotientShape{std::uint64_t{1} << 12, 2, 1'000},   // many equal ones
                    QuotientShape{1'000'000, 9, 2'000},                // no power of two
                    QuotientShape{std::uint64_t{1} << 40, 32, 700},    // long remainders
                    QuotientShape{6'000, 1, 50}, QuotientShape{64, 1, 40}));

TEST(QuotientFilter, TakesAsManyAsItIsMadeForAndNeedsTheMemoryItSays) {
    constexpr std::uint64_t kObjects = 1'000'000;
    const auto shape = quotient_shape(kObjects << 12, kObjects);
    EXPECT_EQ(shape.remainder_bits, 12U);
    QuotientFilter filter(shape);
    for (std::uint64_t i = 0; i < kObjects; ++i) {
        ASSERT_TRUE(filter.insert(fingerprint(key(i), shape.universe))) << i;
    }
    EXPECT_LE(filter.memory_bytes(), 1'950'000U);
    for (std::uint64_t i = 0; i < kObjects; i += 7) {
        ASSERT_TRUE(filter.contains(fingerprint(key(i), shape.universe)));
    }
    std::uint64_t false_hits = 0;
    for (std::uint64_t i = 0; i < kObjects; ++i) {
        if (filter.contains(fingerprint(key(kObjects + i), shape.universe))) ++false_hits;
    }
    const auto expected = std::exp2(-12) * kObjects;
    EXPECT_NEAR(static_cast<double>(false_hits), expected, 5 * std::sqrt(expected));
}

TEST(QuotientFilter, StaysFullThroughChurn) {
    constexpr std::uint64_t kObjects = 20'000;
    const auto shape = quotient_shape(kObjects << 12, kObjects);
    QuotientFilter filter(shape);
    for (std::uint64_t i = 0; i < 6 * kObjects; ++i) {
        if (i >= kObjects) {
            ASSERT_TRUE(filter.erase(fingerprint(key(i - kObjects), shape.universe)));
        }
        ASSERT_TRUE(filter.insert(fingerprint(key(i), shape.universe))) << i;
    }
    EXPECT_EQ(filter.size(), kObjects);
}

TEST(QuotientFilter, RefusesWhatItHasNoRoomForAndLosesNothing) {
    QuotientFilter filter({1 << 20, 10, 500});
    Random random(2);
    std::vector<std::uint64_t> taken;
    for (;;) {
        const auto fingerprint = random.below(1 << 20);
        if (!filter.insert(fingerprint)) break;
        taken.push_back(fingerprint);
        ASSERT_LT(taken.size(), 1'000U);
    }
    EXPECT_GE(taken.size(), 500U);
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(test::fingerprints_of(filter), taken);
}

TEST(QuotientFilter, RefusesFarMoreInOnePlaceThanChanceBrings) {
    QuotientFilter filter({1 << 20, 10, 1'000});
    std::uint64_t taken = 0;
    while (filter.insert(777)) ++taken;
    EXPECT_EQ(taken, 255U);
    EXPECT_TRUE(filter.insert(1 << 19)) << "elsewhere there is room";
    while (taken > 0 && filter.erase(777)) --taken;
    EXPECT_EQ(taken, 0U);
    EXPECT_EQ(test::fingerprints_of(filter), std::vector<std::uint64_t>{1 << 19});
}

TEST(QuotientFilter, IsBuiltFromSortedFingerprints) {
    Random random(3);
    const auto shape = quotient_shape(3'000 * 1'000, 3'000);
    std::multiset<std::uint64_t> all;
    for (int i = 0; i < 3'000; ++i) all.insert(random.below(shape.universe));
    QuotientFilter::Builder builder(shape, all.size());
    for (const auto fingerprint : all) ASSERT_TRUE(builder.append(fingerprint));
    auto built = builder.finish();
    ASSERT_TRUE(built);
    auto& filter = *built;
    EXPECT_EQ(test::fingerprints_of(filter), std::vector(all.begin(), all.end()));
    // Spare room is spread, so it changes as any other.
    for (int i = 0; i < 20'000; ++i) {
        const auto gone = *all.lower_bound(*all.rbegin() - random.below(*all.rbegin()));
        ASSERT_TRUE(filter.erase(gone));
        all.erase(all.find(gone));
        const auto come = random.below(shape.universe);
        ASSERT_TRUE(filter.insert(come));
        all.insert(come);
    }
    EXPECT_EQ(test::fingerprints_of(filter), std::vector(all.begin(), all.end()));
}

TEST(QuotientFilter, BuilderTakesNoMoreThanFits) {
    const auto shape = quotient_shape(1 << 20, 1'000);
    QuotientFilter::Builder builder(shape, 2'000);
    std::uint64_t taken = 0;
    while (taken < 2'000 && builder.append(taken * 500)) ++taken;
    EXPECT_GE(taken, 1'000U);
    EXPECT_LT(taken, 1'200U);
    EXPECT_EQ(builder.finish()->size(), taken);
}

/// So far from its place in a filter of chance that its place cannot be stored, a block is refused,
/// also an empty one: later fingerprints in it would be written elsewhere.
TEST(QuotientFilter, BuilderRefusesWhatLiesFarTooUnevenly) {
    constexpr std::uint64_t kObjects = 1'000'000;
    constexpr std::uint64_t kInBlock = 255;
    const auto shape = quotient_shape(kObjects << 12, kObjects);
    const auto fill = [&](QuotientFilter::Builder& builder, std::uint64_t blocks) {
        for (std::uint64_t i = 0; i < blocks * kInBlock; ++i) {
            if (!builder.append((i / kInBlock * 64) << shape.remainder_bits)) return i / kInBlock;
        }
        return blocks;
    };
    QuotientFilter::Builder all(shape, kObjects);
    const auto placed = fill(all, kObjects / kInBlock);
    ASSERT_LT(placed, kObjects / kInBlock);
    EXPECT_FALSE(all.finish());
    QuotientFilter::Builder some(shape, kObjects);
    ASSERT_EQ(fill(some, placed), placed);
    EXPECT_FALSE(some.finish()) << "the next block is empty";
    QuotientFilter::Builder fewer(shape, kObjects);
    ASSERT_EQ(fill(fewer, placed - 1), placed - 1);
    auto filter = fewer.finish();
    ASSERT_TRUE(filter);
    const auto next = (placed * 64) << shape.remainder_bits;
    EXPECT_TRUE(filter->insert(next));
    EXPECT_TRUE(filter->contains(next));
}

TEST(QuotientFilter, ShapesFromOutsideAreLookedAt) {
    EXPECT_TRUE(is_valid(QuotientShape{1 << 20, 10, 1'000}));
    EXPECT_FALSE(is_valid(QuotientShape{0, 10, 1'000}));
    EXPECT_FALSE(is_valid(QuotientShape{kMaxUniverse + 1, 10, 1'000}));
    EXPECT_FALSE(is_valid(QuotientShape{1 << 20, 0, 1'000}));
    EXPECT_FALSE(is_valid(QuotientShape{1 << 20, 33, 1'000}));
    EXPECT_FALSE(is_valid(QuotientShape{kMaxUniverse, 1, 1'000})) << "too many quotients";
    EXPECT_FALSE(is_valid(QuotientShape{1 << 20, 3, 1'000})) << "blocks without a slot";
    EXPECT_FALSE(is_valid(QuotientShape{1 << 20, 10, 0}));
    EXPECT_FALSE(is_valid(QuotientShape{1 << 20, 10, kMaxFingerprints + 1}));
}

/// A reader on another thread never misses a key that is always there, whatever moves beside it.
TEST(QuotientFilter, IsReadByAnotherThreadWhileItChanges) {
    constexpr std::uint64_t kStay = 1'500;
    const QuotientShape shape{kStay << 12, 11, 2 * kStay};
    QuotientFilter filter(shape);
    // Those that stay are even; those that come and go odd.
    const auto stays = [&](std::uint64_t i) { return fingerprint(key(i), shape.universe) & ~1ULL; };
    const auto comes = [&](std::uint64_t i) { return fingerprint(key(i), shape.universe) | 1; };
    for (std::uint64_t i = 0; i < kStay; ++i) ASSERT_TRUE(filter.insert(stays(i)));

    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        Random random(5);
        while (!done) {
            if (!filter.contains(stays(random.below(kStay)))) ++missed;
            filter.contains(random.below(shape.universe));
            ++looked;
        }
    });
    for (std::uint64_t round = 0; round < 60 || looked < 20'000; ++round) {
        const auto first = kStay + round * 1'000;
        for (std::uint64_t i = first; i < first + 1'400; ++i) ASSERT_TRUE(filter.insert(comes(i)));
        for (std::uint64_t i = first; i < first + 1'400; ++i) ASSERT_TRUE(filter.erase(comes(i)));
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
    EXPECT_EQ(filter.size(), kStay);
}

TEST(QuotientFilter, GivesItsMemoryBackInPieces) {
    QuotientFilter filter(quotient_shape(std::uint64_t{3'000'000} << 12, 3'000'000));
    unsigned pieces = 1;
    while (!filter.release(1 << 16)) ++pieces;
    EXPECT_GT(pieces, 1U);
    EXPECT_EQ(filter.memory_bytes(), 0U);
}

}  // namespace quotient_filter_test
}  // namespace summary
