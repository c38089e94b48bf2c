#include "proxy/upstream/peer_probe.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace peer_probe_test {

using namespace std::chrono_literals;

constexpr ProbeTurns::Clock::time_point kNow{1h};

TEST(ProbeTurns, TheOnlyPeerIsProbedAtOnce) {
    ProbeTurns turns;
    EXPECT_EQ(turns.take(kNow, 1), kNow);
    EXPECT_LE(turns.put_off(kNow), kNow);
}

TEST(ProbeTurns, AmongManyPeersProbesWaitUntilNoNewOneComes) {
    ProbeTurns turns;
    const auto first = turns.take(kNow, 40);
    EXPECT_EQ(first, kNow + 39 * ProbeTurns::kApart);
    const auto second = turns.take(kNow + 500ms, 40);
    EXPECT_EQ(second, kNow + 500ms + 39 * ProbeTurns::kApart);
    EXPECT_EQ(turns.put_off(kNow), second) << "the first one waits for the second newcomer, too";
}

TEST(ProbeTurns, WherePeersComeAndGoAllTheTimeAProbeWaitsSoLongOnly) {
    ProbeTurns turns;
    for (auto now = kNow; now < kNow + 2 * ProbeTurns::kLongestWait; now += 100ms)
        turns.take(now, 40);
    EXPECT_EQ(turns.put_off(kNow), kNow + ProbeTurns::kLongestWait);
}

}  // namespace peer_probe_test
}  // namespace proxy
