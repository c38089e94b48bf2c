#include "proxy/storage/invalidation_memory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace invalidation_memory_test {

using namespace std::chrono_literals;
using test::hash;

const std::chrono::steady_clock::time_point kNow{1000h};

TEST(InvalidationMemory, KnowsInvalidatedKeysAndTheirTimes) {
    InvalidationMemory memory;
    const auto before = memory.invalidations();
    EXPECT_FALSE(memory.noted_since(hash("a"), before));
    EXPECT_EQ(memory.last(hash("a")), std::nullopt);
    memory.note(hash("a"), kNow);
    EXPECT_TRUE(memory.noted_since(hash("a"), before));
    EXPECT_FALSE(memory.noted_since(hash("b"), before));
    EXPECT_FALSE(memory.noted_since(hash("a"), memory.invalidations()));
    memory.note(hash("a"), kNow + 1s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("b")), std::nullopt);
}

/// Two one by one, then two filters for ten each.
const InvalidationMemory::Limits kFew{2, 10, 2};

TEST(InvalidationMemory, KnowsOlderTimesApproximately) {
    InvalidationMemory memory(kFew);
    const auto before = memory.invalidations();
    memory.note(hash("a"), kNow);
    const auto after_a = memory.invalidations();
    memory.note(hash("b"), kNow + 1s);
    memory.note(hash("c"), kNow + 2s);
    memory.note(hash("d"), kNow + 3s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 1s) << "a and b share a stretch";
    EXPECT_EQ(memory.last(hash("b")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("c")), kNow + 2s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
    EXPECT_TRUE(memory.noted_since(hash("a"), before));
    EXPECT_TRUE(memory.noted_since(hash("a"), after_a)) << "on the safe side";
    EXPECT_FALSE(memory.noted_since(hash("a"), memory.invalidations() - 2));
    EXPECT_FALSE(memory.noted_since(hash("never"), before));
    memory.note(hash("a"), kNow + 4s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 4s);
}

TEST(InvalidationMemory, TakesAllKeysForInvalidatedWhenItHasForgottenTooMuch) {
    InvalidationMemory memory(kFew);
    const auto before = memory.invalidations();
    for (int i = 0; i < 22; ++i) memory.note(hash(std::to_string(i)), kNow + i * 1s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
    memory.note(hash("22"), kNow + 22s);  // the first ten are forgotten
    EXPECT_EQ(memory.last(hash("never")), kNow + 9s);
    EXPECT_EQ(memory.last(hash("0")), kNow + 9s);
    EXPECT_EQ(memory.last(hash("15")), kNow + 19s);
    EXPECT_TRUE(memory.noted_since(hash("never"), before));
    EXPECT_TRUE(memory.noted_since(hash("never"), before + 9));
    EXPECT_FALSE(memory.noted_since(hash("never"), before + 10));
}

TEST(InvalidationMemory, OneKeyAgainAndAgainPushesNoOtherOut) {
    InvalidationMemory memory(kFew);
    memory.note(hash("a"), kNow);
    for (int i = 0; i < 100; ++i) memory.note(hash("b"), kNow + 1s);
    EXPECT_EQ(memory.last(hash("a")), kNow) << "to the moment";
    EXPECT_EQ(memory.last(hash("b")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
}

TEST(InvalidationMemory, ErrsAtOneKeyInAHundredAtMostWhenAllFiltersAreFull) {
    InvalidationMemory memory({1'024, 8'192, 32});
    constexpr std::uint64_t kMany = 250'000;
    std::mt19937_64 random(3);
    for (std::uint64_t i = 0; i < kMany; ++i) memory.note({random(), random()}, kNow);
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i)
        wrong += memory.last(summary::KeyHash{random(), random()}).has_value();
    EXPECT_LE(wrong, 100);
}

}  // namespace invalidation_memory_test
}  // namespace proxy
