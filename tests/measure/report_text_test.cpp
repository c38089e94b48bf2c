#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "measure/report/report.hpp"
#include "tests/measure/report_fixture.hpp"

namespace measure {
namespace report_text_test {

using testing::HasSubstr;
using testing::Not;

/// The line that begins with these words, its blanks made single.
std::string line_of(const std::string& text, const std::string& begin, int which = 0) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(begin, 0) == 0 && which-- == 0) {
            const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
            line.erase(std::unique(line.begin(), line.end(), both_blank), line.end());
            return line;
        }
    }
    return "no line begins with " + begin;
}

TEST(ReportText, GivesOutcomesPerProxyInAllAndIdeally) {
    const auto text = report_text(two_proxies(), false);
    EXPECT_EQ(line_of(text, "a  "), "a 100 60 60.0% 16 16.0% 24 24.0% 0 1 0");
    EXPECT_EQ(line_of(text, "b  "), "b 100 40 40.0% 10 10.0% 50 50.0% 0 0 0");
    EXPECT_EQ(line_of(text, "all"), "all 200 100 50.0% 26 13.0% 74 37.0% 0 1 0");
    EXPECT_EQ(line_of(text, "ideal"), "ideal 200 100 50.0% 30 15.0% 70 35.0%");
    EXPECT_THAT(line_of(text, "found"), HasSubstr("126 of 130 hits = 0.9692 of the ideal"));
    EXPECT_EQ(line_of(text, "hit rate"), "hit rate 63.0%; ideal 65.0% with sharing, 50.0% without");
}

TEST(ReportText, GivesBytesAndAnnouncementsPerProxy) {
    const auto text = report_text(two_proxies(), false);
    EXPECT_EQ(line_of(text, "a  ", 1), "a 97.7 KiB 60.0% 16.0% 76.0% 5 0.0500 1000 B 10");
    EXPECT_EQ(line_of(text, "all", 1), "all 195 KiB 50.0% 13.0% 63.0% 8 0.0400 1.56 KiB 8.0000");
    EXPECT_EQ(line_of(text, "ideal", 1), "ideal 195 KiB 50.0% 15.0% 65.0%");
}

TEST(ReportText, SetsIcpBesideItsMessages) {
    const auto text = report_text(two_proxies(), false);
    EXPECT_EQ(line_of(text, "announcements + false hits"),
              "announcements + false hits 9 0.0450 1.56 KiB 8.0000");
    EXPECT_EQ(line_of(text, "ICP would"), "ICP would have sent 200 1.0000 10.4 KiB 53");
    EXPECT_EQ(line_of(text, "requests to the origin"),
              "requests to the origin 74 (74 answered by the built-in origin)");
    EXPECT_THAT(text, HasSubstr("books: balanced between all 2 pairs"));
}

TEST(ReportText, GivesLatenciesPerOutcome) {
    const auto text = report_text(two_proxies(), false);
    EXPECT_THAT(line_of(text, "local hit  "), HasSubstr("local hit 100 1.0"));
    EXPECT_THAT(line_of(text, "origin fetch "), HasSubstr("origin fetch 74 29."));
    EXPECT_THAT(text, Not(HasSubstr("uncacheable")));
}

TEST(ReportText, TellsWhatWasReplayed) {
    auto report = two_proxies();
    report.note = "the note";
    const auto text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("test.log (squid format)\n200 requests sent, 12 clients, 70 URLs"));
    EXPECT_THAT(text, HasSubstr("100 requests/s"));
    EXPECT_THAT(text, HasSubstr("skipped: 10 of 210 lines: https: URL\n"));
    EXPECT_THAT(text, HasSubstr("the note\n"));
    EXPECT_THAT(text, Not(HasSubstr("STOPPED")));
    report.stopped = true;
    EXPECT_THAT(report_text(report, false), HasSubstr("STOPPED EARLY"));
}

TEST(ReportText, ShowsTrouble) {
    auto report = two_proxies();
    EXPECT_THAT(report_text(report, false), Not(HasSubstr("errors seen")));
    report.rows[0].seen.failures[static_cast<std::size_t>(RequestFailure::cut)] = 1234;
    report.rows[0].counted->peers[0].failures = 5;
    report.first_failure = "connection broken from p for http://a/";
    report.rows[1].seen.taken_over = 7;
    report.rows[1].restarts = 2;
    const auto text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("errors seen by clients: 1,234 connection broken\n  the first: "
                                "connection broken from p for http://a/\n"));
    EXPECT_THAT(text, HasSubstr("5 requests to peers failed or came too late"));
    EXPECT_THAT(text, HasSubstr("failover: b answered 7 requests"));
    EXPECT_THAT(text, HasSubstr("b was restarted 2 times"));
    EXPECT_THAT(text, HasSubstr("not checked: b was restarted"));
    EXPECT_THAT(text, HasSubstr("* as clients saw it"));
    EXPECT_THAT(text, HasSubstr("a: requests 100 counted, 1,334 seen by clients"));
}

TEST(ReportText, LabelsEachColumnOfTheLinks) {
    const auto text = report_text(two_proxies(), false);
    EXPECT_EQ(line_of(text, "proxy", 1), "proxy bytes to byte hit rates announcements link bytes");
    EXPECT_THAT(text, HasSubstr("both        number per request      in all per request\n"));
}

TEST(ReportText, ShowsBooksThatDoNotBalance) {
    auto report = two_proxies();
    report.rows[1].counted->peers[0].served = 15;
    const auto text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("books: 1 of 2 pairs DO NOT BALANCE\n  a asked b: 16 hits <= 15 "
                                "given <= 16 hits + 0 failures does not hold\n"));
}

TEST(ReportText, DoesWithoutCounters) {
    auto report = two_proxies();
    for (auto& row : report.rows) row.counted.reset();
    const auto text = report_text(report, false);
    EXPECT_EQ(line_of(text, "a*"), "a* 100 60 60.0% 16 16.0% 24 24.0% 0 0 0");
    EXPECT_THAT(text, HasSubstr("books: not checked; give --admin"));
    EXPECT_THAT(text, Not(HasSubstr("ICP")));
    EXPECT_THAT(text, Not(HasSubstr("announcements")));
}

TEST(ReportText, IsEmptyHandedWithoutFailing) {
    Report report;
    report.rows.resize(1);
    EXPECT_THAT(report_text(report, false), HasSubstr("0 of 0 hits = 0.0000"));
}

TEST(ReportText, FitsAHundredColumns) {
    auto report = two_proxies();
    report.rows[0].name = "192.168.100.200:31280";
    for (auto& row : report.rows) {
        auto& n = *row.counted;
        n.total = 9'949'999;
        n.local_hit = n.total;
        n.peer_hit = n.origin_fetch = 1'234'567;
        n.links.announcements_sent = 99'949'999;
        n.links.bytes_sent = 9'999'949'999;
        n.peers[0].false_hits = 49'999;
        n.peers[0].refused = 49'999;
        row.seen.failures[0] = 49'999;
    }
    report.ideal.total = {99'999'999, 88'888'888, 88'888'888, 1u << 31, 1u << 30, 1u << 31};
    std::istringstream in(report_text(report, false));
    for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ReportText, NeverCutsAName) {
    auto report = two_proxies();
    report.rows[0].name = "[2001:db8:85a3::8a2e:370:7334]:31280";
    const auto text = report_text(report, false);
    EXPECT_THAT(text, HasSubstr("\n[2001:db8:85a3::8a2e:370:7334]:31280\n                "));
    const auto first = text.find(report.rows[0].name);
    EXPECT_NE(text.find(report.rows[0].name, first + 1), std::string::npos);  // in both tables
}

std::string without_escapes(std::string text) {
    for (auto at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[")) {
        text.erase(at, text.find('m', at) + 1 - at);
    }
    return text;
}

TEST(ReportText, AddsNothingButEscapesForColour) {
    const auto plain = report_text(two_proxies(), false),
               coloured = report_text(two_proxies(), true);
    EXPECT_EQ(plain.find('\x1b'), std::string::npos);
    EXPECT_NE(coloured, plain);
    EXPECT_EQ(without_escapes(coloured), plain);
}

}  // namespace report_text_test
}  // namespace measure
