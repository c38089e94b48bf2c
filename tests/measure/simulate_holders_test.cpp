#include "measure/simulate/holders.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace simulate_holders_test {

TEST(Holders, KnowEachPairAlsoBeyondAWord) {
    Holders holders(3, 130);
    for (const auto proxy : {0u, 63u, 64u, 129u}) holders.add(1, proxy);
    EXPECT_EQ(holders.of(1), (summary::PeerSet{0, 63, 64, 129}));
    EXPECT_TRUE(holders.of(0).empty());
    EXPECT_TRUE(holders.of(2).empty());
    holders.remove(1, 64);
    EXPECT_FALSE(holders.has(1, 64));
    EXPECT_TRUE(holders.has(1, 129));
}

TEST(Holders, OthersAreAllButOne) {
    Holders holders(2, 130);
    EXPECT_FALSE(holders.any_but(0, 129));
    holders.add(0, 129);
    EXPECT_FALSE(holders.any_but(0, 129));
    EXPECT_TRUE(holders.any_but(0, 1));
    holders.add(0, 65);
    EXPECT_TRUE(holders.any_but(0, 129));
}

TEST(Holders, AProxyThatLosesAllLeavesTheOthersTheirs) {
    Holders holders(100, 70);
    for (std::uint32_t object = 0; object < 100; ++object) {
        holders.add(object, 2);
        holders.add(object, 66);
    }
    holders.remove_all(66);
    for (std::uint32_t object = 0; object < 100; ++object)
        EXPECT_EQ(holders.of(object), summary::PeerSet{2});
}

}  // namespace simulate_holders_test
}  // namespace measure
