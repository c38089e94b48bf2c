#include "proxy/storage/holding.hpp"

#include <gtest/gtest.h>

#include <random>

namespace proxy {
namespace {

using News = Holding::News;

/// The rule speaks of tiers by number; the test has more of them than there are.
constexpr Tier kTiers[] = {Tier::memory, static_cast<Tier>(1), static_cast<Tier>(7)};
constexpr Tier kFirst = kTiers[0], kSecond = kTiers[1];

TEST(Holding, IsToldOnceWhenAnyTierHasSomethingWorthIt) {
    Holding holding;
    EXPECT_EQ(holding.holds(kFirst, false), std::nullopt);
    EXPECT_EQ(holding.holds(kFirst, true), News::stored);
    EXPECT_EQ(holding.holds(kFirst, true), std::nullopt);
    EXPECT_EQ(holding.holds(kSecond, true), std::nullopt);
}

TEST(Holding, IsWithdrawnWhenTheLastTierDropsIt) {
    Holding holding;
    holding.holds(kFirst, true);
    holding.holds(kSecond, true);
    EXPECT_EQ(holding.drops(kFirst), std::nullopt);
    EXPECT_FALSE(holding.is_held_by(kFirst));
    EXPECT_EQ(holding.drops(kFirst), std::nullopt) << "it was gone from there";
    EXPECT_EQ(holding.drops(kSecond), News::removed);
    EXPECT_EQ(holding.drops(kSecond), std::nullopt);
}

TEST(Holding, IsNotWithdrawnIfNobodyWasTold) {
    Holding holding;
    holding.holds(kFirst, false);
    EXPECT_EQ(holding.drops(kFirst), std::nullopt);
}

TEST(Holding, StaysToldWhileAnotherTierHoldsWhatCannotBeAnnouncedAnyMore) {
    Holding holding;
    holding.holds(kFirst, true);
    holding.holds(kFirst, false);
    holding.holds(kSecond, false);
    EXPECT_EQ(holding.drops(kFirst), std::nullopt);
    EXPECT_EQ(holding.drops(kSecond), News::removed);
}

TEST(Holding, TellsInTurnsWhateverHappensInWhateverTier) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        Holding holding;
        unsigned held = 0;
        bool told = false;
        for (int i = 0; i < 200; ++i) {
            const auto which = random() % std::size(kTiers);
            const auto drops = random() % 2 == 0;
            const auto announceable = random() % 2 == 0;
            const auto news =
                drops ? holding.drops(kTiers[which]) : holding.holds(kTiers[which], announceable);
            held = drops ? held & ~(1u << which) : held | (1u << which);
            if (news) {
                ASSERT_EQ(*news, told ? News::removed : News::stored) << "seed " << seed;
                told = !told;
            }
            if (held == 0) {
                ASSERT_FALSE(told) << "seed " << seed;
            } else if (!drops && announceable) {
                ASSERT_TRUE(told) << "seed " << seed;
            }
        }
    }
}

}  // namespace
}  // namespace proxy
