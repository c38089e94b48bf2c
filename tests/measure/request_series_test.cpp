#include "measure/run/request_series.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace request_series_test {

using namespace std::chrono_literals;

std::uint64_t sum_of(const RequestSeries& course) {
    std::uint64_t sum = 0;
    for (const auto& part : course.parts()) sum += part.requests();
    return sum;
}

TEST(RequestSeries, CountsEachRequestInItsPart) {
    RequestSeries course;
    EXPECT_TRUE(course.parts().empty());
    course.answer(0ms, ReportedOutcome::local_hit);
    course.answer(249ms, ReportedOutcome::peer_hit);
    course.failure(500ms);
    ASSERT_EQ(course.parts().size(), 3u);
    EXPECT_EQ(course.parts()[0].answers[0], 1u);
    EXPECT_EQ(course.parts()[0].answers[1], 1u);
    EXPECT_EQ(course.parts()[1].requests(), 0u);
    EXPECT_EQ(course.parts()[2].failures, 1u);
    EXPECT_EQ(course.length(), 250ms);
}

TEST(RequestSeries, JoinsNeighboursWhenARunIsLong) {
    RequestSeries course;
    for (auto at = 0ms; at < 25s; at += 250ms) course.answer(at, ReportedOutcome::origin_fetch);
    EXPECT_EQ(course.length(), 1s);
    ASSERT_EQ(course.parts().size(), 25u);
    for (const auto& part : course.parts()) EXPECT_EQ(part.requests(), 4u);
}

TEST(RequestSeries, LosesNothingOverDays) {
    RequestSeries course;
    course.answer(-1ms, ReportedOutcome::local_hit);
    course.answer(1s, ReportedOutcome::local_hit);
    course.failure(72h);
    EXPECT_EQ(sum_of(course), 3u);
    EXPECT_LE(course.parts().size(), RequestSeries::kMaxParts);
    EXPECT_GE(course.length() * course.parts().size(), 72h);
    EXPECT_EQ(course.parts()[0].answers[0], 2u);
}

}  // namespace request_series_test
}  // namespace measure
