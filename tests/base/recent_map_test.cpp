#include "base/memory/recent_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace base {
namespace recent_map_test {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RecentMap, HasTheLatestInFrontAndLosesTheOldest) {
    RecentMap<std::string, int> map;
    map.use("a") = 1;
    map.use("b") = 2;
    map.use("c") = 3;
    ++map.use("a");
    EXPECT_THAT(map.entries(), ElementsAre(Pair("a", 2), Pair("c", 3), Pair("b", 2)));
    EXPECT_EQ(*map.find("b"), 2);
    EXPECT_EQ(map.oldest().first, "b") << "a look is no use";
    map.drop_oldest();
    EXPECT_EQ(map.find("b"), nullptr);
    EXPECT_EQ(map.size(), 2u);
    EXPECT_EQ(map.use("b"), 0) << "it is new";
}

}  // namespace recent_map_test
}  // namespace base
