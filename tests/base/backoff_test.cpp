#include "base/net/backoff.hpp"

#include <gtest/gtest.h>

namespace base::test {
namespace backoff_test {

using namespace std::chrono_literals;

TEST(Backoff, DoublesFromTheLeastToTheMost) {
    Backoff backoff(100ms, 1s);
    for (const auto expected : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
        EXPECT_EQ(backoff.next(), expected);
    }
}

TEST(Backoff, BeginsAnewAfterALinkThatLasted) {
    Backoff backoff(100ms, 1s);
    backoff.next();
    backoff.next();
    backoff.link_lasted(1s);
    EXPECT_EQ(backoff.next(), 100ms);
}

TEST(Backoff, GoesOnAfterLinksThatFailAtOnce) {
    Backoff backoff(100ms, 1s);
    backoff.next();
    backoff.link_lasted(999ms);
    EXPECT_EQ(backoff.next(), 200ms);
}

TEST(Backoff, BeginsAnewAfterAReset) {
    Backoff backoff(100ms, 1s);
    backoff.next();
    backoff.reset();
    EXPECT_EQ(backoff.next(), 100ms);
}

}  // namespace backoff_test
}  // namespace base::test
