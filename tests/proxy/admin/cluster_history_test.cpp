#include "proxy/admin/cluster_history.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace proxy {
namespace cluster_history_test {

using namespace std::chrono_literals;

constexpr ClusterHistory::Time kNow{1000s};

NodeView node(const std::string& name, std::uint64_t hits, std::uint64_t uptime,
              std::chrono::duration<double> age = 0s) {
    NodeView view;
    view.node = name;
    view.age_seconds = age.count();
    view.report.emplace();
    view.report->numbers.local_hits = hits;
    view.report->numbers.uptime_seconds = uptime;
    return view;
}

ClusterView view(std::vector<NodeView> nodes) {
    ClusterView all;
    all.nodes = std::move(nodes);
    return all;
}

std::vector<std::uint32_t> hits(const ClusterHistory& history, const std::string& node) {
    std::vector<std::uint32_t> all;
    const auto points = *history.points(node);
    for (const auto& point : points) all.push_back(point.requests[0]);
    return all;
}

using Hits = std::vector<std::uint32_t>;

TEST(ClusterHistory, AnIntervalIsTheDifferenceOfTwoReports) {
    ClusterHistory history;
    auto first = node("b", 100, 50), second = node("b", 107, 60);
    second.report->numbers.refused = 2;
    second.report->numbers.from_peers_bytes = 30;
    second.report->numbers.p50_us = 1500;
    history.add(view({first}), kNow);
    EXPECT_EQ(hits(history, "b"), Hits());
    history.add(view({node("b", 103, 55)}), kNow + 5s);
    EXPECT_EQ(hits(history, "b"), Hits()) << "a report of every five seconds is too soon";
    history.add(view({second}), kNow + 10s);
    const auto points = *history.points("b");
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].requests[0], 7u);
    EXPECT_EQ(points[0].requests[5], 2u);
    EXPECT_EQ(points[0].refused, 2u);
    EXPECT_EQ(points[0].from_peers, 30u);
    EXPECT_EQ(points[0].end, kNow + 10s);
    EXPECT_EQ(points[0].seconds, 10);
    EXPECT_EQ(points[0].all_p50_ms, 1.5F);
    EXPECT_LT(points[0].all_p99_ms, 0) << "an earlier build reports none";
    EXPECT_LT(points[0].p50_ms[0], 0);
}

TEST(ClusterHistory, IntervalsEndWithTheReportsNotWithTheSamples) {
    ClusterHistory history;
    history.add(view({node("b", 0, 50, 1s)}), kNow);
    history.add(view({node("b", 10, 60, 500ms)}), kNow + 10s);
    const auto points = *history.points("b");
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].end, kNow + 9500ms);
    EXPECT_FLOAT_EQ(points[0].seconds, 10.5F);
}

TEST(ClusterHistory, ASilentNodeHasNoIntervalsAndThenALongOne) {
    ClusterHistory history;
    history.add(view({node("b", 0, 50)}), kNow);
    for (const auto later : {10s, 20s, 30s})
        history.add(view({node("b", 0, 50, later)}), kNow + later);
    EXPECT_EQ(hits(history, "b"), Hits());
    history.add(view({node("b", 40, 90)}), kNow + 40s);
    EXPECT_EQ(hits(history, "b"), Hits{40});
    EXPECT_EQ(history.points("b")->front().seconds, 40);
}

TEST(ClusterHistory, ANodeThatRestartsMakesAnIntervalOfZero) {
    ClusterHistory history;
    history.add(view({node("b", 100, 500)}), kNow);
    history.add(view({node("b", 150, 5)}), kNow + 10s);
    history.add(view({node("b", 153, 15)}), kNow + 20s);
    EXPECT_EQ(hits(history, "b"), (Hits{0, 3}));
}

TEST(ClusterHistory, ForgetsNodesThatLeaveAndKnowsNoOthers) {
    ClusterHistory history;
    history.add(view({node("a", 0, 1), node("b", 0, 1)}), kNow);
    history.add(view({node("a", 1, 11), node("b", 1, 11)}), kNow + 10s);
    EXPECT_TRUE(history.points("b"));
    EXPECT_FALSE(history.points("c"));
    auto silent = node("b", 0, 0);
    silent.report.reset();
    history.add(view({node("a", 1, 16), silent}), kNow + 15s);
    EXPECT_EQ(hits(history, "b"), Hits{1}) << "its link is down";
    history.add(view({node("a", 1, 21)}), kNow + 20s);
    EXPECT_FALSE(history.points("b"));
}

TEST(ClusterHistory, KeepsFifteenMinutes) {
    ClusterHistory history;
    for (int i = 0; i <= 200; ++i)
        history.add(view({node("a", static_cast<std::uint64_t>(i), 10 * i)}), kNow + i * 10s);
    EXPECT_EQ(history.points("a")->size(), ClusterHistory::kIntervals);
    EXPECT_EQ(history.points("a")->back().end, kNow + 2000s);
    EXPECT_EQ(history.points("*")->size(), ClusterHistory::kIntervals);
    history.add(view({node("a", 200, 2000, 880s)}), kNow + 2880s);
    EXPECT_EQ(history.points("a")->size(), 2u) << "of a node that has fallen silent";
}

TEST(ClusterHistory, TheSumSharesIntervalsOutByTime) {
    ClusterHistory history;
    // The reports of b come four seconds before those of a.
    for (int i = 0; i <= 6; ++i) {
        auto a = node("a", 100 * i, 10 * i), b = node("b", 10 * i, 10 * i, 4s);
        a.report->numbers.p50_us = 1000, b.report->numbers.p50_us = 12000;
        a.report->numbers.p99_us = 5000, b.report->numbers.p99_us = 90000;
        history.add(view({a, b}), kNow + i * 10s);
    }
    const auto points = *history.points("*");
    ASSERT_EQ(points.size(), 6u);
    EXPECT_EQ(points.back().end, kNow + 56s) << "both nodes cover it";
    for (std::size_t i = 1; i < points.size(); ++i) {
        EXPECT_EQ(points[i].requests[0], 110u);
        EXPECT_EQ(points[i].seconds, 10);
        EXPECT_FLOAT_EQ(points[i].all_p50_ms, 2) << "weighted by requests";
        EXPECT_FLOAT_EQ(points[i].all_p99_ms, 90) << "the largest";
    }
}

TEST(ClusterHistory, TheSumLosesNoRequestByRounding) {
    ClusterHistory history;
    std::uint64_t counted = 0;
    for (int i = 0; i <= 30; ++i) {
        counted = static_cast<std::uint64_t>(i) / 3;
        history.add(view({node("a", 0, 10 * i), node("b", counted, 10 * i, 3s)}), kNow + i * 10s);
    }
    const auto all = hits(history, "*");
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0u), counted);
}

TEST(ClusterHistory, TheSumDoesNotWaitForASilentNode) {
    ClusterHistory history;
    for (int i = 0; i <= 6; ++i) {
        const auto age = std::chrono::seconds(10 * std::max(0, i - 2));
        history.add(view({node("a", 10 * i, 10 * i), node("b", 20, 20, age)}), kNow + i * 10s);
    }
    EXPECT_EQ(history.points("*")->back().end, kNow + 60s);
    EXPECT_EQ(hits(history, "*").back(), 10u);
    EXPECT_TRUE(ClusterHistory().points("*")->empty());
}

}  // namespace cluster_history_test
}  // namespace proxy
