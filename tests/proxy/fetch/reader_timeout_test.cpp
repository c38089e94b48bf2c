#include "proxy/fetch/reader_timeout.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace reader_timeout_test {

using namespace std::chrono_literals;

const std::chrono::steady_clock::time_point kNow{100h};

TEST(ReaderlessTime, EndsAFetchThatNobodyHasReadForSoLong) {
    ReaderlessTime solitude;
    Fill::Audience audience{1, 1, 5s};
    EXPECT_FALSE(solitude.too_long(audience, kNow));
    audience.readers = 0;
    EXPECT_FALSE(solitude.too_long(audience, kNow + 100s));
    EXPECT_FALSE(solitude.too_long(audience, kNow + 104s));
    EXPECT_TRUE(solitude.too_long(audience, kNow + 105s));
}

TEST(ReaderlessTime, BeginsAnewWhenSomebodyCameAndWentBetweenTwoLooks) {
    ReaderlessTime solitude;
    Fill::Audience audience{0, 1, 5s};
    EXPECT_FALSE(solitude.too_long(audience, kNow));
    audience.joined = 2;
    EXPECT_FALSE(solitude.too_long(audience, kNow + 5s));
    EXPECT_TRUE(solitude.too_long(audience, kNow + 10s));
}

TEST(ReaderlessTime, IsThatOfAllThatOneFetchBrings) {
    ReaderlessTime solitude;
    const auto audience = [](std::size_t of_index, std::size_t of_block) {
        Fill::Audience all{of_index, 1, 5s};
        return all += {of_block, 2, 60s};
    };
    EXPECT_FALSE(solitude.too_long(audience(0, 1), kNow));
    EXPECT_FALSE(solitude.too_long(audience(0, 0), kNow + 100s));
    EXPECT_FALSE(solitude.too_long(audience(0, 0), kNow + 159s));
    EXPECT_TRUE(solitude.too_long(audience(0, 0), kNow + 160s));
}

}  // namespace reader_timeout_test
}  // namespace proxy
