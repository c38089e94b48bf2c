#include "proxy/http/http_date.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace date_test {

using namespace std::chrono_literals;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);
constexpr WallTime k1994 = std::chrono::sys_days(1994y / 11 / 6) + 8h + 49min + 37s;

std::optional<WallTime> parse(std::string_view text) {
    return parse_http_date(text, kNow);
}

TEST(HttpDate, ReadsTheThreeForms) {  // RFC 9110 §5.6.7
    EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:37 GMT"), k1994);
    EXPECT_EQ(parse("Sunday, 06-Nov-94 08:49:37 GMT"), k1994);
    EXPECT_EQ(parse("Sun Nov  6 08:49:37 1994"), k1994);
    EXPECT_EQ(parse("Wed Nov 16 08:49:37 1994"), k1994 + 240h);
}

TEST(HttpDate, IgnoresLetterCase) {
    EXPECT_EQ(parse("sUN, 06 nOV 1994 08:49:37 gmt"), k1994);
    EXPECT_EQ(parse("SUNDAY, 06-NOV-94 08:49:37 GMT"), k1994);
    EXPECT_EQ(parse("sun nov  6 08:49:37 1994"), k1994);
}

TEST(HttpDate, IsReadAnewUnlessItIsTheLastOneAgain) {
    for (int twice = 0; twice < 2; ++twice) {
        EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:37 GMT"), k1994);
        EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:38 GMT"), k1994 + 1s);
        EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:38 GMT"), k1994 + 1s);
        EXPECT_FALSE(parse("Sun, 06 Nov 1994 08:49:38 GMX"));
        EXPECT_FALSE(parse("Sun, 06 Nov 1994 08:49:38 GMX")) << "no date is no last one";
        EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:38 GMT"), k1994 + 1s);
    }
}

TEST(HttpDate, ReachesBeyond2038) {
    EXPECT_EQ(parse("Thu, 18 Aug 2050 02:01:18 GMT"),
              std::chrono::sys_days(2050y / 8 / 18) + 2h + 1min + 18s);
    EXPECT_EQ(parse("Fri, 31 Dec 9999 23:59:59 GMT"),
              std::chrono::sys_days(9999y / 12 / 31) + 23h + 59min + 59s);
}

TEST(HttpDate, PutsTwoDigitYearsAtMostFiftyYearsAhead) {  // RFC 9110 §5.6.7
    const auto year_of = [](std::string_view text, WallTime now) {
        const auto time = parse_http_date(text, now);
        const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time.value()));
        return static_cast<int>(date.year());
    };
    EXPECT_EQ(year_of("Monday, 01-Jan-76 00:00:00 GMT", kNow), 2076);
    EXPECT_EQ(year_of("Monday, 01-Jan-77 00:00:00 GMT", kNow), 1977);
    EXPECT_EQ(year_of("Monday, 01-Jan-26 00:00:00 GMT", kNow), 2026);
    constexpr WallTime k2098 = std::chrono::sys_days(2098y / 1 / 1);
    EXPECT_EQ(year_of("Monday, 01-Jan-03 00:00:00 GMT", k2098), 2103);
    EXPECT_EQ(year_of("Monday, 01-Jan-50 00:00:00 GMT", k2098), 2050);
}

TEST(HttpDate, KnowsTheCalendar) {
    EXPECT_TRUE(parse("Thu, 29 Feb 2024 00:00:00 GMT"));
    EXPECT_FALSE(parse("Sat, 29 Feb 2025 00:00:00 GMT"));
    EXPECT_FALSE(parse("Sun, 31 Nov 1994 08:49:37 GMT"));
    EXPECT_FALSE(parse("Sun, 00 Nov 1994 08:49:37 GMT"));
    EXPECT_EQ(parse("Sat, 31 Dec 2016 23:59:60 GMT"), parse("Sun, 01 Jan 2017 00:00:00 GMT"));
    EXPECT_FALSE(parse("Sat, 31 Dec 2016 23:59:61 GMT"));
    EXPECT_FALSE(parse("Sat, 31 Dec 2016 24:00:00 GMT"));
    EXPECT_FALSE(parse("Sat, 31 Dec 2016 23:60:00 GMT"));
}

class BrokenDate : public testing::TestWithParam<const char*> {};

TEST_P(BrokenDate, IsNoDate) {  // behaviour 26: everything else is in the past
    EXPECT_FALSE(parse(GetParam())) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    HttpDate, BrokenDate,
    testing::Values("", "0", "-1", "now", "Sun", "Sun,", "Sun ",
                    "Sun, 06 Nov 1994 08:49:37",      // no zone
                    "Sun, 06 Nov 1994 08:49:37 UTC",  // other zones
                    "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 06 Nov 1994 08:49:37 +0100",
                    "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 08:49:37+0000",
                    "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Nov 1994 08:49:37 GMTX",
                    "Sun, 06 Nov 94 08:49:37 GMT",    // two-digit year in the modern form
                    "Sun 06 Nov 1994 08:49:37 GMT",   // no comma
                    "Sun, 06-Nov-1994 08:49:37 GMT",  // wrong separators
                    "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
                    "Sun, 06 Nov 1994 8:49:37 GMT",  // single digits
                    "Sun,  6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:9:37 GMT",
                    "Sun,  06 Nov 1994 08:49:37 GMT",  // extra spaces
                    "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT",
                    " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
                    "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37GMT",
                    "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT",
                    "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 19941 08:49:37 GMT",
                    "Sun, +6 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
                    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
                    "Sunday 06-Nov-94 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
                    "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 1994 GMT",
                    "Sun Nov  6 08:49:37 94", "Sun, Nov  6 08:49:37 1994",
                    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
                    "1994-11-06T08:49:37Z"));

TEST(HttpDate, IsReadAsMailSoftwareWritesIt) {  // RFC 5322 §3.3
    EXPECT_EQ(parse("Sun, 6 Nov 1994 08:49:37 GMT"), k1994);
    EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:37 +0000"), k1994);
    EXPECT_EQ(parse("Sun, 6 Nov 1994 08:49:37 +0000"), k1994);
}

TEST(HttpDate, IsWrittenInTheModernForm) {
    std::string out = "Date: ";
    append_http_date(out, k1994);
    EXPECT_EQ(out, "Date: Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpDate, ReadsItsOwnText) {
    for (auto time = WallTime(-40'000'000'000s); time < WallTime(200'000'000'000s);
         time += 98'765'432s) {
        std::string text;
        append_http_date(text, time);
        EXPECT_EQ(parse(text), time) << text;
    }
}

TEST(HttpDate, StaysWithinFourDigitsOfYear) {
    std::string text;
    append_http_date(text, std::chrono::sys_days(12'000y / 1 / 1));
    EXPECT_EQ(text, "Fri, 31 Dec 9999 23:59:59 GMT");
}

}  // namespace date_test
}  // namespace proxy
