#include "proxy/upstream/peer_probe.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace peer_probe_test {

using namespace std::chrono_literals;

constexpr ProbeTurns::Clock::time_point kNow{1h};

TEST(ProbeTurns, TheOnlyPeerIsProbedAtOnce) {
    ProbeTurns turns;
    EXPECT_EQ(turns.take("b", kNow, 1), kNow);
    EXPECT_LE(turns.put_off(kNow), kNow);
}

TEST(ProbeTurns, AmongManyPeersProbesWaitUntilNoNewOneComes) {
    ProbeTurns turns;
    const auto first = turns.take("b", kNow, 40);
    EXPECT_EQ(first, kNow + 39 * ProbeTurns::kApart);
    const auto second = turns.take("c", kNow + 500ms, 40);
    EXPECT_EQ(turns.put_off(kNow), kNow + 500ms + 39 * ProbeTurns::kApart)
        << "the first one waits for the second newcomer, too";
    EXPECT_GE(second, turns.put_off(kNow));
}

TEST(ProbeTurns, AreFurtherApartTheMorePeersThereAre) {
    for (const auto peers : {2, 40, 1000}) {
        ProbeTurns turns;
        ProbeTurns::Clock::time_point last;
        for (int i = 0; i < peers; ++i)
            last = turns.take(std::to_string(i), kNow, static_cast<std::size_t>(peers)).value();
        const auto apart = std::min<ProbeTurns::Clock::duration>(
            peers * ProbeTurns::kApart, std::chrono::nanoseconds(10min) / peers);
        EXPECT_EQ(last, kNow + (peers - 1) * apart) << peers;
    }
}

TEST(ProbeTurns, APeerThatComesAndGoesHasOneProbe) {
    ProbeTurns turns;
    EXPECT_TRUE(turns.take("b", kNow, 40));
    EXPECT_FALSE(turns.take("b", kNow + 1s, 40));
    turns.went("b");
    EXPECT_TRUE(turns.take("b", kNow + 2s, 40));
}

TEST(ProbeTurns, WherePeersComeAndGoAllTheTimeAProbeWaitsSoLongOnly) {
    ProbeTurns turns;
    for (auto now = kNow; now < kNow + 2 * ProbeTurns::kLongestWait; now += 100ms)
        turns.take("b", now, 40);
    EXPECT_EQ(turns.put_off(kNow), kNow + ProbeTurns::kLongestWait);
}

}  // namespace peer_probe_test
}  // namespace proxy
