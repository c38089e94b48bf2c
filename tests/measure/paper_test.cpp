#include "measure/study/paper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace paper_test {

using testing::HasSubstr;
using Is = PaperVerdict::Is;

/// As the paper found it: the larger the threshold, the more hits are lost, and fewer messages.
SimulationCounts as_published(const SimulationConfig& config) {
    auto out = made_up(config);
    out.requests = 100'000;
    out.local_hits = 30'000;
    out.peer_hits = config.scheme == Scheme::none ? 0 : 10'000;
    out.stored = 40'000;
    if (config.scheme == Scheme::icp) {
        out.query_messages = 840'000;
        out.query_bytes = 58'800'000;
        return out;
    }
    out.peer_hits -= static_cast<std::uint64_t>(config.announce_changed * 40'000 * 0.3);
    out.announcements = 7'000;
    out.announcement_bytes = 7'000'000;
    out.query_messages = 2 * out.peer_hits + 20;
    out.query_bytes = out.query_messages * 70;
    const bool names = config.scheme == Scheme::server_names;
    out.false_hits_collision = names ? 60'000 : 3'200 / config.load_factor;
    if (names) out.query_messages += 120'000;
    return out;
}

Study paper_study() {
    const auto log = small_log();
    StudyOptions options;
    options.proxies = {8};
    auto study = plan_paper(log, completed(options, log));
    for (auto& row : study.rows) row.counts = as_published(row.config);
    return study;
}

TEST(Paper, AgreesWithItself) {
    for (const auto& verdict : verdicts_of(paper_study()))
        EXPECT_EQ(verdict.is, Is::as_published) << verdict.statement << ": " << verdict.ours;
}

TEST(Paper, SaysWhyMessagesAreMore) {
    auto study = paper_study();
    for (auto& row : study.rows)
        if (row.config.scheme == Scheme::paper_bloom) row.counts->announcements *= 20;
    const auto verdict = verdicts_of(study)[3];
    EXPECT_EQ(verdict.is, Is::otherwise);
    EXPECT_THAT(verdict.ours, HasSubstr("5.3 times: 1.5978 instead of 8.4000"));
    EXPECT_THAT(verdict.ours,
                HasSubstr("A cache holds 5000 objects, so 1 % are 50.0, announced to 7 "
                          "peers each time: 1.4000 messages per request"));
    EXPECT_THAT(verdict.ours, HasSubstr("objects in a cache it would be 25 times"));
}

TEST(Paper, DiffersWhereTheFiguresDo) {
    auto study = paper_study();
    for (auto& row : study.rows) {
        if (row.config.scheme == Scheme::exact_directory) row.counts->peer_hits = 5'000;
        if (row.config.scheme == Scheme::paper_bloom) {
            row.counts->announcement_bytes = 50'000'000;
            row.counts->false_hits_collision = row.config.load_factor * 100'000;
        }
    }
    const auto verdicts = verdicts_of(study);
    EXPECT_EQ(verdicts[0].is, Is::otherwise);
    EXPECT_EQ(verdicts[0].ours, "12.50 %");
    EXPECT_EQ(verdicts[1].is, Is::otherwise) << "as much at 1 % as at 10 %";
    EXPECT_EQ(verdicts[2].is, Is::otherwise);
    EXPECT_EQ(verdicts[4].is, Is::otherwise);
    EXPECT_EQ(verdicts[5].is, Is::otherwise);
    EXPECT_EQ(verdicts[6].is, Is::otherwise);
}

TEST(Paper, IsNotAgreedWithByALogThatLosesNothing) {
    auto study = paper_study();
    for (auto& row : study.rows)
        if (row.config.scheme == Scheme::exact_directory) row.counts->peer_hits = 10'000;
    const auto verdict = verdicts_of(study)[0];
    EXPECT_EQ(verdict.is, Is::not_shown);
    EXPECT_EQ(verdict.ours, "0.00 %: too little to judge");
}

TEST(Paper, SaysNothingOfWhatWasNotRun) {
    auto study = paper_study();
    for (auto& row : study.rows) row.counts.reset();
    for (const auto& verdict : verdicts_of(study)) EXPECT_EQ(verdict.is, Is::not_shown);
}

}  // namespace paper_test
}  // namespace measure
