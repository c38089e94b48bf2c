#include "proxy/telemetry/history.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace history_test {

using namespace std::chrono_literals;

constexpr History::Time kNow{1000s};

TrafficTotals totals(std::uint64_t hits, std::uint64_t bytes = 0) {
    TrafficTotals all;
    all.requests[Outcome::local_hit] = hits;
    all.to_clients = bytes;
    return all;
}

std::uint32_t hits(const HistoryPoint& point) {
    return point.requests[static_cast<std::size_t>(Outcome::local_hit)];
}

TEST(History, IntervalsHaveTheDifferenceOfTwoSamples) {
    History history(kNow, totals(100, 1000));
    history.add(totals(103, 1500), kNow + 5s);
    history.add(totals(103, 1500), kNow + 10s);
    history.add(totals(110, 1600), kNow + 15s);
    const auto points = history.points(Span::minutes_15);
    ASSERT_EQ(points.size(), 3u);
    EXPECT_EQ(hits(points[0]), 3u);
    EXPECT_EQ(points[0].to_clients, 500u);
    EXPECT_EQ(points[0].end, kNow + 5s);
    EXPECT_EQ(points[0].seconds, 5);
    EXPECT_EQ(hits(points[1]), 0u);
    EXPECT_EQ(hits(points[2]), 7u);
    EXPECT_TRUE(history.points(Span::hours_6).empty());
}

TEST(History, EachSpanHasItsInterval) {
    History history(kNow);
    for (int i = 1; i <= 240; ++i)
        history.add(totals(static_cast<std::uint64_t>(i)), kNow + i * 5s + i * 1ms);
    EXPECT_EQ(history.points(Span::minutes_15).size(), 180u);
    EXPECT_EQ(hits(history.points(Span::minutes_15).front()), 1u);
    const auto minutes = history.points(Span::hours_6);
    ASSERT_EQ(minutes.size(), 20u);
    for (const auto& point : minutes) EXPECT_EQ(hits(point), 12u);
    const auto of_ten_minutes = history.points(Span::days_7);
    ASSERT_EQ(of_ten_minutes.size(), 2u);
    EXPECT_EQ(hits(of_ten_minutes[1]), 120u);
}

TEST(History, KeepsTheLastPointsOldestFirst) {
    History history(kNow);
    for (int i = 1; i <= 500; ++i)
        history.add(totals(static_cast<std::uint64_t>(i * i)), kNow + i * 5s);
    const auto points = history.points(Span::minutes_15);
    ASSERT_EQ(points.size(), capacity_of(Span::minutes_15));
    EXPECT_EQ(points.back().end, kNow + 2500s);
    for (std::size_t i = 1; i < points.size(); ++i)
        EXPECT_EQ(points[i].end - points[i - 1].end, 5s);
}

TEST(History, ACountThatFallsMakesNoNegativeAndNoHugeInterval) {
    History history(kNow, totals(1000, 1'000'000));
    history.add(totals(2, 10), kNow + 5s);
    history.add(totals(5, 20), kNow + 10s);
    const auto points = history.points(Span::minutes_15);
    EXPECT_EQ(hits(points[0]), 0u);
    EXPECT_EQ(points[0].to_clients, 0u);
    EXPECT_EQ(hits(points[1]), 3u);
    EXPECT_EQ(points[1].to_clients, 10u);
}

TEST(History, SamplesThatComeTooSoonOrLateChangeNoSum) {
    History history(kNow);
    for (int i = 1; i <= 50; ++i)
        history.add(totals(static_cast<std::uint64_t>(i)), kNow + i * 100ms);
    history.add(totals(90), kNow + 62s);
    const auto points = history.points(Span::minutes_15);
    std::uint64_t sum = 0;
    for (const auto& point : points) sum += hits(point);
    EXPECT_EQ(points.size(), 2u);
    EXPECT_EQ(sum, 90u);
    EXPECT_NEAR(points.back().seconds, 57.5, 0.2) << "the pause is one long interval";
}

TEST(History, QuantilesInterpolateInTheBucketsOfTheInterval) {
    DurationHistogram before, now;
    for (int i = 0; i < 1000; ++i) before.observe(10s);  // of an earlier interval
    now = before;
    for (int i = 0; i < 100; ++i) now.observe(700us);  // between 0.5 and 1 ms
    EXPECT_NEAR(quantile_ms(before, now, 0.5), 0.75, 0.01);
    EXPECT_NEAR(quantile_ms(before, now, 0.99), 0.995, 0.01);
    for (int i = 0; i < 100; ++i) now.observe(20ms);  // between 10 and 25 ms
    EXPECT_NEAR(quantile_ms(before, now, 0.5), 1, 0.01);
    EXPECT_NEAR(quantile_ms(before, now, 0.75), 17.5, 0.1);
    EXPECT_LT(quantile_ms(now, now, 0.5), 0) << "nothing has come";
    EXPECT_LT(quantile_ms(now, before, 0.5), 0) << "counts that fall";
    auto slow = now;
    slow.observe(1000s);
    EXPECT_EQ(quantile_ms(now, slow, 0.5), 300'000) << "above all buckets";
}

TEST(History, HasTimesOverAllOutcomesOfAnIntervalAndOfTheLastMinute) {
    History history(kNow);
    EXPECT_LT(history.minute_quantile_ms(0.5), 0) << "no request has come";
    TrafficTotals all;
    for (int i = 0; i < 100; ++i) all.durations[0].observe(700us);
    history.add(all, kNow + 5s);
    for (int i = 0; i < 300; ++i) all.durations[2].observe(20ms);
    history.add(all, kNow + 10s);
    EXPECT_NEAR(history.points(Span::minutes_15)[0].all_p50_ms, 0.75, 0.01);
    EXPECT_NEAR(history.points(Span::minutes_15)[1].all_p50_ms, 17.5, 0.1);
    EXPECT_NEAR(history.minute_quantile_ms(0.25), 1, 0.01) << "a quarter came from the store";
    for (int i = 3; i <= 13; ++i) history.add(all, kNow + i * 5s);
    EXPECT_NEAR(history.minute_quantile_ms(0.25), 13.75, 0.1) << "the first interval is too old";
    history.add(all, kNow + 70s);
    EXPECT_LT(history.minute_quantile_ms(0.5), 0);
}

TEST(History, CountsAnOutcomeOfTheLastMinutes) {
    History history(kNow);
    for (int i = 1; i <= 100; ++i)
        history.add(totals(static_cast<std::uint64_t>(i)), kNow + i * 5s);
    EXPECT_EQ(history.recent(Outcome::local_hit, 5min, kNow + 500s), 60u);
    EXPECT_EQ(history.recent(Outcome::local_hit, 5min, kNow + 2000s), 0u);
    EXPECT_EQ(history.recent(Outcome::error, 5min, kNow + 500s), 0u);
}

TEST(History, PointsOfAnEarlierProcessStandBeforeItsOwn) {
    std::vector<HistoryPoint> earlier(4);
    earlier[0].end = kNow - 100h;  // too old
    earlier[1].end = kNow - 20s;
    earlier[2].end = kNow - 30s;  // out of order
    earlier[3].end = kNow + 1h;   // of a clock that was ahead
    earlier[1].requests[0] = 42;
    History history(kNow);
    history.add(totals(1), kNow + 5s);
    history.restore(Span::minutes_15, earlier, kNow + 6s);
    const auto points = history.points(Span::minutes_15);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ(hits(points[0]), 42u);
    EXPECT_EQ(hits(points[1]), 1u);
    history.add(totals(3), kNow + 10s);
    EXPECT_EQ(hits(history.points(Span::minutes_15).back()), 2u);
}

TEST(History, TheIntervalUnderWayIsTheLastPoint) {
    History history(kNow);
    EXPECT_TRUE(history.points_so_far(Span::days_7).empty()) << "no sample has come yet";
    history.add(totals(30), kNow + 30s);
    ASSERT_EQ(history.points_so_far(Span::days_7).size(), 1u);
    EXPECT_EQ(hits(history.points_so_far(Span::days_7)[0]), 30u);
    EXPECT_FLOAT_EQ(history.points_so_far(Span::days_7)[0].seconds, 30);
    EXPECT_TRUE(history.points(Span::days_7).empty());
    EXPECT_EQ(history.points_so_far(Span::minutes_15).size(), 1u) << "it has just ended";
    history.add(totals(600), kNow + 600s);
    history.add(totals(607), kNow + 605s);
    const auto points = history.points_so_far(Span::days_7);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_EQ(hits(points[0]), 600u);
    EXPECT_EQ(hits(points[1]), 7u);
    EXPECT_EQ(points[1].end, kNow + 605s);
}

TEST(History, SpansHaveNames) {
    for (const auto span : kSpans) EXPECT_EQ(span_named(name(span)), span);
    EXPECT_EQ(span_named("8d"), std::nullopt);
    EXPECT_EQ(sizeof(HistoryPoint), 120u) << "the header states the memory of all points";
}

}  // namespace history_test
}  // namespace proxy
