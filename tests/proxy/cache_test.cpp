#include "proxy/cache/cache.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

TEST(SeenOnce, KnowsWhatWasNotedBefore) {
    SeenOnce seen;
    EXPECT_FALSE(seen.note({1, 2}));
    EXPECT_TRUE(seen.note({1, 2}));
    EXPECT_FALSE(seen.note({3, 4}));
}

TEST(SeenOnce, BeginsAnewWhenItIsFull) {
    SeenOnce seen;
    for (std::uint64_t i = 0; i < SeenOnce::kMaxKeys; ++i) seen.note({i, 0});
    EXPECT_FALSE(seen.note({SeenOnce::kMaxKeys, 0}));
    EXPECT_FALSE(seen.note({0, 0}));
}

}  // namespace
}  // namespace proxy
