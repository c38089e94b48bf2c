#include "proxy/telemetry/origin_answers.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace origin_answers_test {

using namespace std::chrono_literals;

constexpr OriginAnswers::Time kNow{600s};

TEST(OriginAnswers, CountBySiteAndClass) {
    OriginAnswers answers;
    for (const unsigned status : {200u, 304u, 404u, 429u, 500u, 503u})
        answers.note("a.test/x", "10.0.0.1", 80, status, kNow);
    answers.note("", "far.test", 443, 502, kNow);
    const auto all = answers.by_site(kNow);
    ASSERT_EQ(all.size(), 2u);
    const OriginAnswerCounts expected{6, 2, 1};
    EXPECT_EQ(all.at("a.test/x").total, expected);
    EXPECT_EQ(all.at("a.test/x").recent, expected);
    EXPECT_EQ(all.at("a.test/x").place, "10.0.0.1:80");
    EXPECT_EQ(all.at("forward").total.server_errors, 1u);
    EXPECT_EQ(all.at("forward").place, "forward") << "nobody reads where clients went";
}

TEST(OriginAnswers, ForgetWhatIsOlderThanFiveMinutes) {
    OriginAnswers answers;
    for (int minute = 0; minute < 8; ++minute)
        answers.note("a.test", "o", 80, 503, kNow + minute * 1min);
    EXPECT_EQ(answers.by_site(kNow + 7min).at("a.test").recent.server_errors, 5u);
    EXPECT_EQ(answers.by_site(kNow + 9min).at("a.test").recent.server_errors, 3u);
    EXPECT_EQ(answers.by_site(kNow + 1h).at("a.test").recent.answers, 0u);
    EXPECT_EQ(answers.by_site(kNow + 1h).at("a.test").total.answers, 8u);
}

TEST(OriginAnswers, KeepABoundedNumberOfSites) {
    OriginAnswers answers;
    for (std::size_t i = 0; i < OriginAnswers::kMaxSites + 10; ++i)
        answers.note("s" + std::to_string(i), "o", 80, 200, kNow);
    const auto all = answers.by_site(kNow);
    EXPECT_EQ(all.size(), OriginAnswers::kMaxSites + 1);
    EXPECT_EQ(all.at("other").total.answers, 10u);
    AnswersBySite sum;
    for (const auto& [site, each] : all) add_answers(sum, site, each);
    SiteAnswers one;
    one.total.answers = 1;
    add_answers(sum, "yet another", one);
    EXPECT_EQ(sum.size(), OriginAnswers::kMaxSites + 1);
    EXPECT_EQ(sum.at("other").total.answers, 11u);
}

TEST(OriginAnswers, FailingTakesATenthOfTwentyAnswers) {
    EXPECT_FALSE(is_failing({19, 19, 0}));
    EXPECT_FALSE(is_failing({20, 2, 0}));
    EXPECT_TRUE(is_failing({20, 2, 1}));
    EXPECT_TRUE(is_failing({100, 0, 11}));
}

}  // namespace origin_answers_test
}  // namespace proxy
