#include "measure/report/report_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/report/chart.hpp"
#include "tests/measure/markup.hpp"
#include "tests/measure/report_fixture.hpp"

namespace measure {
namespace report_html_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Report with_course() {
    auto report = two_proxies();
    for (auto at = 0ms; at < 2s; at += 250ms) {
        report.course.answer(at, ReportedOutcome::origin_fetch);
        for (int i = 0; i < 3; ++i) report.course.answer(at, ReportedOutcome::local_hit);
    }
    return report;
}

const PageFacts kFacts{"hearsay demo --html page.html", "0.1.0", 7};

TEST(ReportHtml, IsWellFormedAndHasEveryPart) {
    const auto page = report_html({with_course()}, kFacts);
    EXPECT_EQ(unbalanced(page), "");
    for (const char* part :
         {"<dd><code>hearsay demo --html page.html</code></dd>", "<dd>0.1.0</dd>", "<dd>7</dd>",
          "<h3>Hit rates over the course of the run</h3>", "<h3>Who gave whom</h3>",
          "<h3>Latency by outcome</h3>", "prefers-color-scheme: dark"})
        EXPECT_THAT(page, HasSubstr(part));
    EXPECT_THAT(page, HasSubstr(escaped(report_text(with_course(), false)))) << "the whole table";
    EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(ReportHtml, ShowsTheNumbersOfTheRun) {
    const auto page = report_html({with_course()}, kFacts);
    EXPECT_THAT(page, HasSubstr("<div class=\"value\">63.0 %</div>")) << "126 of 200";
    EXPECT_THAT(page, HasSubstr("ideal 65.0 % with sharing, 50.0 % without"));
    // The last quarter second: three of four from the store.
    EXPECT_THAT(page, HasSubstr("<th scope=\"row\">2.0</th><td class=\"number\" data-name=\"local "
                                "hit, %\">75.0</td><td class=\"number\" data-name=\"peer hit, "
                                "%\">0.0</td><td class=\"number\" data-name=\"origin fetch, "
                                "%\">25.0</td></tr>"));
    // a got 16 hits of b, and b 10 of a.
    EXPECT_THAT(page, HasSubstr("<th scope=\"row\">a</th><td class=\"self\"><span class=\"hidden\">"
                                "itself</span></td><td class=\"number shade9\">16</td>"));
    EXPECT_THAT(page, HasSubstr("<th scope=\"row\">b</th><td class=\"number shade7\">10</td>"));
    EXPECT_THAT(page, HasSubstr("data-name=\"answers\">26</td><td class=\"number\" "
                                "data-name=\"p50 ms\">"))
        << "peer hits with a latency";
}

TEST(ReportHtml, NeedsNothingFromElsewhere) {
    const auto page = report_html({with_course()}, kFacts);
    for (const char* word :
         {"src=", "href=", "url(", "@import", "<script", "<link", "<img", "<iframe"})
        EXPECT_THAT(page, Not(HasSubstr(word)));
    EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

TEST(ReportHtml, EscapesWhatComesFromLogsAndNodes) {
    const std::string bad = "<script>alert('1')</script>\"&";
    auto report = with_course();
    report.title = report.note = report.pace = report.first_failure = bad;
    report.warnings = {bad};
    report.skipped = {{bad, 10}};
    report.rows[0].name = report.rows[0].counted->peers[0].node = bad;
    report.rows[1].counted->peers[0].node = bad;
    report.rows[0].seen.failures[0] = 1;
    const auto page = report_html({report}, {bad, bad, 1});
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, HasSubstr("<dd><code>" + escaped(bad) + "</code></dd>"));
    EXPECT_THAT(page, HasSubstr("<h2>" + escaped(bad) + "</h2>"));
    EXPECT_EQ(unbalanced(page), "");
}

/// As many proxies as a replay takes, all of them with long names that grow when they are escaped.
Report large(std::size_t proxies) {
    auto report = with_course();
    report.title = std::string(4096, '"');
    report.rows.clear();
    for (std::size_t i = 0; i < proxies; ++i) {
        auto& row = report.rows.emplace_back(row_of("\"\"\"\"" + std::to_string(i), 5, 1, 4));
        for (std::size_t k = 0; k < proxies; ++k)
            if (k != i)
                row.counted->peers.push_back(
                    {{0, i * k, 0, 0, 0, 0, 0}, "\"\"\"\"" + std::to_string(k), "in_step", 0.1});
    }
    for (auto at = 0ms; at < 10s; at += 50ms) {
        report.course.failure(at);
        for (std::size_t k = 0; k < kReportedOutcomes; ++k)
            report.course.answer(at, static_cast<ReportedOutcome>(k));
    }
    return report;
}

TEST(ReportHtml, KeepsToItsSize) {
    for (const std::size_t proxies : {12u, 60u}) {
        const auto report = large(proxies);
        const auto page = report_html({report, report}, {std::string(1 << 20, '\''), "0.1.0", 1});
        EXPECT_LE(page.size(), kMaxPageBytes) << proxies;
        EXPECT_EQ(unbalanced(page), "");
    }
    const auto page = report_html({large(60)}, kFacts);
    EXPECT_THAT(page, HasSubstr("the 20 pairs with most peer hits, of 3,540"));
    EXPECT_THAT(page, HasSubstr(">3,422</td>")) << "58 * 59";
}

TEST(ReportHtml, LeavesOutWhatWasNotMeasured) {
    auto report = two_proxies();
    for (auto& row : report.rows) {
        row.counted.reset();
        row.seen = {};
    }
    report.stopped = true;
    const auto page = report_html({report}, {});
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_THAT(page, Not(HasSubstr("<svg")));
    EXPECT_THAT(page, Not(HasSubstr("Who gave whom")));
    EXPECT_THAT(page, Not(HasSubstr("<dl")));
    EXPECT_THAT(page, HasSubstr("Stopped early"));
}

TEST(Clipped, EndsAtALineOrACharacter) {
    EXPECT_EQ(clipped("one\ntwo\n", 8), "one\ntwo\n");
    EXPECT_EQ(clipped("one\ntwo\n", 7), "one\n...");
    EXPECT_EQ(clipped("a<b", 3), "a...");
    EXPECT_EQ(clipped("ab\xc3\xa4", 3), "ab...") << "no half of a letter";
    EXPECT_EQ(clipped("", 3), "");
}

}  // namespace report_html_test
}  // namespace measure
