#include "proxy/upstream/send_again.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace send_again_test {

TEST(SendAgain, RepeatsAMethodThatPromisesThatTwiceIsOnce) {  // RFC 9110 §9.2.2
    const BrokenExchange put{.reused = true, .repeatable_method = true, .body_kept = true};
    EXPECT_TRUE(may_send_again(FetchError::reset, put));
    const BrokenExchange post{.reused = true, .body_kept = true};
    EXPECT_FALSE(may_send_again(FetchError::reset, post));
}

TEST(SendAgain, RepeatsAnUnreadRequest) {
    BrokenExchange post{.reused = true, .unread = true, .body_kept = true};
    EXPECT_TRUE(may_send_again(FetchError::reset, post));
    post.body_kept = false;
    EXPECT_FALSE(may_send_again(FetchError::reset, post));
}

TEST(SendAgain, RepeatsNoOtherRequest) {
    const BrokenExchange all{
        .reused = true, .unread = true, .repeatable_method = true, .body_kept = true};
    for (const auto error : {FetchError::none, FetchError::head_timeout, FetchError::abandoned,
                             FetchError::malformed, FetchError::connect_failed, FetchError::busy})
        EXPECT_FALSE(may_send_again(error, all));
    auto fresh = all;
    fresh.reused = false;
    EXPECT_FALSE(may_send_again(FetchError::reset, fresh));
    auto begun = all;
    begun.heard_answer = true;
    EXPECT_FALSE(may_send_again(FetchError::reset, begun));
}

}  // namespace send_again_test
}  // namespace proxy
