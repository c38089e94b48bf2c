#include "measure/study/study_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_charts_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const Chart& chart) {
    std::vector<std::string> out;
    for (const auto& series : chart.series) out.push_back(series.name);
    return out;
}
std::vector<double> xs(const Chart::Series& series) {
    std::vector<double> out;
    for (const auto& point : series.points) out.push_back(point.x);
    return out;
}

TEST(StudyCharts, ShowHitsAtEachCacheSizeInOrder) {
    const auto finding = hits_by_cache(finished_study());
    EXPECT_THAT(names(finding.chart), ElementsAre("no sharing", "ICP", "counting_bloom",
                                                  "consistent hashing", "one cache for all"));
    EXPECT_THAT(xs(finding.chart.series[0]), ElementsAre(1, 5, 10, 20));
    EXPECT_DOUBLE_EQ(finding.chart.series[0].points[0].y, 30);
    EXPECT_THAT(finding.words,
                HasSubstr("With 16 proxies, sharing by summaries (counting_bloom) answers 49.9 % "
                          "instead of 30.0 % where the caches hold 1% of the distinct bytes"));
}

TEST(StudyCharts, ShowMessagesAndBytesAtEachThreshold) {
    const auto messages = messages_by_threshold(finished_study());
    EXPECT_THAT(names(messages.chart),
                ElementsAre("exact directory", "server names", "Bloom 8", "Bloom 16", "Bloom 32",
                            "counting_bloom", "quotient", "cuckoo"));
    EXPECT_EQ(messages.chart.series[5].points.size(), 5u);
    EXPECT_DOUBLE_EQ(messages.chart.series[5].points[0].x, 0.1);
    EXPECT_DOUBLE_EQ(messages.chart.series[5].points[0].y, 0.102);
    const auto bytes = bytes_by_threshold(finished_study());
    EXPECT_DOUBLE_EQ(bytes.chart.series[6].points[0].y, 0.32);
    EXPECT_THAT(bytes.words, HasSubstr("quotient 0.3200"));
}

TEST(StudyCharts, ShowFalseHitsForEachNumberOfProxies) {
    const auto finding = false_hits_by_proxies(finished_study());
    const auto& bloom = finding.chart.series[4];
    EXPECT_EQ(bloom.name, "Bloom 16");
    EXPECT_THAT(xs(bloom), ElementsAre(4, 16, 64, 256));
    EXPECT_DOUBLE_EQ(bloom.points[3].y, 0.256);
    EXPECT_THAT(finding.words, HasSubstr("with 256 proxies 0.2560 and 0.0020"));
}

TEST(StudyCharts, ShowWhatLaterAnnouncementsCost) {
    const auto finding = lost_hits_by_messages(finished_study());
    ASSERT_EQ(finding.chart.series.size(), 3u);
    EXPECT_EQ(finding.chart.series[0].points[0].name, "1s or 0.1%");
    EXPECT_EQ(finding.chart.series[1].points.size(), 5u);
    const auto& dearest = finding.chart.series[2].points.back();
    EXPECT_EQ(dearest.name, "1m or 0.1%") << "in the order of messages";
    EXPECT_DOUBLE_EQ(dearest.x, 0.102);
    EXPECT_NEAR(dearest.y, 0.2, 1e-9) << "199 of 200 peer hits, of 500 in all";
    EXPECT_THAT(finding.words, HasSubstr("ICP would send 21.0."));
}

TEST(StudyCharts, SayOnceWhatHoldsForOneSizeAlone) {
    StudyOptions options;
    options.proxies = {16};
    options.caches = {{0, 0.1}};
    auto study = plan_study(small_log(), options);
    for (auto& row : study.rows) row.counts = made_up(row.config);
    EXPECT_EQ(hits_by_cache(study).words,
              "With 16 proxies, sharing by summaries (counting_bloom) answers 49.9 % instead of "
              "30.0 % where the caches hold 10% of the distinct bytes.");
    EXPECT_THAT(false_hits_by_proxies(study).words,
                testing::StartsWith("With 16 proxies Bloom filters of 16 bits ask 0.0160 times per "
                                    "request in vain, our summaries (counting_bloom) 0.0020. "));
}

TEST(StudyCharts, DrawNothingOfWhatWasNotRun) {
    auto study = finished_study();
    EXPECT_EQ(findings_of(study).size(), 5u);
    for (auto& row : study.rows) row.counts.reset();
    EXPECT_TRUE(findings_of(study).empty());
    EXPECT_TRUE(findings_of({}).empty());
}

}  // namespace study_charts_test
}  // namespace measure
