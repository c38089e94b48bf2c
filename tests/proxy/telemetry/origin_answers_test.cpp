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

/// The answers at one site of a worker that saw `failures` connections refused, a second apart.
SiteAnswers refused(int failures, OriginAnswers::Time first = kNow) {
    OriginAnswers answers;
    for (int i = 0; i < failures; ++i)
        answers.note_failure("a.test", "o", 80, "connect_failed", first + i * 1s);
    return answers.by_site(first).at("a.test");
}

TEST(OriginAnswers, ThreeRequestsInARowWithoutAnAnswerAreAFault) {
    EXPECT_EQ(fault_text("a.test", refused(2), kNow + 9s), "");
    EXPECT_EQ(fault_text("a.test", refused(3), kNow + 9s),
              "the origin o:80 of a.test has not answered for 9 s (3 requests): it refuses "
              "connections or is unreachable; meanwhile clients got 0 stale copies and 0 errors "
              "(502 or 504)");
    EXPECT_EQ(refused(3).outage.state(), OriginEnd::unanswered);
}

TEST(OriginAnswers, AGoodAnswerEndsAFault) {
    OriginAnswers answers;
    for (int i = 0; i < 5; ++i) answers.note_failure("a.test", "o", 80, "head_timeout", kNow);
    answers.note("a.test", "o", 80, 404, kNow + 1s);
    EXPECT_EQ(answers.by_site(kNow).at("a.test").outage.state(), OriginEnd::answered);
    answers.note_failure("a.test", "o", 80, "reset", kNow + 2s);
    answers.note_failure("a.test", "o", 80, "reset", kNow + 3s);
    answers.note("a.test", "o", 80, 200, kNow + 4s);
    answers.note_failure("a.test", "o", 80, "reset", kNow + 5s);
    EXPECT_EQ(answers.by_site(kNow).at("a.test").outage.state(), OriginEnd::answered)
        << "single failures are not a fault";
}

TEST(OriginAnswers, ErrorsOfTheOriginAreAFaultOfAnotherKind) {
    OriginAnswers answers;
    for (int i = 0; i < 4; ++i) answers.note("a.test", "o", 80, 503, kNow);
    answers.stood_in("a.test", true);
    const auto all = answers.by_site(kNow);
    EXPECT_EQ(all.at("a.test").outage.state(), OriginEnd::server_error);
    EXPECT_EQ(fault_text("a.test", all.at("a.test"), kNow + 150s),
              "the origin o:80 of a.test has answered with errors for 2 m (4 requests, the last "
              "one 2 m ago): it answers 503; meanwhile clients got 1 stale copy, and otherwise "
              "its errors");
}

TEST(OriginAnswers, AnAnswerThatAnotherServerReplacesIsNoOutage) {
    OriginAnswers answers;
    for (int i = 0; i < 5; ++i) answers.note_replaced("a.test", "one", 80, 502, kNow);
    const auto site = answers.by_site(kNow).at("a.test");
    EXPECT_EQ(site.total, (OriginAnswerCounts{5, 5, 0}));
    EXPECT_EQ(site.outage.requests, 0u);
    answers.note_replaced("", "h", 80, 502, kNow);
    EXPECT_EQ(answers.by_site(kNow).at(OriginAnswers::kForwardTargets).total.answers, 1u);
}

TEST(OriginAnswers, RequestsThatStayOpenAreAFaultBeforeTheyTimeOut) {
    OriginAnswers answers(10s);
    const auto state = [&](auto age) {
        return answers.by_site(kNow + age).at("a.test").outage.state();
    };
    answers.note("a.test", "o", 80, 200, kNow);
    const OriginAnswers::Open one(answers, "a.test", "o", 80, kNow + 1s);
    const OriginAnswers::Open two(answers, "a.test", "o", 80, kNow + 2s);
    {
        const OriginAnswers::Open three(answers, "a.test", "o", 80, kNow + 3s);
        EXPECT_EQ(state(12s), OriginEnd::answered) << "the third has been open for nine seconds";
        EXPECT_EQ(state(13s), OriginEnd::unanswered);
        EXPECT_EQ(fault_text("a.test", answers.by_site(kNow + 13s).at("a.test"), kNow + 13s),
                  "the origin o:80 of a.test has not answered for 12 s (3 requests): it does not "
                  "answer in time; meanwhile clients got 0 stale copies and 0 errors (502 or 504)");
    }
    EXPECT_EQ(state(13s), OriginEnd::answered) << "two are left";
    answers.note_failure("a.test", "o", 80, "head_timeout", kNow + 14s);
    EXPECT_EQ(state(14s), OriginEnd::unanswered) << "failures and open requests add up";
    EXPECT_EQ(answers.by_site(kNow + 14s).at("a.test").outage.since, kNow + 1s);
}

TEST(OriginAnswers, AnAnswerSinceTheyBeganClearsOpenRequests) {
    OriginAnswers answers(10s);
    std::vector<std::unique_ptr<OriginAnswers::Open>> polls;
    for (int i = 0; i < 4; ++i)
        polls.push_back(std::make_unique<OriginAnswers::Open>(answers, "a.test", "o", 80, kNow));
    answers.note("a.test", "o", 80, 200, kNow + 1s);
    EXPECT_EQ(answers.by_site(kNow + 60s).at("a.test").outage.state(), OriginEnd::answered)
        << "the origin answers others";
    answers.note("a.test", "o", 80, 503, kNow + 2s);
    EXPECT_EQ(answers.by_site(kNow + 60s).at("a.test").outage.requests, 1u)
        << "an error is an answer, too";
}

TEST(OriginAnswers, AnOriginThatAnswersSlowlyIsGivenTwiceThatTime) {
    OriginAnswers answers(10s);
    {
        const OriginAnswers::Open slow(answers, "a.test", "o", 80, kNow);
        answers.note("a.test", "o", 80, 200, kNow + 15s);
    }
    std::vector<std::unique_ptr<OriginAnswers::Open>> polls;
    for (int i = 0; i < 3; ++i)
        polls.push_back(
            std::make_unique<OriginAnswers::Open>(answers, "a.test", "o", 80, kNow + 20s));
    const auto state = [&](auto age) {
        return answers.by_site(kNow + age).at("a.test").outage.state();
    };
    EXPECT_EQ(state(49s), OriginEnd::answered);
    EXPECT_EQ(state(50s), OriginEnd::unanswered);
}

TEST(OriginAnswers, CountWhatClientsGetDuringAnOutageAlone) {
    OriginAnswers answers;
    answers.stood_in("a.test", false);
    answers.note("a.test", "o", 80, 200, kNow);
    answers.stood_in("a.test", true);
    answers.note_failure("a.test", "o", 80, "connect_failed", kNow + 1s);
    for (const auto is_stale : {true, true, false}) answers.stood_in("a.test", is_stale);
    const auto outage = answers.by_site(kNow).at("a.test").outage;
    EXPECT_EQ(outage.stale_served, 2u);
    EXPECT_EQ(outage.errors_served, 1u);
}

TEST(OriginAnswers, ForwardTargetsAreNotJudged) {
    OriginAnswers answers;
    for (int i = 0; i < 4; ++i) answers.note_failure("", "far.test", 80, "connect_failed", kNow);
    for (int i = 0; i < 4; ++i) answers.note("", "far.test", 80, 503, kNow);
    EXPECT_EQ(answers.by_site(kNow).at("forward").outage.state(), OriginEnd::answered);
}

TEST(OriginAnswers, WorkersJudgeTogether) {
    auto one = refused(2);
    one += refused(1, kNow + 5s);
    EXPECT_EQ(one.outage.state(), OriginEnd::unanswered);
    EXPECT_EQ(one.outage.since, kNow);
    EXPECT_EQ(one.outage.last, kNow + 5s);
    SiteAnswers well;
    well.outage.note(OriginEnd::answered, {}, 200, kNow + 1min);
    auto recovered = refused(9);
    recovered += well;
    EXPECT_EQ(recovered.outage.state(), OriginEnd::answered) << "another worker got an answer";
    auto reversed = well;
    reversed += refused(9);
    EXPECT_EQ(reversed.outage.state(), OriginEnd::answered);
    auto anew = refused(3, kNow + 2min);
    anew += well;
    EXPECT_EQ(anew.outage.state(), OriginEnd::unanswered);
    EXPECT_EQ(anew.outage.since, kNow + 2min);
}

}  // namespace origin_answers_test
}  // namespace proxy
