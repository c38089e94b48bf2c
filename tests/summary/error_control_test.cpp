#include "summary/sizing/error_control.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/summary/keys.hpp"

namespace summary {
namespace error_control_test {

using Judgement = ErrorControl::Judgement;

constexpr double kBudget = 0.004;
constexpr std::uint64_t kPeers = 16;
constexpr double kNominal = error_per_summary(kBudget, kPeers);
constexpr unsigned kMost = 1U << ErrorControl::kMaxHalvings;  // the largest correction
constexpr std::uint64_t kWindow = 16'000;                     // misses: 64 false hits are allowed

/// A window that ends with so many of them.
Judgement seen(ErrorControl& control, std::uint64_t collisions) {
    return control.judge(kBudget, {kWindow, collisions});
}

TEST(ErrorControl, BeginsWithWhatTheBudgetSays) {
    EXPECT_DOUBLE_EQ(ErrorControl().error(kBudget, kPeers), kNominal);
    EXPECT_DOUBLE_EQ(ErrorControl().error(3, 1), kMaxError);
}

TEST(ErrorControl, WaitsUntilThereIsEnoughToJudgeBy) {
    ErrorControl control;
    EXPECT_EQ(control.judge(kBudget, {0, 0}), Judgement::too_early);
    EXPECT_EQ(control.judge(kBudget, {kWindow - 1, 0}), Judgement::too_early);
    EXPECT_EQ(control.judge(kBudget, {100, 63}), Judgement::too_early);
    EXPECT_DOUBLE_EQ(control.error(kBudget, kPeers), kNominal);
    EXPECT_EQ(control.judge(kBudget, {100, 64}), Judgement::corrected) << "so many are enough, too";
}

TEST(ErrorControl, KeepsWhatIsAboutRight) {
    ErrorControl control;
    for (const std::uint64_t collisions : {0, 10, 64, 128}) {
        EXPECT_EQ(seen(control, collisions), Judgement::kept) << collisions;
    }
    EXPECT_DOUBLE_EQ(control.error(kBudget, kPeers), kNominal) << "never a larger error";
}

TEST(ErrorControl, HalvesTheErrorStepByStepAndNoFurtherThanItMay) {
    ErrorControl control;
    for (unsigned step = 1; step <= ErrorControl::kMaxHalvings; ++step) {
        EXPECT_EQ(seen(control, 5'000), Judgement::corrected);
        EXPECT_DOUBLE_EQ(control.error(kBudget, kPeers), kNominal / (1 << step));
    }
    EXPECT_EQ(seen(control, 5'000), Judgement::kept);
    EXPECT_DOUBLE_EQ(control.error(kBudget, kPeers), kNominal / kMost);
    EXPECT_DOUBLE_EQ(control.error(kBudget, 4 * kPeers), kNominal / 4 / kMost)
        << "goes along with the membership";
}

TEST(ErrorControl, GoesBackWhenItIsNotNeededAnyMore) {
    ErrorControl control;
    seen(control, 1'000);
    EXPECT_EQ(seen(control, 16), Judgement::kept);
    EXPECT_EQ(seen(control, 15), Judgement::corrected);
    EXPECT_DOUBLE_EQ(control.error(kBudget, kPeers), kNominal);
}

TEST(ErrorControl, AStepIsNotUndoneByTheNextWhateverIsSeen) {
    // The price goes with the error: `excess` times the price of the sizes.
    for (const double excess : {0.3, 1.0, 1.9, 2.1, 3.0, 5.0, 9.0, 15.0, 40.0}) {
        ErrorControl control;
        unsigned corrections = 0;
        double last = 0;
        for (int window = 0; window < 50; ++window) {
            const auto error = control.error(kBudget, kPeers);
            last = error * kPeers * excess * kWindow;
            corrections += seen(control, static_cast<std::uint64_t>(last)) == Judgement::corrected;
        }
        EXPECT_LE(corrections, ErrorControl::kMaxHalvings) << excess;
        if (excess <= 2 * kMost) {
            EXPECT_LE(last, 2 * 64 + 1) << excess;
        }
    }
}

TEST(ErrorControl, ChanceSeldomMovesIt) {
    test::Random random(7);
    ErrorControl control;
    int corrections = 0;
    for (int window = 0; window < 500; ++window) {
        std::uint64_t collisions = 0;  // the budget is just used up
        for (std::uint64_t i = 0; i < kWindow; ++i) collisions += random.one_in(250) ? 1 : 0;
        corrections += seen(control, collisions) == Judgement::corrected ? 1 : 0;
    }
    EXPECT_EQ(corrections, 0);
}

}  // namespace error_control_test
}  // namespace summary
