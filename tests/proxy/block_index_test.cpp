#include "proxy/cache/block_index.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using boost::beast::http::field;

Head head(unsigned status, std::string_view length) {
    Head result;
    result.status = status;
    if (!length.empty()) result.fields.push_back({field::content_length, "Content-Length", length});
    return result;
}

TEST(HeadAlone, IsA304WithTheLengthOfTheWhole) {
    EXPECT_EQ(length_of_head_alone(head(304, "20000")), 20'000u);
    EXPECT_FALSE(length_of_head_alone(head(304, "")));
    EXPECT_FALSE(length_of_head_alone(head(200, "20000")));
    EXPECT_FALSE(length_of_head_alone(head(204, "20000")));
}

TEST(HeadAlone, HasALengthThatCanBeRead) {
    for (const auto* bad : {"-1", "1 2", "1,1", "0x10", "99999999999999999999", "ten"})
        EXPECT_FALSE(length_of_head_alone(head(304, bad))) << bad;
}

TEST(Part, IsWantedAsFarAsTheBodyReaches) {
    const auto bounded = parse_range("bytes=100-199");
    EXPECT_TRUE(is_wanted(bounded, *parse_content_range("bytes 100-199/1000")));
    EXPECT_TRUE(is_wanted(bounded, *parse_content_range("bytes 100-149/150")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes 100-149/1000")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes 101-199/1000")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes */1000")));
    const auto open = parse_range("bytes=100-");
    EXPECT_TRUE(is_wanted(open, *parse_content_range("bytes 100-999/1000")));
    EXPECT_FALSE(is_wanted(open, *parse_content_range("bytes 100-998/1000")));
}

}  // namespace
}  // namespace proxy
