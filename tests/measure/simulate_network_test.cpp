#include "measure/simulate/network.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace simulate_network_test {

using namespace std::chrono_literals;

constexpr SimulatedLines::TimePoint kStart{1000s};

TEST(SimulatedLines, APartitionSeparatesOneSideFromTheOtherForItsTime) {
    SimulatedNetwork network;
    network.partitions = {{1s, 2s, 2}};
    const SimulatedLines lines(network, 1, kStart);
    EXPECT_TRUE(lines.reaches(0, 2, kStart));
    EXPECT_FALSE(lines.reaches(0, 2, kStart + 1s));
    EXPECT_FALSE(lines.reaches(3, 1, kStart + 1999ms));
    EXPECT_TRUE(lines.reaches(0, 1, kStart + 1s));
    EXPECT_TRUE(lines.reaches(2, 3, kStart + 1s));
    EXPECT_TRUE(lines.reaches(0, 2, kStart + 2s));
}

TEST(SimulatedLines, PartitionsThatMeetAreOneToThoseWhoWait) {
    SimulatedNetwork network;
    network.partitions = {{2s, 3s, 2}, {1s, 2s, 1}};
    const SimulatedLines lines(network, 1, kStart);
    EXPECT_EQ(lines.reachable_from(0, 2, kStart + 1500ms), kStart + 3s);
    EXPECT_EQ(lines.reachable_from(1, 2, kStart + 1500ms), kStart + 1500ms);
    EXPECT_EQ(lines.reachable_from(0, 1, kStart + 1500ms), kStart + 2s);
}

TEST(SimulatedLines, DelaysAreDrawnFromTheirRangeAndFollowFromTheSeed) {
    SimulatedNetwork network;
    network.delay = 1ms;
    network.jitter = 2ms;
    SimulatedLines lines(network, 7, kStart), same(network, 7, kStart);
    SimulatedLines::Duration least = 1h, most = 0s;
    for (int i = 0; i < 1000; ++i) {
        const auto delay = lines.delay();
        EXPECT_EQ(same.delay(), delay);
        least = std::min(least, delay);
        most = std::max(most, delay);
    }
    EXPECT_GE(least, 1ms);
    EXPECT_LT(least, 1100us);
    EXPECT_LE(most, 3ms);
    EXPECT_GT(most, 2900us);
}

TEST(SimulatedLines, DropThePartThatTheyAreSaidTo) {
    SimulatedNetwork network;
    SimulatedLines whole(network, 1, kStart);
    EXPECT_FALSE(whole.drops());
    network.dropped = 0.25;
    SimulatedLines lines(network, 1, kStart);
    int dropped = 0;
    for (int i = 0; i < 4000; ++i) dropped += lines.drops() ? 1 : 0;
    EXPECT_NEAR(dropped, 1000, 100);
}

}  // namespace simulate_network_test
}  // namespace measure
