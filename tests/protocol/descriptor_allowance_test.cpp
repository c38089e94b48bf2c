#include "protocol/links/descriptor_allowance.hpp"

#include <gtest/gtest.h>

#include "summary/coding/bloom_descriptor.hpp"

namespace protocol::test {
namespace descriptor_allowance_test {

using namespace std::chrono_literals;

const DescriptorAllowance::TimePoint kNow{100s};

summary::Descriptor shape(std::uint64_t number) {
    return summary::descriptor_of(summary::Shape{64 * number, 4});
}

TEST(DescriptorAllowance, AGrowingCacheIsLetThrough) {
    DescriptorAllowance allowance;
    for (std::uint64_t i = 1; i <= kDescriptorsAtOnce; ++i)
        EXPECT_TRUE(allowance.take(shape(i), kNow));
    EXPECT_FALSE(allowance.take(shape(1), kNow));
    EXPECT_TRUE(allowance.take(shape(kDescriptorsAtOnce), kNow)) << "the same is no change";
}

TEST(DescriptorAllowance, ThereIsOneMoreEachTwoSeconds) {
    DescriptorAllowance allowance;
    for (std::uint64_t i = 1; i <= kDescriptorsAtOnce; ++i) allowance.take(shape(i), kNow);
    EXPECT_FALSE(allowance.take(shape(1), kNow + 1s));
    EXPECT_TRUE(allowance.take(shape(1), kNow + 2s));
    EXPECT_FALSE(allowance.take(shape(2), kNow + 3s));
    EXPECT_TRUE(allowance.take(shape(2), kNow + 4s));
    EXPECT_TRUE(allowance.take(shape(3), kNow + 8s));
    EXPECT_TRUE(allowance.take(shape(4), kNow + 8s));
    EXPECT_FALSE(allowance.take(shape(5), kNow + 8s));
}

TEST(DescriptorAllowance, NeverExceedsItsFirstAllowance) {
    DescriptorAllowance allowance;
    allowance.take(shape(1), kNow);
    std::uint64_t taken = 0;
    for (; allowance.take(shape(2 + taken), kNow + 1000h); ++taken) continue;
    EXPECT_EQ(taken, kDescriptorsAtOnce);
}

}  // namespace descriptor_allowance_test
}  // namespace protocol::test
