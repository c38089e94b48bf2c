#include "measure/report/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/markup.hpp"

namespace measure {
namespace chart_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Chart small_chart() {
    Chart chart;
    chart.title = "a < b";
    chart.x = {"x & more", true};
    chart.y = {"y", false};
    chart.series = {{"one", {{1, 0, ""}, {10, 5, "ten"}}}, {"two", {{0, 3, ""}, {100, 10, ""}}}};
    return chart;
}

TEST(Ticks, AreRoundNumbersAroundAllValues) {
    EXPECT_THAT(ticks_for(0, 10, false).at, ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(ticks_for(31, 58, false).at, ElementsAre(30, 35, 40, 45, 50, 55, 60));
    for (const auto& [least, most] : {std::pair(-0.3, 1.7), {5.0, 5.0}, {0.0, 0.0}, {-2.0, -1.0}}) {
        const auto ticks = ticks_for(least, most, false);
        EXPECT_LE(ticks.from, least);
        EXPECT_GE(ticks.to, most);
        EXPECT_GT(ticks.to, ticks.from);
        EXPECT_LE(ticks.at.size(), 12u);
    }
}
TEST(Ticks, AreDecadesOnALogarithmicAxis) {
    EXPECT_THAT(ticks_for(0.001, 10, true).at,
                ElementsAre(DoubleNear(0.001, 1e-9), DoubleNear(0.01, 1e-9), DoubleNear(0.1, 1e-9),
                            DoubleNear(1, 1e-9), DoubleNear(10, 1e-9)));
    EXPECT_THAT(ticks_for(1, 20, true).at, ElementsAre(1, 2, 5, 10, 20));
    const auto one = ticks_for(10, 10, true);
    EXPECT_LT(one.from, one.to);
}
TEST(Ticks, AreWrittenShort) {
    EXPECT_EQ(tick_text(0), "0");
    EXPECT_EQ(tick_text(0.001), "0.001");
    EXPECT_EQ(tick_text(20'000), "20k");
    EXPECT_EQ(tick_text(5e6), "5M");
    EXPECT_EQ(tick_text(1e-6), "1e-06");
}

TEST(Escaped, LeavesNothingThatMarkupWouldRead) {
    EXPECT_EQ(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    EXPECT_EQ(escaped(std::string("a\0b\x1b\nc", 6)), "a b \nc");
}

TEST(Chart, DrawsEachSeriesWithinItsAxes) {
    const auto svg = svg_of(small_chart());
    EXPECT_EQ(unbalanced(svg), "");
    EXPECT_THAT(svg, HasSubstr("aria-label=\"a &lt; b\""));
    EXPECT_THAT(svg, HasSubstr(">x &amp; more</text>"));
    EXPECT_THAT(svg, HasSubstr("<title>one, ten: 10, 5</title>"));
    EXPECT_THAT(svg, HasSubstr("> two</li>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}
TEST(Chart, LeavesOutWhatALogarithmicAxisCannotShow) {
    const auto chart = small_chart();
    EXPECT_FALSE(has_place(chart, chart.series[1].points[0]));
    EXPECT_TRUE(has_place(chart, chart.series[0].points[0])) << "y may be 0";
    EXPECT_THAT(svg_of(chart), Not(HasSubstr("<title>two: 0, 3")));
}
TEST(Chart, IsDrawnWithoutPoints) {
    auto chart = small_chart();
    for (auto& series : chart.series) series.points.clear();
    const auto svg = svg_of(chart);
    EXPECT_EQ(unbalanced(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace chart_test
}  // namespace measure
