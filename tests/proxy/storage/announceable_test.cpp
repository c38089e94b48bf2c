#include "proxy/storage/announceable.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace announceable_test {

using namespace std::chrono_literals;

constexpr Arrival::Steady kNow{1000s};

StoredMetadata good_for(std::chrono::seconds lifetime) {
    StoredMetadata response;
    response.freshness.lifetime = saturate(lifetime);
    response.arrival.steady = kNow;
    return response;
}

TEST(Announceable, IsAResponseThatStaysFreshForMoreThanTwoSeconds) {
    EXPECT_TRUE(is_announceable(good_for(3s), kNow));
    EXPECT_FALSE(is_announceable(good_for(2s), kNow));
    EXPECT_TRUE(is_announceable(good_for(10s), kNow + 7s));
    EXPECT_FALSE(is_announceable(good_for(10s), kNow + 8s));
}

TEST(Announceable, CountsTheAgeThatItCameWith) {  // RFC 9111 §4.2.3
    auto aged = good_for(10s);
    aged.freshness.initial_age = StoredSeconds(8);
    EXPECT_FALSE(is_announceable(aged, kNow));
}

TEST(Announceable, ExcludesResponsesThatRequireValidation) {  // RFC 9111 §5.2.2.4
    auto validated = good_for(100s);
    validated.freshness.always_validate = true;
    EXPECT_FALSE(is_announceable(validated, kNow));
}

TEST(Announceable, ExcludesResponsesThatNoRequestSelects) {  // RFC 9111 §4.1
    auto never = good_for(100s);
    never.vary_names = kVaryAny;
    EXPECT_FALSE(is_announceable(never, kNow));
}

}  // namespace announceable_test
}  // namespace proxy
