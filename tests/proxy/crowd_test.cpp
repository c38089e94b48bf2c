#include "proxy/net/crowd.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

TEST(Crowd, HasLeftOnceWhenHalfOfItIsGone) {
    Crowd crowd;
    crowd.grew_to(1000);
    crowd.grew_to(600);
    EXPECT_FALSE(crowd.has_left(501));
    EXPECT_TRUE(crowd.has_left(500));
    EXPECT_FALSE(crowd.has_left(500));
    EXPECT_FALSE(crowd.has_left(251));
    EXPECT_TRUE(crowd.has_left(250));
    EXPECT_TRUE(crowd.has_left(0));
    EXPECT_FALSE(crowd.has_left(0));
}

TEST(Crowd, IsNoFewerThanItsLeast) {
    Crowd crowd;
    crowd.grew_to(Crowd::kLeast - 1);
    EXPECT_FALSE(crowd.has_left(0));
    crowd.grew_to(Crowd::kLeast);
    EXPECT_TRUE(crowd.has_left(0));
}

}  // namespace
}  // namespace proxy
