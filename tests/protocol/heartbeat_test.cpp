#include "protocol/wire/heartbeat.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace heartbeat_test {

using namespace std::chrono_literals;

TEST(BeatInterval, IsTheHeartbeatUpToSoManyPeers) {
    EXPECT_EQ(beat_interval(1s, 0), 1s);
    EXPECT_EQ(beat_interval(1s, 1), 1s);
    EXPECT_EQ(beat_interval(1s, kBeatsPerHeartbeat), 1s);
    EXPECT_EQ(beat_interval(40ms, 3), 40ms);
}

TEST(BeatInterval, GrowsWithThePeersSoThatBeatsAreNotMore) {
    EXPECT_EQ(beat_interval(1s, 128), 2s);
    EXPECT_EQ(beat_interval(1s, 1024), 16s);
    EXPECT_EQ(beat_interval(100ms, 1024), 1600ms);
    for (std::size_t peers = 1; peers <= 1024; ++peers) {
        const auto beats = static_cast<double>(peers) *
                           (1s / std::chrono::duration<double>(beat_interval(1s, peers)));
        EXPECT_LE(beats, 64.001) << peers;
    }
}

TEST(BeatInterval, HasALimit) {
    EXPECT_EQ(beat_interval(60s, 64), kMaxBeatInterval);
    EXPECT_EQ(beat_interval(60s, 1024), kMaxBeatInterval);
    EXPECT_EQ(beat_interval(10s, 1024), kMaxBeatInterval);
}

TEST(Promise, IsNeverShorterThanTheInterval) {
    EXPECT_EQ(promise_of(1s), 1000ms);
    EXPECT_EQ(promise_of(1s + 1ns), 1001ms);
    EXPECT_EQ(promise_of(1us), 1ms);
    EXPECT_EQ(promise_of(kMaxBeatInterval), kMaxBeatInterval);
}

TEST(SilenceLimit, IsWhatIsConfiguredWhereNobodyBeatsMoreSeldom) {
    EXPECT_EQ(silence_limit(3s, 1s, 0s), 3s);
    EXPECT_EQ(silence_limit(3s, 1s, 200ms), 3s);
    EXPECT_EQ(silence_limit(3s, 1s, 1s), 3s);
}

TEST(SilenceLimit, LeavesTimeForTwoBeatsAndWhatWasLeftBeyondThemBefore) {
    EXPECT_EQ(silence_limit(3s, 1s, 3s), 7s);
    EXPECT_EQ(silence_limit(10s, 1s, 3s), 14s);
    EXPECT_EQ(silence_limit(3s, 1s, kMaxBeatInterval), 121s);
    for (std::size_t peers = 1; peers <= 1024; ++peers) {
        const auto interval = beat_interval(1s, peers);
        EXPECT_GE(silence_limit(3s, 1s, promise_of(interval)), 2 * interval + 1s) << peers;
    }
}

TEST(NextBeat, IsNotLaterThanPromisedNorATurnSooner) {
    for (const auto interval : {std::chrono::nanoseconds(1s), beat_interval(1s, 199)}) {
        for (auto now = std::chrono::steady_clock::time_point(100s);
             now < std::chrono::steady_clock::time_point(104s); now += 37ms) {
            EXPECT_LE(next_beat(now, interval), now + interval);
            EXPECT_GT(next_beat(now, interval), now + interval - 2 * kBeatTurn);
        }
    }
}

TEST(NextBeat, BringsAllLinksOfANodeIntoOneTurn) {
    const std::chrono::steady_clock::time_point now{100s};
    for (auto late = 0ms; late < 1000ms; late += 37ms)
        EXPECT_EQ(next_beat(now + late, 1s), now + 1s) << late.count();
    EXPECT_EQ(next_beat(now + 1s + 3ms, 1s), now + 2s) << "an event loop may be late";
}

TEST(NextBeat, SpreadsTheLinksOfALargeClusterOverTurns) {
    const auto interval = beat_interval(1s, 1024);
    for (auto turn = 0s; turn < 16s; ++turn) {
        const std::chrono::steady_clock::time_point now{1600s + turn};
        EXPECT_EQ(next_beat(now, interval), now + interval) << "it stays in its turn";
        EXPECT_EQ(next_beat(now + 700ms, interval), now + interval);
    }
}

}  // namespace heartbeat_test
}  // namespace protocol::test
