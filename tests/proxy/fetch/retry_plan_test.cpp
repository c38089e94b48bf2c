#include "proxy/fetch/retry_plan.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace retry_plan_test {

using namespace std::chrono_literals;

constexpr auto kNow = RetryBudget::Time() + 1h;

TEST(RetryBudget, ComeAfterLongerAndLongerPausesAndSoManyTimes) {
    RetryBudget tries;
    EXPECT_EQ(tries.failed(FetchError::reset, {}, kNow), 50ms);
    EXPECT_EQ(tries.failed(FetchError::origin_error, {}, kNow + 1s), 200ms);
    EXPECT_EQ(tries.failed(FetchError::connect_failed, {}, kNow + 2s), 800ms);
    EXPECT_EQ(tries.failed(FetchError::reset, {}, kNow + 3s), std::nullopt);
    EXPECT_EQ(tries.failed(FetchError::reset, {}, kNow + 3s), std::nullopt) << "told again";
}

TEST(RetryBudget, DoNotComeLate) {
    RetryBudget tries;
    EXPECT_EQ(tries.failed(FetchError::head_timeout, {}, kNow), 50ms);
    EXPECT_EQ(tries.failed(FetchError::head_timeout, {}, kNow + kRetryWithin - 200ms), 200ms);
    EXPECT_EQ(tries.failed(FetchError::head_timeout, {}, kNow + kRetryWithin), std::nullopt);
}

TEST(RetryBudget, ComeOnlyAfterWhatMayPass) {
    for (const auto error : {FetchError::changed, FetchError::not_allowed, FetchError::own_listener,
                             FetchError::tls_failed, FetchError::abandoned, FetchError::stopping})
        EXPECT_EQ(RetryBudget().failed(error, {}, kNow), std::nullopt) << to_string(error);
}

TEST(RetryBudget, ComeNotBeforeTheOriginSays) {  // RFC 9110 §10.2.3
    EXPECT_EQ(RetryBudget().failed(FetchError::origin_error, kNow + 3s, kNow), 3s);
    EXPECT_EQ(RetryBudget().failed(FetchError::origin_error, kNow + 1ms, kNow), 50ms);
    EXPECT_EQ(RetryBudget().failed(FetchError::origin_error, kNow - 1s, kNow), 50ms);
}

TEST(RetryBudget, EndWhereTheOriginWantsALongerPauseThanAnybodyWaits) {
    EXPECT_EQ(RetryBudget().failed(FetchError::origin_error, kNow + kRetryWithin + 1s, kNow),
              std::nullopt);
}

}  // namespace retry_plan_test
}  // namespace proxy
