#include "proxy/http/escape.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace escape_test {

TEST(EscapedByte, IsTheByteOfTwoHexadecimalDigits) {  // RFC 3986 §2.1
    EXPECT_EQ(escaped_byte("%41"), 'A');
    EXPECT_EQ(escaped_byte("%7eb"), '~');
    EXPECT_EQ(escaped_byte("%FF"), '\xff');
    EXPECT_EQ(escaped_byte("%00"), '\0');
    for (const auto* text : {"", "%", "%4", "%4g", "%g4", "%-1", "%+1", "% 1", "41%", "A%41"})
        EXPECT_EQ(escaped_byte(text), std::nullopt) << text;
}

}  // namespace escape_test
}  // namespace proxy
