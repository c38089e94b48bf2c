#include "proxy/http/field_block.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace field_block_test {

using boost::beast::http::field;

std::vector<std::string> lines(FieldBlock block) {
    std::vector<std::string> result;
    for (const auto& line : block)
        result.push_back(std::string(line.name) + "=" + std::string(line.value));
    std::vector<std::string> same;
    block.each([&](std::string_view name, std::string_view value) {
        same.push_back(std::string(name) + "=" + std::string(value));
    });
    EXPECT_EQ(same, result);
    return result;
}

TEST(FieldBlock, YieldsEachLineInOrderWithDuplicates) {
    EXPECT_EQ(lines("ETag: \"1\"\r\nX-A: 1\r\nX-A: 2\r\nX-Empty: \r\nVia: 1.1 n\r\n"),
              (std::vector<std::string>{"ETag=\"1\"", "X-A=1", "X-A=2", "X-Empty=", "Via=1.1 n"}));
    const auto first = *FieldBlock("etag: \"1\"\r\n").begin();
    EXPECT_EQ(first.id, field::etag);
    EXPECT_EQ(first.name, "etag") << "the spelling as received";
}

TEST(FieldBlock, SkipsLinesThatAreNoFields) {  // bytes of a disk are not trusted
    EXPECT_TRUE(lines("").empty());
    EXPECT_TRUE(lines("nonsense\r\n").empty());
    EXPECT_EQ(lines("nonsense\r\nA: 1\r\nrest"), std::vector<std::string>{"A=1"});
    EXPECT_EQ(lines("A: 1\r\nB:2"), (std::vector<std::string>{"A=1", "B=2"}));
}

}  // namespace field_block_test
}  // namespace proxy
