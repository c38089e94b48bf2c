#include "proxy/cache/copy_plan.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

summary::KeyHash key(std::uint64_t number) {
    return {number * 0x9E3779B97F4A7C15u, ~number};
}

TEST(RemoteHits, RememberTheLastOnesAtLeastAndTwiceAsManyAtMost) {
    constexpr std::uint64_t window = 100;
    for (std::uint64_t others = 0; others <= 3 * window; ++others) {
        RemoteHits lately(window);
        EXPECT_FALSE(lately.note(key(1)));
        for (std::uint64_t i = 0; i < others; ++i) lately.note(key(2 + i));
        const auto known = lately.note(key(1));
        if (others < window) {
            EXPECT_TRUE(known) << others;
        }
        if (others >= 2 * window) {
            EXPECT_FALSE(known) << others;
        }
    }
}

TEST(RemoteHits, RememberAKeyFromItsLastUseOn) {
    RemoteHits lately(10);
    lately.note(key(1));
    for (std::uint64_t i = 2; i < 200; ++i) {
        EXPECT_FALSE(lately.note(key(i)));
        if (i % 5 == 0) {
            EXPECT_TRUE(lately.note(key(1))) << i;
        }
    }
}

TEST(CopyPolicy, StoresAllOnlyWhatCameBeforeOrNothing) {
    RemoteHits lately;
    for (const auto expected : {false, true, true})
        EXPECT_EQ(stores_copy(CopyPolicy::second_use, {key(1)}, lately), expected);
    EXPECT_FALSE(stores_copy(CopyPolicy::second_use, {key(2)}, lately)) << "of another key";
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(stores_copy(CopyPolicy::always, {key(3)}, lately));
        EXPECT_FALSE(stores_copy(CopyPolicy::never, {key(3)}, lately));
    }
    EXPECT_FALSE(lately.note(key(3))) << "what other policies do is not noted";
}

TEST(CopyPolicy, RenewsWhatIsStoredAlready) {
    RemoteHits lately;
    for (const auto policy : {CopyPolicy::always, CopyPolicy::second_use, CopyPolicy::never})
        EXPECT_TRUE(stores_copy(policy, {.key = key(1), .renews = true}, lately));
    EXPECT_TRUE(stores_copy(CopyPolicy::second_use, {key(1)}, lately))
        << "a renewal is a use as well";
}

TEST(CopyPolicy, CountsWhoWaitsForTheSameAnswerAsAUse) {
    RemoteHits lately;
    EXPECT_TRUE(stores_copy(CopyPolicy::second_use, {.key = key(1), .awaited = true}, lately));
    EXPECT_FALSE(stores_copy(CopyPolicy::never, {.key = key(1), .awaited = true}, lately));
}

}  // namespace
}  // namespace proxy
