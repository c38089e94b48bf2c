#include "measure/study/run_study.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <stdexcept>

#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace run_study_test {

Study small_study() {
    auto options = completed({}, small_log());
    options.proxies = {1, 2, 3, 4, 5, 6, 7, 8};
    options.caches.resize(1);
    return plan_single(small_log(), options);
}
bool go_on(const StudyProgress&) {
    return true;
}

TEST(RunStudy, CountsTheSameWithAnyNumberOfThreads) {
    const Trace trace;
    for (const unsigned jobs : {1u, 3u, 50u}) {
        auto study = small_study();
        run_study(trace, study, jobs, go_on,
                  [](const auto&, const auto& config, const auto&) { return made_up(config); });
        EXPECT_FALSE(study.stopped);
        for (const auto& row : study.rows) {
            ASSERT_TRUE(row.counts);
            EXPECT_EQ(row.counts->requests, 1'000u);
        }
    }
}

TEST(RunStudy, RunsWhatHasNoCountsYet) {
    const Trace trace;
    auto study = small_study();
    for (auto& row : study.rows) row.counts = SimulationCounts{};
    study.rows[2].counts.reset();
    std::atomic<int> runs = 0;
    run_study(trace, study, 2, go_on, [&](const auto&, const auto& config, const auto&) {
        ++runs;
        EXPECT_EQ(config.proxies, 3u);
        return made_up(config);
    });
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(study.rows[2].counts->requests, 1'000u);
}

TEST(RunStudy, RefusesARowAndGoesOn) {
    const Trace trace;
    auto study = small_study();
    run_study(trace, study, 2, go_on, [](const auto&, const auto& config, const auto&) {
        if (config.proxies == 4) throw std::invalid_argument("four are too many");
        return made_up(config);
    });
    EXPECT_EQ(study.rows[3].refused, "four are too many");
    EXPECT_FALSE(study.rows[3].counts);
    EXPECT_TRUE(study.rows[7].counts);
    EXPECT_FALSE(study.stopped);
}

TEST(RunStudy, PassesOnWhatElseGoesWrong) {
    const Trace trace;
    auto study = small_study();
    EXPECT_THROW(run_study(trace, study, 2, go_on,
                           [](const auto&, const auto&, const auto&) -> SimulationCounts {
                               throw std::bad_alloc();
                           }),
                 std::bad_alloc);
}

TEST(RunStudy, EndsWithWhatIsThroughWhenToldTo) {
    const Trace trace;
    auto study = small_study();
    double last = 0;
    run_study(
        trace, study, 1,
        [&](const StudyProgress& now) {
            last = now.part;
            EXPECT_EQ(now.rows, 8u);
            return now.done < 2;
        },
        [](const auto&, const auto& config, const std::function<bool(double)>& progress) {
            if (config.proxies < 3) return made_up(config);
            while (progress(0.5)) {  // until the study ends it
            }
            return SimulationCounts{};
        });
    EXPECT_TRUE(study.stopped);
    EXPECT_TRUE(study.rows[1].counts);
    EXPECT_FALSE(study.rows[2].counts) << "half of it was simulated";
    EXPECT_FALSE(study.rows[7].counts);
    EXPECT_NEAR(last, 2.5 / 8, 1e-9);
}

TEST(InterruptGuard, IsAskedForByTheFirstSignal) {
    const InterruptGuard end;
    EXPECT_FALSE(InterruptGuard::asked());
    ::raise(SIGINT);
    EXPECT_TRUE(InterruptGuard::asked());
}

TEST(Jobs, AreTheProcessorsUnlessGiven) {
    EXPECT_EQ(jobs_or_processors(3), 3u);
    EXPECT_GE(jobs_or_processors(0), 1u);
}

}  // namespace run_study_test
}  // namespace measure
