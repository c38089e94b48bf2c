#include "measure/report/wrapped.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace wrapped_test {

TEST(Wrapped, BreaksLinesBetweenWords) {
    EXPECT_EQ(wrapped("one two three", 0, 9), "one two\nthree\n");
    EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
    EXPECT_EQ(wrapped("a wordthatislong b", 0, 8), "a\nwordthatislong\nb\n");
}

TEST(Wrapped, KeepsLinesApart) {
    EXPECT_EQ(wrapped("one\ntwo three\n", 1), " one\n two three\n");
    EXPECT_EQ(wrapped(""), "");
}

}  // namespace wrapped_test
}  // namespace measure
