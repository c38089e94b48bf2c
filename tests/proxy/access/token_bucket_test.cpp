#include "proxy/access/token_bucket.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace token_bucket_test {

using namespace std::chrono_literals;
using Time = TokenBucket::Time;

constexpr Time kNow{1h};

TEST(TokenBucket, HasItsBurstAtFirstAndItsRateAfterwards) {
    const BucketRate rate{2, 3};
    TokenBucket bucket;
    for (int i = 0; i < 3; ++i) {
        EXPECT_LE(bucket.ready_at(kNow, rate), kNow) << i;
        bucket.take(kNow, rate);
    }
    EXPECT_EQ(bucket.ready_at(kNow, rate), kNow + 500ms);
    EXPECT_LE(bucket.ready_at(kNow + 500ms, rate), kNow + 500ms);
    bucket.take(kNow + 500ms, rate);
    EXPECT_EQ(bucket.ready_at(kNow + 500ms, rate), kNow + 1s);
    EXPECT_EQ(bucket.full_at, kNow + 2s);
    for (int i = 0; i < 3; ++i) {
        EXPECT_LE(bucket.ready_at(kNow + 1h, rate), kNow + 1h) << "it holds no more than its burst";
        bucket.take(kNow + 1h, rate);
    }
    EXPECT_GT(bucket.ready_at(kNow + 1h, rate), kNow + 1h);
}

TEST(TokenBucket, CanGoIntoDebt) {
    const BucketRate rate{1000, 1000};
    TokenBucket bucket;
    bucket.take(kNow, rate, 5000);
    EXPECT_GE(bucket.ready_at(kNow, rate), kNow + 4s);
    EXPECT_LE(bucket.ready_at(kNow, rate), kNow + 4s + 1ms);
}

TEST(TokenBucket, KeepsItsMeaningAtTheEnds) {
    const BucketRate slow{1, 10'000'000}, fast{1e12, 1e12};
    TokenBucket bucket;
    bucket.take(kNow, slow, 1e18);  // the time stays a time
    EXPECT_GT(bucket.ready_at(kNow, slow), kNow);
    TokenBucket other;
    for (int i = 0; i < 1000; ++i) other.take(kNow, fast, 64 * 1024);
    EXPECT_LE(other.ready_at(kNow, fast), kNow);
}

TEST(SharedBucket, TakesATokenOnlyIfItIsThere) {
    const BucketRate rate{1, 2};
    SharedBucket bucket;
    EXPECT_LE(bucket.take_if_there(kNow, rate), kNow);
    EXPECT_LE(bucket.take_if_there(kNow, rate), kNow);
    const auto full_at = bucket.state().full_at;
    EXPECT_EQ(bucket.take_if_there(kNow, rate), kNow + 1s);
    EXPECT_EQ(bucket.state().full_at, full_at) << "a refusal costs nothing";
    EXPECT_LE(bucket.take_if_there(kNow + 1s, rate), kNow + 1s);
}

}  // namespace token_bucket_test
}  // namespace proxy
