#include "proxy/http/min_age.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/head.hpp"

namespace proxy {
namespace http_min_age_test {

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
    return why_too_young(rule, status, Head(line.c_str()), kNow);
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
        EXPECT_THAT(why_too_young(rule, 200, Head(head), kNow).value(), HasSubstr("unknown"));
    rule.min_age.reset();
    EXPECT_FALSE(why_too_young(rule, 200, Head("Date: x"), kNow));
}

}  // namespace http_min_age_test
}  // namespace proxy
