#include "proxy/upstream/origin_backoff.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace proxy {
namespace origin_backoff_test {

using namespace std::chrono_literals;
using Time = OriginBackoff::Time;

const Time kNow = Time() + std::chrono::hours(1);

TEST(OriginBackoff, GivesAPauseThatGrows) {
    OriginBackoff backoff;
    EXPECT_TRUE(backoff.empty());
    EXPECT_TRUE(backoff.may_ask("a", kNow));
    auto now = kNow;
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        backoff.refused("a", std::nullopt, now, now);
        EXPECT_FALSE(backoff.may_ask("a", now + pause - 1ms)) << pause.count();
        EXPECT_TRUE(backoff.may_ask("b", now)) << "another place";
        now += pause;
        EXPECT_TRUE(backoff.may_ask("a", now)) << pause.count();
        EXPECT_FALSE(backoff.may_ask("a", now)) << "one request tries";
    }
    EXPECT_TRUE(backoff.may_ask("a", now + 30s)) << "the one that tries may be lost";
    backoff.answered("a", now);
    EXPECT_TRUE(backoff.empty());
}

TEST(OriginBackoff, TakesAnswersToRequestsOfOneMomentForOne) {
    OriginBackoff backoff;
    for (int i = 0; i < 20; ++i) backoff.refused("a", std::nullopt, kNow, kNow + 10ms * (i + 1));
    EXPECT_TRUE(backoff.may_ask("a", kNow + 1010ms));
}

TEST(OriginBackoff, ObeysRetryAfter) {
    OriginBackoff backoff;
    backoff.refused("a", 120s, kNow, kNow);
    backoff.answered("a", kNow + 60s);  // by a request without a stand-in
    EXPECT_FALSE(backoff.may_ask("a", kNow + 119s));
    EXPECT_TRUE(backoff.may_ask("a", kNow + 120s));
    backoff.answered("a", kNow + 120s);
    EXPECT_TRUE(backoff.empty());
    backoff.refused("long", std::chrono::hours(1000), kNow, kNow);
    EXPECT_FALSE(backoff.may_ask("long", kNow + kRetryAfterMost - 1s));
    EXPECT_TRUE(backoff.may_ask("long", kNow + kRetryAfterMost));
    backoff.refused("none", 0s, kNow, kNow);
    EXPECT_FALSE(backoff.may_ask("none", kNow));
    EXPECT_TRUE(backoff.may_ask("none", kNow + kBackoffFirst));
}

TEST(OriginBackoff, GivesAResourceThatFailsSlowlyItsOwnPause) {
    OriginBackoff backoff;
    auto now = kNow;
    for (const auto pause : {1s, 2s, 4s}) {
        const auto began = std::exchange(now, now + 3s);
        backoff.failed_slowly("a", "a /1", began, now);
        EXPECT_TRUE(backoff.may_ask("a", now)) << "others may work";
        EXPECT_TRUE(backoff.is_slow("a /1", now));
        EXPECT_FALSE(backoff.is_slow("a", now));
        EXPECT_FALSE(backoff.may_ask("a /1", now + pause - 1ms));
        now += pause;
        EXPECT_TRUE(backoff.may_ask("a /1", now)) << pause.count();
    }
    backoff.answered("a /1", now);
    EXPECT_TRUE(backoff.may_ask("a /1", now));
}

TEST(OriginBackoff, GivesThePlaceAPauseOnceSeveralResourcesFailSlowlyInARow) {
    OriginBackoff backoff;
    for (const auto* resource : {"a /1", "a /2"}) backoff.failed_slowly("a", resource, kNow, kNow);
    EXPECT_TRUE(backoff.may_ask("a", kNow));
    backoff.failed_slowly("a", "a /3", kNow, kNow);
    EXPECT_FALSE(backoff.may_ask("a", kNow));
    EXPECT_TRUE(backoff.is_slow("a", kNow));
    EXPECT_TRUE(backoff.is_slow("a", kNow + kBackoffFirst + kBackoffMost));
    EXPECT_FALSE(backoff.is_slow("a", kNow + kBackoffFirst + kBackoffMost + 1s)) << "long ago";
    backoff.answered("a", kNow);
    EXPECT_TRUE(backoff.may_ask("a", kNow));
    for (const auto* resource : {"a /1", "a /2"}) backoff.failed_slowly("a", resource, kNow, kNow);
    EXPECT_TRUE(backoff.may_ask("a", kNow)) << "an answer between them begins the count anew";
}

TEST(OriginBackoff, IsBounded) {
    OriginBackoff backoff;
    for (std::size_t i = 0; i < kMaxBackoffs; ++i)
        backoff.refused(std::to_string(i), 60s, kNow, kNow);
    backoff.refused("more", 60s, kNow, kNow);
    EXPECT_TRUE(backoff.may_ask("more", kNow)) << "no room";
    const auto later = kNow + 61s;
    backoff.refused("more", 60s, later, later);
    EXPECT_FALSE(backoff.may_ask("more", later)) << "those that are over make room";
}

TEST(OriginBackoff, ConcernsOneOriginHostAndRule) {
    UpstreamTarget one{{"10.0.0.1", 80}}, two{{"10.0.0.2", 80}};
    EXPECT_NE(backoff_key(one, "a.test", "1"), backoff_key(two, "a.test", "1"));
    EXPECT_NE(backoff_key(one, "a.test", "1"), backoff_key(one, "b.test", "1"));
    EXPECT_NE(backoff_key(one, "a.test", "1"), backoff_key(one, "a.test", "2"));
    EXPECT_EQ(backoff_key(one, "a.test", "1"), backoff_key(one, "a.test", "1"));
}

}  // namespace origin_backoff_test
}  // namespace proxy
