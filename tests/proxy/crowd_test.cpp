#include "proxy/crowd.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

TEST(Crowd, HasLeftOnceWhenHalfOfItIsGone) {
    Crowd crowd;
    for (const std::uint64_t connections : {0, 600, 1000, 501})
        EXPECT_FALSE(crowd.has_left(connections));
    EXPECT_TRUE(crowd.has_left(500));
    EXPECT_FALSE(crowd.has_left(500));
    EXPECT_FALSE(crowd.has_left(251));
    EXPECT_TRUE(crowd.has_left(250));
    EXPECT_TRUE(crowd.has_left(0));
    EXPECT_FALSE(crowd.has_left(0));
}

TEST(Crowd, IsNoFewerThanItsLeast) {
    Crowd crowd;
    EXPECT_FALSE(crowd.has_left(Crowd::kLeast - 1));
    EXPECT_FALSE(crowd.has_left(0));
    EXPECT_FALSE(crowd.has_left(Crowd::kLeast));
    EXPECT_TRUE(crowd.has_left(0));
}

}  // namespace
}  // namespace proxy
