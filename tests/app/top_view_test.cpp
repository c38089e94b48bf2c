#include "app/top_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/app/top_answers.hpp"

namespace app {
namespace top_view_test {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TopData sample() {
    std::string why;
    auto data = read_top_nodes(kTopNodes, why).value_or(TopData());
    read_top_history(kTopHistory, data);
    read_top_urls(200, kTopUrls, data);
    return data;
}

/// A cluster of so many nodes, each with links to the others.
TopData large(std::size_t count) {
    TopData data;
    data.node = "n000";
    for (std::size_t i = 0; i < count; ++i) {
        TopNode node;
        node.node = "n" + std::to_string(1000 + i).substr(1);
        node.state = i == 7 ? "down" : "ready";
        node.self = i == 0;
        for (std::size_t j = 0; j < count; ++j)
            if (i != j)
                node.links.push_back({"n" + std::to_string(1000 + j).substr(1), "in_step", i});
        data.nodes.push_back(std::move(node));
    }
    data.urls.assign(50, {"http://h/u", 3});
    return data;
}

TEST(TopView, ShowsTotalsNodesAndUrls) {
    const auto lines = top_lines(sample(), {});
    EXPECT_THAT(lines[0], HasSubstr("a  0.1.0, up 2 h"));
    EXPECT_THAT(lines[1], AllOf(StartsWith("2 of 3 nodes ready"), HasSubstr("hit rate 90.0 %"),
                                HasSubstr("(80.0 local, 10.0 peers)"), HasSubstr("saved 2 MiB")));
    EXPECT_THAT(lines[2], HasSubstr("130/s"));
    EXPECT_THAT(top_lines(sample(), {200, 0, false})[2], HasSubstr("peer 2.5/11   origin -/-"));
    EXPECT_THAT(lines, Contains(StartsWith("c     down ")));
    EXPECT_THAT(top_lines(sample(), {160, 0, false}), Contains(HasSubstr("c: gone")));
    EXPECT_THAT(lines, Contains("  ~9,000  http://h/most"));
}

TEST(TopView, KeepsTheColumnsOfTroubleInANarrowTerminal) {
    const auto narrow = top_lines(sample(), {80, 0, false});
    EXPECT_THAT(narrow[1], HasSubstr("  errors 10  hit rate"));
    EXPECT_THAT(narrow, Contains(AllOf(StartsWith("node  state"), HasSubstr("err 5m  links"))));
    EXPECT_THAT(narrow, Contains(AllOf(StartsWith("a     ready"), HasSubstr(" 2  c: gone"))));
    EXPECT_THAT(narrow, Each(Not(HasSubstr("objects"))));
    EXPECT_THAT(top_lines(sample(), {120, 0, false}),
                Contains(AllOf(HasSubstr("objects"), HasSubstr("err 5m  links"))));
}

TEST(TopView, MarksCountsOfUrlsAsEstimates) {
    EXPECT_THAT(top_lines(sample(), {}), Contains(StartsWith("      ~2  http://h/")));
}

TEST(TopView, ShowsNoLinksOfANodeWithoutFreshReports) {
    for (const auto* state : {"down", "silent"})
        for (const auto* link : {"in_step", "gone"}) {
            TopData data;
            data.nodes.resize(1);
            data.nodes[0].node = "n";
            data.nodes[0].state = state;
            data.nodes[0].links.push_back({"m", link});
            EXPECT_THAT(top_lines(data, {160, 0, false}),
                        Contains(AllOf(StartsWith("n     " + std::string(state)), EndsWith("  -"))))
                << link;
        }
}

TEST(TopView, ShowsWhoGaveWhomHowMuch) {
    const auto lines = top_lines(sample(), {});
    EXPECT_THAT(lines, Contains("got \\ from       a       b       c"));
    EXPECT_THAT(lines, Contains("a                .     123      77"));
    EXPECT_THAT(lines, Contains("b            45.7k       .       -")) << "no report has the last";
}

TEST(TopView, FitsEverySize) {
    for (const auto& data : {sample(), large(200), TopData()})
        for (const std::size_t columns : {1, 10, 40, 80, 200})
            for (const std::size_t rows : {1, 2, 5, 10, 24, 60, 100}) {
                const auto lines = top_lines(data, {columns, rows, false}, "trouble");
                EXPECT_LE(lines.size(), rows);
                for (const auto& line : lines) EXPECT_LE(line.size(), columns) << line;
            }
}

TEST(TopView, ShowsNodesWithTroubleFirstAndSaysHowManyAreLeftOut) {
    const auto lines = top_lines(large(200), {100, 40, false});
    EXPECT_THAT(lines[5], StartsWith("n007  down"));
    EXPECT_THAT(lines[6], StartsWith("n000  ready"));
    EXPECT_THAT(lines, Contains(HasSubstr("more nodes")));
    EXPECT_THAT(lines, Contains("requests  most requested URLs"));
}

TEST(TopView, SaysThatNumbersAreOld) {
    EXPECT_EQ(top_lines(sample(), {}, "NO ANSWER since 12:00:00")[1], "NO ANSWER since 12:00:00");
}

TEST(TopView, HasEscapeSequencesOnlyWithColors) {
    EXPECT_THAT(top_lines(sample(), {100, 0, false}), Each(Not(HasSubstr("\x1b"))));
    EXPECT_THAT(top_lines(sample(), {100, 0, true}), Contains(HasSubstr("\x1b[31mdown")));
}

TEST(TopFrame, WritesChangedLinesAlone) {
    EXPECT_EQ(top_frame({"a", "b", "c"}, {"a", "B", "c"}, false),
              "\x1b[?2026h\x1b[2;1HB\x1b[K\x1b[?2026l");
    EXPECT_EQ(top_frame({"a", "b"}, {"a", "b"}, false), "") << "nothing for the same picture";
    EXPECT_THAT(top_frame({"a", "b"}, {"a"}, false), HasSubstr("\x1b[2;1H\x1b[K"))
        << "a line that is gone is cleared";
}

TEST(TopFrame, ClearsTheScreenAfterAResize) {
    EXPECT_EQ(top_frame({"a", "b"}, {"a"}, true),
              "\x1b[?2026h\x1b[H\x1b[2J\x1b[1;1Ha\x1b[K\x1b[?2026l");
}

}  // namespace top_view_test
}  // namespace app
