#include "summary/directory/lanes.hpp"

#include <gtest/gtest.h>

namespace summary {
namespace lanes_test {

PeerSet peers_of(const Lanes& lanes, std::initializer_list<std::size_t> which) {
    PeerSet found;
    for (const auto lane : which) lanes.add_peer(lane, found);
    return found;
}

TEST(Lanes, AreGivenOutOneAfterTheOther) {
    Lanes lanes(3);
    EXPECT_EQ(lanes.take(700), 0U);
    EXPECT_EQ(lanes.take(5), 1U);
    EXPECT_FALSE(lanes.full());
    EXPECT_EQ(lanes.take(1023), 2U);
    EXPECT_TRUE(lanes.full());
    EXPECT_EQ(lanes.peer(0), 700U);
    EXPECT_EQ(peers_of(lanes, {0, 2}), (PeerSet{700, 1023}));
}

TEST(Lanes, OneThatWasNeverTakenIsNobodys) {
    Lanes lanes(4);
    lanes.take(9);
    EXPECT_TRUE(peers_of(lanes, {1, 2, 3}).empty());
    EXPECT_EQ(peers_of(lanes, {0, 1}), PeerSet{9});
}

TEST(Lanes, KnowWhetherAnybodyCounts) {
    Lanes lanes(2);
    EXPECT_FALSE(lanes.any_counts());
    lanes.one_counts();
    lanes.one_counts();
    lanes.one_counts_no_more();
    EXPECT_TRUE(lanes.any_counts());
    lanes.one_counts_no_more();
    EXPECT_FALSE(lanes.any_counts());
}

}  // namespace lanes_test
}  // namespace summary
