#include "proxy/http/request_policy.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace request_policy_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);

Freshness stored(const std::string& cache_control, std::chrono::seconds age = 0s) {
    const auto head = "Cache-Control: " + cache_control + "\nAge: " + std::to_string(age.count());
    return freshness_of(200, Head(head.c_str()), kNow, kNow, {});
}

RequestDirectives asking(const std::string& cache_control) {
    return request_directives(Head(("Cache-Control: " + cache_control).c_str()));
}

const RequestDirectives kPlain;

TEST(Reuse, FollowsFreshnessWithoutDirectives) {  // RFC 9111 §4
    EXPECT_EQ(decide_reuse(kPlain, stored("max-age=60"), 59s), Reuse::fresh);
    EXPECT_EQ(decide_reuse(kPlain, stored("max-age=60"), 60s), Reuse::stale);
    EXPECT_TRUE(usable(Reuse::fresh));
    EXPECT_FALSE(usable(Reuse::stale));
}

TEST(Reuse, AlwaysValidatesNoCacheResponses) {  // RFC 9111 §5.2.2.4
    EXPECT_EQ(decide_reuse(kPlain, stored("max-age=60, no-cache"), 0s), Reuse::response_no_cache);
    EXPECT_EQ(decide_reuse(asking("max-stale"), stored("no-cache"), 0s), Reuse::response_no_cache);
}

TEST(Reuse, ValidatesWhenTheClientAsksForIt) {  // RFC 9111 §5.2.1.1, §5.2.1.4
    EXPECT_EQ(decide_reuse(asking("no-cache"), stored("max-age=60"), 0s), Reuse::request);
    EXPECT_EQ(decide_reuse(asking("max-age=0"), stored("max-age=60"), 1s), Reuse::request);
    // behaviour 42, also within the second in which it came
    EXPECT_EQ(decide_reuse(asking("max-age=0"), stored("max-age=60"), 0s), Reuse::request);
    EXPECT_EQ(decide_reuse(asking("max-age=1"), stored("max-age=60"), 0s), Reuse::fresh);
    EXPECT_EQ(decide_reuse(request_directives(Head("Pragma: no-cache")), stored("max-age=60"), 0s),
              Reuse::request);
}

TEST(Reuse, ComparesMaxAgeWithTheWholeAge) {  // RFC 9111 §5.2.1.1, behaviour 42
    EXPECT_EQ(decide_reuse(asking("max-age=30"), stored("max-age=60", 20s), 10s), Reuse::fresh);
    EXPECT_EQ(decide_reuse(asking("max-age=30"), stored("max-age=60", 20s), 11s), Reuse::request);
    EXPECT_EQ(decide_reuse(asking("max-age=90"), stored("max-age=60"), 70s), Reuse::stale);
}

TEST(Reuse, LeavesTheTimeOfMinFresh) {  // RFC 9111 §5.2.1.3
    EXPECT_EQ(decide_reuse(asking("min-fresh=30"), stored("max-age=60", 20s), 10s), Reuse::fresh);
    EXPECT_EQ(decide_reuse(asking("min-fresh=30"), stored("max-age=60", 20s), 11s), Reuse::request);
}

TEST(Reuse, ServesStaleWithinMaxStale) {  // RFC 9111 §5.2.1.2
    const auto f = stored("max-age=60");
    EXPECT_EQ(decide_reuse(asking("max-stale=10"), f, 70s), Reuse::stale_allowed);
    EXPECT_EQ(decide_reuse(asking("max-stale=10"), f, 71s), Reuse::stale);
    EXPECT_EQ(decide_reuse(asking("max-stale"), f, 10h), Reuse::stale_allowed);
    EXPECT_EQ(decide_reuse(asking("max-stale=10"), f, 59s), Reuse::fresh);
    EXPECT_TRUE(usable(Reuse::stale_allowed));
}

TEST(Reuse, LetsTheOriginOverruleMaxStale) {  // RFC 9111 §4.2.4, behaviour 30
    for (const char* value :
         {"max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"}) {
        EXPECT_EQ(decide_reuse(asking("max-stale"), stored(value), 61s), Reuse::stale) << value;
    }
}

TEST(Reuse, CombinesMaxStaleWithStricterWishes) {
    const auto f = stored("max-age=60");
    EXPECT_EQ(decide_reuse(asking("max-stale=60, max-age=65"), f, 64s), Reuse::stale_allowed);
    EXPECT_EQ(decide_reuse(asking("max-stale=60, max-age=65"), f, 66s), Reuse::stale);
    EXPECT_EQ(decide_reuse(asking("max-stale, no-cache"), f, 61s), Reuse::stale);
    EXPECT_EQ(decide_reuse(asking("max-stale, min-fresh=1"), f, 61s), Reuse::stale);
}

Freshness of(const char* head, const char* request = "Host: a") {
    auto freshness = freshness_of(200, Head(head), kNow, kNow, {});
    if (may_be_personal(Head(request), freshness, {})) make_personal(freshness);
    return freshness;
}

TEST(Reuse, ServesResponsesWithoutLifetimeAfterValidationOnly) {
    for (const char* head :
         {"ETag: \"v\"", "Cache-Control: max-age=0\nETag: \"v\"", "Expires: 0\nETag: \"v\"",
          "Cache-Control: max-age=x\nETag: \"v\"", "Cache-Control: stale-if-error=60"}) {
        for (const char* wish : {"max-stale", "max-stale=1000", "max-stale, max-age=1000"}) {
            EXPECT_EQ(decide_reuse(asking(wish), of(head), 5s), Reuse::stale) << head;
        }
    }
    const auto guessed =
        of("Last-Modified: Fri, 20 Nov 2026 00:00:00 GMT\n"
           "Date: Fri, 20 Nov 2026 00:10:00 GMT");  // 60 s
    EXPECT_EQ(decide_reuse(asking("max-stale"), guessed, 61s), Reuse::stale_allowed);
}

TEST(Reuse, DoesNotLetClientsWearAShieldDown) {
    const auto directives =
        request_directives(Head("Cache-Control: max-stale, max-age=90"), ClientDirectives::shield);
    EXPECT_TRUE(directives.plain());
    EXPECT_EQ(decide_reuse(directives, stored("max-age=60"), 61s), Reuse::stale);
}

TEST(Reuse, ValidatesPersonalResponses) {
    for (const char* request : {"Cookie: who=one", "Authorization: Basic eA=="}) {
        for (const char* head :
             {"ETag: \"v\"", "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT",
              "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\nCache-Control: public",
              "ETag: \"v\"\nCache-Control: stale-while-revalidate=60, stale-if-error=60"}) {
            const auto f = of(head, request);
            for (const char* wish : {"x", "max-stale", "max-age=1000", "only-if-cached"}) {
                EXPECT_EQ(decide_reuse(asking(wish), f, 0s), Reuse::response_no_cache) << head;
            }
            for (const auto trouble : {OriginTrouble::unreachable, OriginTrouble::error}) {
                EXPECT_FALSE(may_serve_stale(kPlain, f, 1s, trouble, {})) << head;
            }
            EXPECT_FALSE(may_serve_while_revalidating(kPlain, f, 1s)) << head;
        }
        // Its origin has said that it is for all, and for how long.
        EXPECT_EQ(decide_reuse(kPlain, of("Cache-Control: max-age=60", request), 59s),
                  Reuse::fresh);
    }
}

bool serves_stale(const RequestDirectives& request, const Freshness& f,
                  std::chrono::seconds residence, OriginTrouble trouble) {
    return may_serve_stale(request, f, residence, trouble, {.stale_when_unreachable = 1h});
}

TEST(ServingStale, StandsInForAnUnreachableOrigin) {  // behaviour 31
    const auto f = stored("max-age=60");
    EXPECT_TRUE(serves_stale(kPlain, f, 61s, OriginTrouble::unreachable));
    EXPECT_TRUE(serves_stale(kPlain, f, 60s + 1h, OriginTrouble::unreachable));
    EXPECT_FALSE(serves_stale(kPlain, f, 61s + 1h, OriginTrouble::unreachable));
    EXPECT_FALSE(serves_stale(kPlain, f, 61s, OriginTrouble::error));
}

TEST(ServingStale, NeedsStaleIfErrorForResponsesWithoutLifetime) {  // behaviour 31
    for (const auto trouble : {OriginTrouble::unreachable, OriginTrouble::error}) {
        for (const char* head :
             {"ETag: \"v\"", "Cache-Control: max-age=0\nETag: \"v\"", "Expires: 0\nETag: \"v\"",
              "Cache-Control: stale-if-error=60\nETag: \"v\""}) {
            EXPECT_FALSE(serves_stale(kPlain, of(head), 1s, trouble)) << head;
        }
        EXPECT_TRUE(serves_stale(kPlain, stored("max-age=0, stale-if-error=60"), 1s, trouble));
    }
    EXPECT_FALSE(may_serve_while_revalidating(
        kPlain, of("Cache-Control: stale-while-revalidate=60\nETag: \"v\""), 1s));
    EXPECT_TRUE(
        may_serve_while_revalidating(kPlain, stored("max-age=0, stale-while-revalidate=60"), 1s));
}

TEST(ServingStale, CanBeTurnedOffWhereTheOriginDoesNotAskForIt) {
    const CacheRules never{.stale_when_unreachable = 0s};
    const auto trouble = OriginTrouble::unreachable;
    EXPECT_FALSE(may_serve_stale(kPlain, stored("max-age=60"), 60s, trouble, never));
    EXPECT_TRUE(
        may_serve_stale(kPlain, stored("max-age=60, stale-if-error=9"), 60s, trouble, never));
}

TEST(ServingStale, IsNotStalerThanTheClientTakes) {  // RFC 9111 §5.2.1.2
    const auto f = stored("max-age=60, stale-if-error=100");
    EXPECT_TRUE(serves_stale(asking("max-stale=10"), f, 70s, OriginTrouble::unreachable));
    EXPECT_FALSE(serves_stale(asking("max-stale=10"), f, 71s, OriginTrouble::unreachable));
    EXPECT_TRUE(serves_stale(asking("max-stale"), f, 71s, OriginTrouble::unreachable));
}

TEST(ServingStale, KeepsToTheWindowOfStaleIfError) {  // RFC 5861 §4
    const auto f = stored("max-age=60, stale-if-error=10");
    for (const auto trouble : {OriginTrouble::unreachable, OriginTrouble::error}) {
        EXPECT_TRUE(serves_stale(kPlain, f, 70s, trouble));
        EXPECT_FALSE(serves_stale(kPlain, f, 71s, trouble));
    }
}

TEST(ServingStale, IsForbiddenByTheOrigin) {  // RFC 9111 §4.2.4, behaviour 30
    for (const char* value : {"must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"}) {
        const auto f = stored(std::string("max-age=60, stale-if-error=100, ") + value);
        EXPECT_FALSE(serves_stale(kPlain, f, 61s, OriginTrouble::unreachable)) << value;
        EXPECT_FALSE(serves_stale(kPlain, f, 61s, OriginTrouble::error)) << value;
    }
}

TEST(ServingStale, IsNotForClientsThatAskForValidation) {
    const auto f = stored("max-age=60, stale-if-error=100");
    for (const char* value : {"no-cache", "max-age=0", "min-fresh=5"}) {
        EXPECT_FALSE(serves_stale(asking(value), f, 61s, OriginTrouble::unreachable)) << value;
    }
}

TEST(ServingStale, CoversTheseStatuses) {  // RFC 5861 §4
    for (const unsigned status : {500, 502, 503, 504}) EXPECT_TRUE(is_origin_trouble(status));
    for (const unsigned status : {200, 304, 404, 501, 505, 599}) {
        EXPECT_FALSE(is_origin_trouble(status)) << status;
    }
}

TEST(ServingWhileRevalidating, KeepsToItsWindow) {  // RFC 5861 §3, behaviour 32
    const auto f = stored("max-age=60, stale-while-revalidate=10");
    EXPECT_TRUE(may_serve_while_revalidating(kPlain, f, 70s));
    EXPECT_FALSE(may_serve_while_revalidating(kPlain, f, 71s));
    EXPECT_FALSE(may_serve_while_revalidating(kPlain, stored("max-age=60"), 60s));
    EXPECT_FALSE(may_serve_while_revalidating(asking("no-cache"), f, 61s));
    EXPECT_FALSE(may_serve_while_revalidating(
        kPlain, stored("max-age=60, stale-while-revalidate=10, must-revalidate"), 61s));
}

TEST(AnsweringFollowers, NeedsALifetime) {  // RFC 9111 §4
    for (const auto* said : {"max-age=1", "s-maxage=1", "max-age=1, must-revalidate"})
        EXPECT_TRUE(may_answer_followers(kPlain, stored(said))) << said;
    for (const auto* said : {"max-age=0", "no-cache, max-age=9", "no-cache", "public", ""})
        EXPECT_FALSE(may_answer_followers(kPlain, stored(said))) << said;
    auto guessed = stored("");
    guessed.lifetime = StoredSeconds(1);
    EXPECT_TRUE(may_answer_followers(kPlain, guessed));
    make_personal(guessed);
    EXPECT_FALSE(may_answer_followers(kPlain, guessed));
}

TEST(AnsweringFollowers, IsNotForClientsThatAskForMore) {
    const auto f = stored("max-age=1");
    for (const char* value : {"no-cache", "max-age=0", "max-age=5", "min-fresh=5"})
        EXPECT_FALSE(may_answer_followers(asking(value), f)) << value;
}

}  // namespace request_policy_test
}  // namespace proxy
