#include "proxy/fetch/remote_hits.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace remote_hits_test {

summary::KeyHash key(std::uint64_t number) {
    return {number * 0x9E3779B97F4A7C15u, ~number};
}

TEST(RemoteHits, RememberTheLastOnesAtLeastAndTwiceAsManyAtMost) {
    constexpr std::uint64_t window = 100;
    for (std::uint64_t others = 0; others <= 3 * window; ++others) {
        RemoteHits lately(window);
        EXPECT_FALSE(lately.note(key(1)));
        for (std::uint64_t i = 0; i < others; ++i) lately.note(key(2 + i));
        const auto known = lately.note(key(1));
        if (others < window) {
            EXPECT_TRUE(known) << others;
        }
        if (others >= 2 * window) {
            EXPECT_FALSE(known) << others;
        }
    }
}

TEST(RemoteHits, RememberAKeyFromItsLastUseOn) {
    RemoteHits lately(10);
    lately.note(key(1));
    for (std::uint64_t i = 2; i < 200; ++i) {
        EXPECT_FALSE(lately.note(key(i)));
        if (i % 5 == 0) {
            EXPECT_TRUE(lately.note(key(1))) << i;
        }
    }
}

}  // namespace remote_hits_test
}  // namespace proxy
