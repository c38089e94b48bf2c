#include "proxy/http/glob.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace glob_test {

bool matches(std::string_view pattern, std::string_view text) {
    return Glob(pattern).matches(text);
}

TEST(Glob, AStarStandsForAnyBytes) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*", "/a/b"));
    EXPECT_TRUE(matches("/a/*", "/a/"));
    EXPECT_TRUE(matches("/a/*", "/a/b/c"));
    EXPECT_FALSE(matches("/a/*", "/a"));
    EXPECT_TRUE(matches("*.whl", "/x/y.whl"));
    EXPECT_FALSE(matches("*.whl", "/x/y.whl.asc"));
    EXPECT_TRUE(matches("/*/blobs/*", "/v2/blobs/sha256:1"));
    EXPECT_TRUE(matches("a*b*c", "abbc"));
    EXPECT_TRUE(matches("a**c", "ac"));
    EXPECT_FALSE(matches("a*b*c", "acb"));
}

TEST(Glob, PartsDoNotOverlap) {
    EXPECT_FALSE(matches("ab*ba", "aba"));
    EXPECT_TRUE(matches("ab*ba", "abba"));
    EXPECT_FALSE(matches("*aa*aa", "aaa"));
}

TEST(Glob, OtherBytesStandForThemselves) {
    EXPECT_TRUE(matches("/a?[b].c", "/a?[b].c"));
    EXPECT_FALSE(matches("/a?", "/ab"));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_TRUE(matches("", ""));
    EXPECT_FALSE(matches("/A", "/a"));
}

TEST(Glob, KnowsItsLiteralPart) {
    EXPECT_TRUE(Glob("a.test").is_literal());
    EXPECT_FALSE(Glob("*.test").is_literal());
    EXPECT_EQ(Glob("/pool/*.deb").prefix(), "/pool/");
    EXPECT_EQ(Glob("/pool/*.deb").text(), "/pool/*.deb");
}

}  // namespace glob_test
}  // namespace proxy
