#include "proxy/http/min_age.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace min_age_test {

using namespace std::chrono_literals;
using test::Head;
using ::testing::HasSubstr;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20) + 12h;

std::optional<std::string> refusal(std::chrono::seconds modified_ago, unsigned status = 200) {
    Rule rule;
    rule.name = "cooldown";
    rule.min_age = 24h * 7;
    std::string line("Last-Modified: ");
    append_http_date(line, kNow - modified_ago);
    return why_too_young(rule, status, Head(line.c_str()), kNow, std::nullopt);
}

TEST(MinAge, RefusesYoungContentAndSaysWhenItPasses) {
    EXPECT_THAT(refusal(0s).value(), HasSubstr("younger than 7 days (min_age)"));
    EXPECT_THAT(refusal(24h * 7 - 1s).value(), HasSubstr("it passes at 2026-11-20T12:00:01Z"));
    EXPECT_FALSE(refusal(24h * 7));
    EXPECT_FALSE(refusal(24h * 365));
    EXPECT_TRUE(refusal(-1h)) << "a date in the future";
    EXPECT_TRUE(refusal(0s, 206));
}

TEST(MinAge, PassesResponsesWithoutContent) {
    for (const auto status : {204u, 301u, 304u, 404u, 503u}) EXPECT_FALSE(refusal(0s, status));
}

TEST(MinAge, RefusesContentOfUnknownAge) {
    Rule rule;
    rule.min_age = 1s;
    for (const auto* head : {"Date: x", "Last-Modified: yesterday",
                             "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\nLast-Modified: x"})
        EXPECT_THAT(why_too_young(rule, 200, Head(head), kNow, std::nullopt).value(),
                    HasSubstr("unknown"));
    rule.min_age.reset();
    EXPECT_FALSE(why_too_young(rule, 200, Head("Date: x"), kNow, std::nullopt));
}

TEST(MinAge, CountsFromTheFirstSightWithoutLastModified) {
    Rule rule;
    rule.min_age = 24h;
    const Head tagged("ETag: \"1\"");
    EXPECT_EQ(tag_of_first_sight(rule, 200, tagged, kNow), "\"1\"");
    EXPECT_THAT(
        why_too_young(rule, 200, tagged, kNow, kNow - 23h).value(),
        HasSubstr("first saw it at 2026-11-19T13:00:00Z; it passes at 2026-11-20T13:00:00Z"));
    EXPECT_FALSE(why_too_young(rule, 200, tagged, kNow, kNow - 24h));
    EXPECT_EQ(tag_of_first_sight(rule, 404, tagged, kNow), "") << "no content";
    EXPECT_EQ(tag_of_first_sight(Rule(), 200, tagged, kNow), "") << "no such rule";
}

TEST(MinAge, OfAFollowedTargetCountsIfItIsStricter) {
    Rule rule;
    rule.storing.follow_redirects = true;
    const auto refusal_of = [&](std::string_view stated) {
        const auto head =
            "Last-Modified: Fri, 20 Nov 2026 11:00:00 GMT\nHearsay-Min-Age: " + std::string(stated);
        return why_too_young(rule, 200, Head(head.c_str()), kNow, std::nullopt);
    };
    EXPECT_TRUE(refusal_of("86400"));
    EXPECT_FALSE(refusal_of("60"));
    rule.min_age = 24h;
    EXPECT_TRUE(refusal_of("60")) << "the rule is stricter";
    rule.min_age = 1s;
    EXPECT_TRUE(refusal_of("86400")) << "the target is stricter";
    EXPECT_FALSE(refusal_of("-1"));
    EXPECT_FALSE(refusal_of("1e9"));
    rule.min_age.reset();
    rule.storing.follow_redirects = false;
    EXPECT_FALSE(refusal_of("86400")) << "no redirect was followed";
}

TEST(MinAge, JudgesWhatAGetWouldBring) {
    for (const auto* method : {"GET", "HEAD", "get", "POST", "PATCH", "OPTIONS", "FOO", "REPORT"})
        EXPECT_TRUE(may_bring_content(method, 200)) << method;
    for (const auto* method : {"PUT", "DELETE"}) EXPECT_FALSE(may_bring_content(method, 200));
    EXPECT_FALSE(may_bring_content("POST", 201));
    EXPECT_FALSE(may_bring_content("POST", 202));
}

TEST(MinAge, PrefersLastModifiedToTheFirstSight) {
    Rule rule;
    rule.min_age = 24h;
    const Head both("ETag: \"1\"\nLast-Modified: Fri, 20 Nov 2026 11:00:00 GMT");
    EXPECT_EQ(tag_of_first_sight(rule, 200, both, kNow), "");
    EXPECT_TRUE(why_too_young(rule, 200, both, kNow, kNow - 240h));
}

}  // namespace min_age_test
}  // namespace proxy
