#include "proxy/http/freshness.hpp"
#include "proxy/http/rule.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace freshness_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20) + 12h;

std::string date(std::string_view name, std::chrono::seconds from_now) {
    std::string line = std::string(name) + ": ";
    append_http_date(line, kNow + from_now);
    return line + "\n";
}

Freshness freshness(const std::string& head, unsigned status = 200,
                    std::chrono::seconds delay = 0s) {
    return freshness_of(status, Head(head.c_str()), kNow - delay, kNow, {});
}

std::chrono::seconds lifetime(const std::string& head, unsigned status = 200) {
    return freshness(date("Date", 0s) + head, status).lifetime;
}

std::chrono::seconds age(const std::string& head, std::chrono::seconds delay = 0s) {
    return freshness(head, 200, delay).initial_age;
}

TEST(Lifetime, ComesFromTheMostSpecificSource) {  // RFC 9111 §4.2.1, behaviour 20
    const auto expires = date("Expires", 30s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=10, s-maxage=60\n" + expires), 60s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=60, s-maxage=10\n" + expires), 10s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=60\nCache-Control: s-maxage=10\n"), 10s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=10\n" + expires), 10s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=0\n" + expires), 0s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=10\nExpires: 0\n"), 10s);
    EXPECT_EQ(lifetime("Cache-Control: max-age=10\n" + date("Expires", -9s)), 10s);
    EXPECT_EQ(lifetime(expires), 30s);
}

TEST(Lifetime, SaysWhereItComesFrom) {
    EXPECT_EQ(freshness("Cache-Control: s-maxage=1").source, LifetimeSource::s_maxage);
    EXPECT_EQ(freshness("Cache-Control: max-age=1").source, LifetimeSource::max_age);
    EXPECT_EQ(freshness("Expires: 0").source, LifetimeSource::expires);
    EXPECT_EQ(freshness("").source, LifetimeSource::heuristic);
    EXPECT_EQ(freshness("", 302).source, LifetimeSource::none);
    EXPECT_FALSE(freshness("").is_explicit());
    EXPECT_TRUE(freshness("Expires: 0").is_explicit());
}

TEST(Lifetime, CountsExpiresAgainstTheResponsesOwnDate) {  // behaviour 21
    EXPECT_EQ(freshness(date("Date", -1h) + date("Expires", -1h + 30s)).lifetime, 30s);
    EXPECT_EQ(freshness(date("Date", 2h) + date("Expires", 1h)).lifetime, 0s);
    EXPECT_EQ(freshness(date("Date", 1h) + date("Expires", 1h)).lifetime, 0s);
    EXPECT_EQ(freshness(date("Date", 1h) + date("Expires", 1h + 5s)).lifetime, 5s);
}

TEST(Lifetime, TakesTheTimeOfReceiptForAMissingOrBrokenDate) {  // behaviour 21
    EXPECT_EQ(freshness(date("Expires", 30s)).lifetime, 30s);
    EXPECT_EQ(freshness("Date: yesterday\n" + date("Expires", 30s)).lifetime, 30s);
    EXPECT_EQ(freshness(date("Date", -1h) + date("Date", -2h) + date("Expires", 30s)).lifetime,
              30s);
}

TEST(Lifetime, IsZeroForBrokenExpires) {  // RFC 9111 §5.3, behaviour 26
    for (const char* value : {"0", "-1", "", "tomorrow", "Thu, 18 Aug 2050 02:01:18 AEST"}) {
        const auto f = freshness(date("Last-Modified", -100h) + "Expires: " + value);
        EXPECT_EQ(f.lifetime, 0s) << value;
        EXPECT_EQ(f.source, LifetimeSource::expires) << value;
    }
    EXPECT_EQ(lifetime(date("Expires", 30s) + date("Expires", 60s)), 0s);
    EXPECT_EQ(lifetime(date("Expires", 30s) + date("Expires", 30s)), 30s);
}

TEST(Lifetime, ReadsTheOldFormsOfExpires) {  // behaviour 26
    EXPECT_GT(lifetime("Expires: Thursday, 18-Aug-50 02:01:18 GMT\n"), 24h * 365 * 20);
    EXPECT_GT(lifetime("Expires: Thu Aug 18 02:01:18 2050\n"), 24h * 365 * 20);
    EXPECT_GT(lifetime("Expires: thu, 18 AUG 2050 02:01:18 gmt\n"), 24h * 365 * 20);
}

TEST(Lifetime, IsZeroForMalformedDirectives) {  // RFC 9111 §4.2.1, behaviour 24
    const auto expires = date("Expires", 30s) + date("Last-Modified", -100h);
    for (const char* value :
         {"max-age=-5", "max-age='60'", "max-age=60x", "s-maxage=x, max-age=60"}) {
        EXPECT_EQ(lifetime(expires + "Cache-Control: " + value), 0s) << value;
    }
    EXPECT_EQ(lifetime("Cache-Control: max-age=x, s-maxage=5"), 5s);
}

TEST(Lifetime, Saturates) {  // RFC 9111 §1.2.2, behaviour 23
    EXPECT_EQ(lifetime("Cache-Control: max-age=99999999999999999999"), kMaxDelta);
    EXPECT_EQ(lifetime("Expires: Fri, 31 Dec 9999 23:59:59 GMT"), kMaxDelta);
}

TEST(HeuristicLifetime, IsATenthOfTheTimeSinceModification) {  // RFC 9111 §4.2.2
    EXPECT_EQ(lifetime(date("Last-Modified", -1000s)), 100s);
    EXPECT_EQ(lifetime(date("Last-Modified", 1000s)), 0s);
    EXPECT_EQ(lifetime(""), 0s);
    EXPECT_EQ(lifetime("Last-Modified: once"), 0s);
}

TEST(HeuristicLifetime, IsASecondForAFileThatIsNew) {
    EXPECT_EQ(lifetime(date("Last-Modified", -1s)), 1s);
    EXPECT_EQ(lifetime(date("Last-Modified", -9s)), 1s);
    EXPECT_EQ(lifetime(date("Last-Modified", -25s)), 2s);
    EXPECT_EQ(lifetime(date("Last-Modified", 0s)), 0s);
    EXPECT_EQ(lifetime(date("Last-Modified", 5s)), 0s);
    const Head head((date("Date", 0s) + date("Last-Modified", -5s)).c_str());
    EXPECT_EQ(freshness_of(200, head, kNow, kNow, {.heuristic_maximum = 0s}).lifetime, 0s);
}

TEST(HeuristicLifetime, HasAnUpperBound) {
    EXPECT_EQ(lifetime(date("Last-Modified", -24h * 9)), std::chrono::seconds(24h) * 9 / 10);
    EXPECT_EQ(lifetime(date("Last-Modified", -24h * 365)), CacheRules{}.heuristic_maximum);
    EXPECT_EQ(lifetime("Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT"),
              CacheRules{}.heuristic_maximum);
}

TEST(HeuristicLifetime, IsASetting) {
    const Head head((date("Date", 0s) + date("Last-Modified", -1000s)).c_str());
    EXPECT_EQ(freshness_of(200, head, kNow, kNow, {.heuristic_fraction = 0.5}).lifetime, 500s);
    EXPECT_EQ(freshness_of(200, head, kNow, kNow, {.heuristic_maximum = 70s}).lifetime, 70s);
    EXPECT_EQ(freshness_of(200, head, kNow, kNow, {.heuristic_maximum = 0s}).lifetime, 0s);
}

TEST(HeuristicLifetime, IsForSomeStatusesOnly) {  // RFC 9110 §15.1, behaviour 27
    const auto modified = date("Last-Modified", -1000s);
    for (const unsigned status : {200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501}) {
        EXPECT_EQ(lifetime(modified, status), 100s) << status;
    }
    for (const unsigned status :
         {201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 299, 599}) {
        EXPECT_EQ(lifetime(modified, status), 0s) << status;
        EXPECT_EQ(lifetime(modified + "Cache-Control: public", status), 100s) << status;
    }
}

TEST(Age, CountsFromTheLargerOfDateAndReceivedAge) {  // RFC 9111 §4.2.3, behaviour 22
    EXPECT_EQ(age(date("Date", 0s)), 0s);
    EXPECT_EQ(age(date("Date", -10s)), 10s);
    EXPECT_EQ(age(date("Date", -10s) + "Age: 30"), 30s);
    EXPECT_EQ(age(date("Date", -10s) + "Age: 5"), 10s);
    EXPECT_EQ(age(date("Date", 100s)), 0s);  // an origin whose clock is ahead
    EXPECT_EQ(age("Age: 5"), 5s);
}

TEST(Age, IncludesTheTimeTheRequestTook) {  // RFC 9111 §4.2.3
    EXPECT_EQ(age(date("Date", 0s), 3s), 3s);
    EXPECT_EQ(age(date("Date", 0s) + "Age: 30", 3s), 33s);
    EXPECT_EQ(age(date("Date", -10s), 3s), 10s);
    EXPECT_EQ(age("Age: 4", -100s), 4s);  // the clock was set back meanwhile
}

TEST(Age, OfACopyOfAPeerLeavesTheClocksOfOthersOut) {  // RFC 9111 §4.2.3
    const auto of_copy = [](const std::string& head, std::chrono::seconds delay) {
        auto f = freshness(head + "Cache-Control: max-age=60\n", 200, delay);
        count_age_of_copy(f, Head(head.c_str()), delay);
        return std::chrono::seconds(f.initial_age);
    };
    EXPECT_EQ(of_copy(date("Date", -3600s) + "Age: 2\n", 1s), 3s) << "this clock is ahead";
    EXPECT_EQ(of_copy(date("Date", 3600s) + "Age: 2\n", 1s), 3s) << "or behind";
    EXPECT_EQ(of_copy(date("Date", -3s) + "Age: 2\n", 0s), 2s) << "a tick of two clocks";
    EXPECT_EQ(of_copy(date("Date", -10s), 0s), 10s) << "without Age there is nothing else";
}

TEST(Age, TakesTheFirstNumberOfAList) {  // RFC 9111 §5.1, behaviour 40
    EXPECT_EQ(received_age(Head("Age: 7, 9")), 7s);
    EXPECT_EQ(received_age(Head("Age: 7\nAge: 9")), 7s);
    EXPECT_EQ(received_age(Head("Age: , 7")), 7s);
    EXPECT_EQ(received_age(Head("Age: 007")), 7s);
}

TEST(Age, IgnoresMalformedNumbers) {  // behaviour 40
    for (const char* value : {"", "x", "-1", "+1", "1.5", "1s", "7x, 9", "\"7\"", "7;a=b"}) {
        const auto line = std::string("Age: ") + value;
        EXPECT_FALSE(received_age(Head(line.c_str()))) << value;
    }
    EXPECT_FALSE(received_age(Head("Date: x")));
}

TEST(Age, Saturates) {  // behaviour 23
    const auto f = freshness("Age: 9999999999999999999\nCache-Control: max-age=60", 200, 5s);
    EXPECT_EQ(f.initial_age, kMaxDelta);
    EXPECT_EQ(current_age(f, 1000h), kMaxDelta);
    EXPECT_FALSE(is_fresh(f, 0s));
}

TEST(Freshness, EndsWhenAgeReachesTheLifetime) {  // RFC 9111 §4.2
    const auto f = freshness(date("Date", -10s) + "Cache-Control: max-age=60");
    EXPECT_EQ(current_age(f, 5s), 15s);
    EXPECT_TRUE(is_fresh(f, 49s));
    EXPECT_EQ(time_to_live(f, 49s), 1s);
    EXPECT_FALSE(is_fresh(f, 50s));
    EXPECT_EQ(time_to_live(f, 55s), -5s);
}

TEST(Freshness, IsGoneFromTheStartWithAnAgeBeyondTheLifetime) {  // behaviour 22
    EXPECT_FALSE(is_fresh(freshness("Age: 90\nCache-Control: max-age=60"), 0s));
    EXPECT_FALSE(is_fresh(freshness("Age: 90\n" + date("Date", 0s) + date("Expires", 60s)), 0s));
}

TEST(Freshness, NeverGrowsWhenTheClockGoesBack) {
    const auto f = freshness("Age: 10\nCache-Control: max-age=60");
    EXPECT_EQ(current_age(f, -5s), 10s);
}

TEST(Freshness, KnowsTheDirectivesAgainstServingStale) {  // RFC 9111 §4.2.4, behaviour 30
    for (const char* value : {"must-revalidate", "proxy-revalidate", "s-maxage=5", "no-cache",
                              "Must-Revalidate, max-age=5", "s-maxage=x"}) {
        EXPECT_TRUE(freshness(std::string("Cache-Control: ") + value).never_stale) << value;
    }
    for (const char* value :
         {"max-age=5", "no-cache=\"X-A\"", "public", "foo=\"must-revalidate\""}) {
        EXPECT_FALSE(freshness(std::string("Cache-Control: ") + value).never_stale) << value;
    }
}

TEST(Freshness, AlwaysValidatesWithNoCache) {  // RFC 9111 §5.2.2.4, behaviour 41
    EXPECT_TRUE(freshness("Cache-Control: max-age=60, No-Cache").always_validate);
    EXPECT_FALSE(freshness("Cache-Control: max-age=60, no-cache=\"Set-Cookie\"").always_validate);
    EXPECT_FALSE(freshness("Pragma: no-cache").always_validate);  // §5.4, behaviour 43
}

TEST(Freshness, KeepsTheStaleWindows) {  // RFC 5861
    const auto f = freshness("Cache-Control: stale-while-revalidate=5, stale-if-error=0");
    EXPECT_EQ(f.stale_while_revalidate, 5s);
    EXPECT_EQ(f.stale_if_error, 0s);
    EXPECT_EQ(freshness("Cache-Control: stale-if-error=x").stale_if_error, -1s);
}

TEST(Freshness, KnowsWhetherItCanBeValidated) {
    EXPECT_TRUE(freshness("ETag: \"a\"").has_validator);
    EXPECT_TRUE(freshness(date("Last-Modified", 0s)).has_validator);
    EXPECT_FALSE(freshness("Last-Modified: once").has_validator);
    EXPECT_FALSE(freshness(date("Date", 0s)).has_validator);
}

TEST(Freshness, IsSmall) {
    static_assert(sizeof(Freshness) <= 24);
}

TEST(TargetedLifetime, ReplacesCacheControlAndExpires) {  // RFC 9213, behaviour 29
    const auto expires = date("Expires", 30s);
    EXPECT_EQ(lifetime("CDN-Cache-Control: max-age=5\nCache-Control: s-maxage=60\n" + expires), 5s);
    EXPECT_EQ(lifetime("CDN-Cache-Control: max-age=60\nCache-Control: max-age=5\n" + expires), 60s);
    EXPECT_EQ(lifetime("CDN-Cache-Control: max-age=9, s-maxage=7\nCache-Control: no-store"), 7s);
    // Neither is left to fall back on where it gives no lifetime.
    EXPECT_EQ(lifetime("CDN-Cache-Control: public\nCache-Control: max-age=60\n" + expires), 0s);
    EXPECT_EQ(freshness("CDN-Cache-Control: public\n" + expires).source, LifetimeSource::heuristic);
}

TEST(TargetedLifetime, CarriesTheOtherDirectivesToo) {  // behaviour 29
    const auto strict = freshness(
        "CDN-Cache-Control: max-age=9, must-revalidate, stale-if-error=3\n"
        "Cache-Control: max-age=9, stale-while-revalidate=5");
    EXPECT_TRUE(strict.never_stale);
    EXPECT_EQ(strict.stale_if_error, 3s);
    EXPECT_EQ(strict.stale_while_revalidate, -1s);
    const auto lax = freshness(
        "CDN-Cache-Control: max-age=9\n"
        "Cache-Control: max-age=9, must-revalidate, no-cache");
    EXPECT_FALSE(lax.never_stale || lax.always_validate);
    EXPECT_TRUE(freshness("CDN-Cache-Control: max-age=9, no-cache").always_validate);
}

TEST(TargetedLifetime, CanBeTurnedOff) {
    const Head head("CDN-Cache-Control: max-age=5\nCache-Control: max-age=60");
    EXPECT_EQ(freshness_of(200, head, kNow, kNow, {.cdn_cache_control = false}).lifetime, 60s);
}

/// The freshness of a response to which `rule` applies.
Freshness by_rule(const StoringRule& rule, const std::string& head, unsigned status = 200,
                  bool from_peer = false) {
    auto out = freshness(date("Date", 0s) + head, status);
    apply_rule(out, rule, status, from_peer);
    return out;
}

TEST(FreshnessByRule, CountsALifetimeFromTheArrivalAtTheFirstNode) {
    StoringRule rule;
    rule.fresh_for = {{200, 1h}, {404, 1min}};
    const auto old = by_rule(rule, "Cache-Control: max-age=60\nAge: 86400\n");
    EXPECT_EQ(old.lifetime, 1h);
    EXPECT_EQ(old.initial_age, 0s) << "else a response that a CDN kept for a day is never fresh";
    EXPECT_EQ(old.source, LifetimeSource::rule);
    const auto copy = by_rule(rule, "Cache-Control: max-age=60\nAge: 600\n", 200, true);
    EXPECT_EQ(copy.lifetime, 1h);
    EXPECT_EQ(copy.initial_age, 600s) << "the time at the peer";
    EXPECT_EQ(by_rule(rule, "", 404).lifetime, 1min);
    EXPECT_EQ(by_rule(rule, "", 302).source, LifetimeSource::none) << "not listed";
}

TEST(FreshnessByRule, RaisesAndCutsLifetimes) {
    StoringRule rule;
    rule.at_least = 30min;
    rule.at_most = 2h;
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=60").lifetime, 30min);
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=3600").lifetime, 1h);
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=86400").lifetime, 2h);
    const auto aged = by_rule(rule, "Cache-Control: max-age=7200\nAge: 3600\n");
    EXPECT_EQ(aged.lifetime - aged.initial_age, 1h) << "the origin's own lifetime is in bounds";
    EXPECT_EQ(aged.initial_age, 1h);
    const auto spent = by_rule(rule, "Cache-Control: max-age=60\nAge: 3600\n");
    EXPECT_EQ(spent.lifetime - spent.initial_age, 30min);
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=1", 404).lifetime, 1s)
        << "an error lives longer by fresh_for alone";
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=86400", 404).lifetime, 2h);
    EXPECT_FALSE(by_rule(rule, "").is_explicit()) << "a guess that is raised stays a guess";
}

TEST(FreshnessByRule, APeersCopyLivesNoLongerThanTheFirstCopy) {
    StoringRule rule;
    rule.at_most = 15min;
    const auto left = [&](const char* head, bool from_peer) {
        const auto out = by_rule(rule, head, 200, from_peer);
        return out.lifetime - out.initial_age;
    };
    EXPECT_EQ(left("Cache-Control: max-age=3600\nAge: 3000\n", false), 10min);
    EXPECT_EQ(left("Cache-Control: max-age=3600\nAge: 3060\n", true), 9min) << "a minute later";
    EXPECT_EQ(left("Cache-Control: max-age=86400\nAge: 3000\n", false), 15min);
    EXPECT_EQ(left("Cache-Control: max-age=86400\nAge: 60\n", true), 14min);
}

TEST(FreshnessByRule, ImmutableContentIsFreshForEver) {
    StoringRule rule;
    rule.immutable = true;
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=60").lifetime, kMaxDelta);
    EXPECT_EQ(by_rule(rule, "Cache-Control: max-age=60", 404).lifetime, 60s);
}

TEST(FreshnessByRule, StaleWindowsReplaceThoseOfTheOrigin) {
    StoringRule rule;
    rule.stale_if_error = 1h;
    const auto strict = by_rule(rule, "Cache-Control: max-age=60, must-revalidate");
    EXPECT_EQ(strict.stale_if_error, 1h);
    EXPECT_FALSE(strict.never_stale);
    EXPECT_TRUE(by_rule(rule, "Cache-Control: no-cache").never_stale);
    StoringRule renewing;
    renewing.stale_while_revalidate = 1min;
    const auto renewed = by_rule(renewing, "Cache-Control: max-age=60, must-revalidate");
    EXPECT_EQ(renewed.stale_while_revalidate, 1min);
    EXPECT_EQ(renewed.stale_if_error, 0s) << "the origin forbids it, and the rule says nothing";
    renewing.stale_while_revalidate = 0s;
    EXPECT_TRUE(by_rule(renewing, "Cache-Control: max-age=60, must-revalidate").never_stale);
    EXPECT_TRUE(by_rule(StoringRule(), "Cache-Control: must-revalidate").never_stale);
}

}  // namespace freshness_test
}  // namespace proxy
