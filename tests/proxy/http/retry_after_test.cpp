#include "proxy/http/retry_after.hpp"

#include <gtest/gtest.h>

#include "proxy/http/cache_control.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace retry_after_test {

using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::seconds(784'111'777)};  // Sun, 06 Nov 1994 08:49:37 GMT

std::optional<std::chrono::seconds> after(const char* lines, unsigned status = 503) {
    const test::Head head(lines);
    return retry_after(status, head, kNow);
}

TEST(RetryAfter, IsANumberOfSeconds) {
    EXPECT_EQ(after("Retry-After: 120"), 120s);
    EXPECT_EQ(after("Retry-After: 0"), 0s);
    EXPECT_EQ(after("Retry-After: 99999999999999999999"), kMaxDelta);
}

TEST(RetryAfter, IsADate) {
    EXPECT_EQ(after("Retry-After: Sun, 06 Nov 1994 08:50:07 GMT"), 30s);
    EXPECT_EQ(after("Retry-After: Sun, 06 Nov 1994 08:40:07 GMT"), 0s) << "it has passed";
}

TEST(RetryAfter, GoesByTheOriginsClock) {
    EXPECT_EQ(after("Date: Sun, 06 Nov 1994 07:00:00 GMT\n"
                    "Retry-After: Sun, 06 Nov 1994 07:00:05 GMT"),
              5s);
}

TEST(RetryAfter, IsNothingWhereItMakesNoSense) {
    for (const auto* lines : {"X: y", "Retry-After: soon", "Retry-After: -1", "Retry-After: 1.5",
                              "Retry-After: ", "Retry-After: 1\nRetry-After: 2"})
        EXPECT_EQ(after(lines), std::nullopt) << lines;
}

TEST(RetryAfter, IsOfNoInterestButOfARefusalThatPasses) {  // RFC 9110 §15.6.4, RFC 6585 §4
    EXPECT_EQ(after("Retry-After: 1", 429), 1s);
    for (const auto status : {200u, 301u, 404u, 500u})
        EXPECT_EQ(after("Retry-After: 1", status), std::nullopt) << status;
}

}  // namespace retry_after_test
}  // namespace proxy
