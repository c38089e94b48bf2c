#include "measure/study/study_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measure/markup.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_html_test {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
    return out;
}

TEST(StudyHtml, IsWellFormedAndComplete) {
    const auto page = study_html(finished_study(), "do this\n{ }");
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_EQ(count(page, "<svg class=\"chart\""), 5u);
    EXPECT_EQ(count(page, "<details>"), 5u);
    EXPECT_EQ(count(page, "<caption>"), finished_study().tables.size() + 5);
    EXPECT_THAT(page, HasSubstr("<caption>requests that are hits, %</caption>"));
    EXPECT_THAT(page, HasSubstr("<pre>do this\n{ }</pre>"));
    EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(StudyHtml, BeginsWithWhatWasReadAndLeftOut) {
    auto log = small_log();
    log.lines = 900;
    for (int i = 1; i <= 4; ++i)
        if (log.leave_out("not <a> line")) log.add_example("not <a> line", 7, "x|<x>");
    const auto page = study_html(finished_study(log));
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_THAT(page,
                HasSubstr("<p>skipped: 4 of 900 lines: not &lt;a&gt; line.</p>\n<pre>  line 7: "
                          "x|&lt;x&gt;\n"));
}

TEST(StudyHtml, NeedsNothingFromElsewhere) {
    const auto page = study_html(finished_study());
    for (const char* word : {"http:", "https:", "//", "src=", "href=", "url(", "@import", "<script",
                             "<link", "<img", "<iframe"})
        EXPECT_THAT(page, Not(HasSubstr(word)));
}

TEST(StudyHtml, EscapesWhatComesFromTheLog) {
    auto log = small_log();
    log.title = "<script>alert('1')</script>&.log";
    const auto page = study_html(finished_study(log), "<b>bold</b>");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("<b>")));
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;.log"));
    EXPECT_EQ(unbalanced(page), "");
}

TEST(StudyHtml, SaysWhatCannotBeReliedOn) {
    auto log = small_log();
    log.synthetic = true;
    auto study = finished_study(log);
    study.stopped = true;
    const auto page = study_html(study);
    EXPECT_THAT(page, HasSubstr("A made-up workload"));
    EXPECT_THAT(page, HasSubstr("Stopped early"));
    EXPECT_THAT(study_html(finished_study()), Not(HasSubstr("<strong>")));
}

TEST(StudyHtml, DrawsNoCurveThroughOnePoint) {
    StudyOptions options;
    options.proxies = {4};
    options.caches = {{0, 0.1}};
    auto study = plan_study(small_log(), completed(options, small_log()));
    for (auto& row : study.rows) row.counts = made_up(row.config);
    const auto page = study_html(study);
    EXPECT_EQ(count(page, "<svg class=\"chart\""), 5u) << "no heading without its chart";
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_EQ(count(page, "<polyline class=\"axis\""), 3u) << "neither by cache nor by proxies";
    EXPECT_GT(count(page, "<rect class=\"bar\""), 5u) << "but bars";
    EXPECT_THAT(page,
                HasSubstr("all caches together, % of the log&#39;s distinct bytes: 10</text>"));
    EXPECT_EQ(count(page, "<details>"), 5u) << "the figures are there";
}

TEST(StudyHtml, ShowsNoEmptyChart) {
    auto study = finished_study();
    for (auto& row : study.rows) row.counts.reset();
    study.rows[0].refused = "too <many>";
    const auto page = study_html(study);
    EXPECT_EQ(unbalanced(page), "");
    EXPECT_EQ(count(page, "<svg"), 0u);
    EXPECT_THAT(page, HasSubstr("too &lt;many&gt;"));
}

}  // namespace study_html_test
}  // namespace measure
