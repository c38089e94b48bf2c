#include "base/text/base64.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace base {
namespace {

TEST(Base64, HasTheTextsOfTheStandard) {  // RFC 4648 §10
    const std::pair<std::string, std::string> pairs[] = {
        {"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : pairs) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
    EXPECT_EQ(to_base64(""), "");
}

TEST(Base64, RefusesAnythingElse) {
    for (const auto* text :
         {"", "Zg", "Zg=", "Z===", "Zm9v Zm9v", "Zm9v\n", "Zm-_", "=Zm9", "Zg==Zg=="})
        EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace base
