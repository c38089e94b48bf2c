#include "proxy/rewrite/tag_mark.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace tag_mark_test {

constexpr auto kMark = "0123abcd";

TEST(TagMark, StandsAtTheEndOfTheTag) {
    EXPECT_EQ(marked_tag("\"a\"", kMark, false), "\"a-r0123abcd\"");
    EXPECT_EQ(marked_tag("W/\"a\"", kMark, false), "W/\"a-r0123abcd\"");
    EXPECT_EQ(marked_tag("a", kMark, false), "a-r0123abcd") << "no quotes, as the origin has it";
    EXPECT_EQ(marked_tag("\"\"", kMark, false), "\"-r0123abcd\"");
}

TEST(TagMark, WeakensTheTagOfABodyWithANewCoding) {
    EXPECT_EQ(marked_tag("\"a\"", kMark, true), "W/\"a-w0123abcd\"");
    EXPECT_EQ(marked_tag("W/\"a\"", kMark, true), "W/\"a-r0123abcd\"");
}

TEST(TagMark, LeavesTheOriginItsOwnTag) {
    for (const auto* tag : {"\"a\"", "W/\"a\"", "\"\"", "a", "\"a-r0123abce\"", "\"x,y\""})
        for (const auto recoded : {false, true})
            EXPECT_EQ(tags_for_origin(marked_tag(tag, kMark, recoded), kMark), tag);
    EXPECT_EQ(tags_for_origin("W/\"a-w0123abcd\", \"b\", \"c-r0123abcd\", W/\"d\"", kMark),
              "\"a\", \"b\", \"c\", W/\"d\"");
    EXPECT_EQ(tags_for_origin("\"a-r0123abcd-gzip\"", kMark), "\"a-r0123abcd-gzip\"");
    EXPECT_EQ(tags_for_origin("*", kMark), "*");
}

TEST(TagMark, ComesBackInA304OnlyIfItWasSent) {
    EXPECT_EQ(tag_of_304("\"a\"", "\"b\", \"a-r0123abcd\"", kMark), "\"a-r0123abcd\"");
    EXPECT_EQ(tag_of_304("\"a\"", "W/\"a-w0123abcd\"", kMark), "W/\"a-w0123abcd\"");
    EXPECT_EQ(tag_of_304("W/\"a\"", "W/\"a-w0123abcd\"", kMark), "W/\"a-w0123abcd\"");
    EXPECT_EQ(tag_of_304("\"a\"", "\"a\"", kMark), "\"a\"") << "a body that was not rewritten";
}

TEST(TagMark, IsSeen) {
    EXPECT_TRUE(has_mark("\"a-r0123abcd\"", kMark));
    EXPECT_TRUE(has_mark("W/\"a-w0123abcd\"", kMark));
    EXPECT_FALSE(has_mark("\"a-x0123abcd\"", kMark));
    EXPECT_FALSE(has_mark("\"a\"", kMark));
    EXPECT_FALSE(has_mark("", kMark));
}

}  // namespace tag_mark_test
}  // namespace proxy
