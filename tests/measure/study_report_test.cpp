#include "measure/study/study_report.hpp"

#include <gtest/gtest.h>

#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_report_test {

using namespace std::chrono_literals;

TEST(RequestRates, DividesByTheRequests) {
    SimulationConfig config;
    const auto each = per_request(made_up(config));
    EXPECT_DOUBLE_EQ(each.local, 0.3);
    EXPECT_DOUBLE_EQ(each.total, 0.499);
    EXPECT_DOUBLE_EQ(each.total_bytes, 0.3);
    EXPECT_DOUBLE_EQ(each.messages(), 0.102);
    EXPECT_DOUBLE_EQ(each.message_bytes(), 0.38);
    EXPECT_DOUBLE_EQ(each.waited_ms, 50);
    EXPECT_EQ(per_request({}).waited_ms, 0) << "nothing was asked";
}

TEST(LostHits, AreBelowZeroWhenThereAreMore) {
    SimulationCounts ideal, other;
    ideal.local_hits = 100;
    other.peer_hits = 90;
    EXPECT_DOUBLE_EQ(lost_hits(other, ideal), 0.1);
    other.peer_hits = 106;
    EXPECT_NEAR(lost_hits(other, ideal), -0.06, 1e-9);
    EXPECT_EQ(against_ideal(other, ideal), "+6.00");
    EXPECT_EQ(against_ideal(ideal, ideal), "0");
    EXPECT_EQ(lost_hits(other, {}), 0);
}

TEST(IdealOf, IsTheInstantDirectoryOfThatSize) {
    const auto study = finished_study();
    for (const auto& table : study.tables) {
        const auto* ideal = ideal_of(study, table);
        ASSERT_NE(ideal, nullptr);
        EXPECT_EQ(ideal->query_messages, 1'400 * (table.proxies - 1));
    }
}

TEST(OfDistinctText, IsAPercentageWhileThatCanBeRead) {
    EXPECT_EQ(of_distinct_text(0.1), "10% of the distinct bytes");
    EXPECT_EQ(of_distinct_text(9.99), "999% of the distinct bytes");
    EXPECT_EQ(of_distinct_text(28.8), "29 times the distinct bytes");
    EXPECT_EQ(of_distinct_text(210'000), "210,000 times the distinct bytes");
}

TEST(ProxiesText, KnowsOneFromMany) {
    EXPECT_EQ(proxies_text(1), "1 proxy");
    EXPECT_EQ(proxies_text(1'000), "1,000 proxies");
}

TEST(SpanText, HasAUnitThatFits) {
    EXPECT_EQ(span_text(1500ms), "1.5 s");
    EXPECT_EQ(span_text(30min), "30.0 min");
    EXPECT_EQ(span_text(24h), "24.0 h");
    EXPECT_EQ(span_text(240h), "10.0 days");
}

}  // namespace study_report_test
}  // namespace measure
