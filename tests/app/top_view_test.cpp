#include "app/top_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// Large numbers, and names that are long and alike, without digits.
TopData full() {
    TopData data;
    data.node = "cache-west-alpha.caches.example.org";
    data.version = "1.22.333";
    data.uptime_seconds = 1e6;
    for (const auto* name : {"alpha", "beta", "gamma", "delta", "epsilon", "omega"}) {
        TopNode node;
        node.node = std::string("cache-west-") + name + ".caches.example.org";
        node.state = *name == 'o' ? "refused" : "ready";
        node.self = *name == 'a';
        node.requests = {123'456'789, 23'456'789, 3'456'789, 456'789, 98'765, 12'345'678};
        node.rate = 98'765.4;
        node.saved_bytes = 123'456'789'012;
        node.objects = 87'654'321;
        node.memory = 0.987;
        node.disk = 1;
        node.errors_5m = 54'321;
        for (const auto& other : data.nodes)
            node.links.push_back({other.node, "gone", 7'654'321'098, "connection_refused"});
        data.nodes.push_back(std::move(node));
    }
    data.last = {5,
                 {654'321, 54'321, 4'321, 0, 321, 0},
                 {1234.5, 23456.7},
                 {345.6, 4567.8},
                 {56789.1, 678912.3}};
    data.urls = {{"http://h/packages/aa/bb/" + std::string(200, '7'), 7'777'777}};
    data.fault = "origin x has failed 12345 of 123456 requests in the last 900 seconds, and " +
                 std::string(60, '9') + " more";
    return data;
}

/// The words with a digit, without the punctuation around them.
std::set<std::string> numbers(const std::vector<std::string>& lines) {
    std::set<std::string> found;
    for (const auto& line : lines) {
        std::istringstream in(line);
        for (std::string word; in >> word;) {
            constexpr auto kAround = "(),:;.";
            const auto begin = word.find_first_not_of(kAround);
            if (word.find_first_of("0123456789") == std::string::npos) continue;
            found.insert(word.substr(begin, word.find_last_not_of(kAround) + 1 - begin));
        }
    }
    return found;
}

TEST(TopView, CutsNoNumberAndNoNameToAnotherOne) {
    const auto whole = numbers(top_lines(full(), {1000, 0, false}));
    for (const std::size_t columns : {60, 80, 120}) {
        const auto lines = top_lines(full(), {columns, 0, false});
        for (const auto& number : numbers(lines))
            EXPECT_THAT(whole, Contains(number)) << "at " << columns;
        EXPECT_THAT(lines, Each(testing::SizeIs(testing::Le(columns))));
        for (const auto* name : {"alpha", "beta", "gamma", "delta", "epsilon"})
            EXPECT_THAT(lines, Contains(testing::MatchesRegex(name + std::string(" +ready .*"))));
        EXPECT_THAT(lines, Contains(HasSubstr("refused 74,074,068"))) << "the last of the totals";
        EXPECT_THAT(lines, Contains(HasSubstr("origin 56789/678912"))) << "the last of the times";
        EXPECT_THAT(lines, Contains(StartsWith("got \\ from   alpha    beta")));
    }
}

TEST(TopView, NumbersNamesThatWouldLookAlike) {
    const std::string alike(70, 'x');
    TopData data;
    for (const auto& name : {alike + "-1", alike + "-2", std::string("y")}) {
        auto& node = data.nodes.emplace_back();
        node.node = name;
        node.state = "ready";
    }
    const auto lines = top_lines(data, {80, 0, false});
    EXPECT_THAT(lines, Contains(StartsWith("#1    ready")));
    EXPECT_THAT(lines, Contains(StartsWith("#3    ready")));
    EXPECT_THAT(lines, Contains("got \\ from      #1      #2      #3"));
}

TEST(TopView, ShowsTotalsNodesAndUrls) {
    const auto lines = top_lines(sample(), {});
    EXPECT_THAT(lines[0], HasSubstr("a  0.1.0, up 2 h"));
    EXPECT_THAT(lines[1], AllOf(StartsWith("2 of 3 nodes ready"), HasSubstr("hit rate 90.0 %"),
                                HasSubstr("(80.0 local, 10.0 peers)"), HasSubstr("saved 2 MiB")));
    EXPECT_THAT(lines, Contains(HasSubstr("130/s")));
    EXPECT_THAT(top_lines(sample(), {200, 0, false})[2], HasSubstr("peer 2.5/11  origin -/-"));
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
