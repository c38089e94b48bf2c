#include "summary/directory/peer_set.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace summary {
namespace peer_set_test {

std::vector<unsigned> listed(const PeerSet& set) {
    return {set.begin(), set.end()};
}

TEST(PeerSet, ListsItsPeersInAscendingOrder) {
    EXPECT_EQ(listed({}), std::vector<unsigned>());
    EXPECT_EQ(listed({700, 0, 63, 64, 1023, 0}), (std::vector<unsigned>{0, 63, 64, 700, 1023}));
    EXPECT_EQ(listed({500}), std::vector<unsigned>{500});
}

TEST(PeerSet, KnowsWhoIsInIt) {
    const PeerSet set{3, 64, 1023};
    EXPECT_EQ(set.size(), 3U);
    EXPECT_FALSE(set.empty());
    EXPECT_TRUE(set.contains(3) && set.contains(64) && set.contains(1023));
    EXPECT_FALSE(set.contains(0) || set.contains(67) || set.contains(1022));
    EXPECT_FALSE(set.contains(kMaxPeers));
    EXPECT_TRUE(PeerSet().empty());
    EXPECT_EQ(PeerSet().size(), 0U);
}

TEST(PeerSet, CombinesSetsOfDifferentLengths) {
    const PeerSet low{1, 2, 63};
    const PeerSet wide{2, 63, 200, 900};
    EXPECT_EQ(low | wide, (PeerSet{1, 2, 63, 200, 900}));
    EXPECT_EQ(wide | low, low | wide);
    EXPECT_EQ(low & wide, (PeerSet{2, 63}));
    EXPECT_EQ(wide & low, (PeerSet{2, 63}));
    EXPECT_EQ(low - wide, PeerSet{1});
    EXPECT_EQ(wide - low, (PeerSet{200, 900}));
}

TEST(PeerSet, IsEmptyAgainWhenEverybodyIsTakenOut) {
    const PeerSet wide{1, 900};
    const auto nobody = wide - wide;
    EXPECT_TRUE(nobody.empty());
    EXPECT_EQ(nobody, PeerSet());
    EXPECT_EQ(listed(nobody), std::vector<unsigned>());
    EXPECT_EQ(wide - PeerSet{900}, PeerSet{1});
}

}  // namespace peer_set_test
}  // namespace summary
