#include "proxy/http/field_list.hpp"

#include "tests/proxy/http/head.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace field_list_test {

using test::Head;
using testing::ElementsAre;
using testing::IsEmpty;
using http_field = boost::beast::http::field;

std::vector<std::string> members(std::string_view value) {
    std::vector<std::string> found;
    ListMembers list(value);
    while (const auto member = list.next()) found.emplace_back(*member);
    return found;
}

std::vector<std::string> members(const Head& head, http_field id) {
    std::vector<std::string> found;
    FieldMembers list(head, id);
    while (const auto member = list.next()) found.emplace_back(*member);
    return found;
}

TEST(HasControl, SeesOneOctetAnywhere) {
    for (const unsigned char limit : {0x20, 0x21})
        for (const char around : {'a', '\x21', '\x7e', '\x80', '\xff'})
            for (std::size_t size = 1; size <= 18; ++size)
                for (std::size_t at = 0; at < size; ++at)
                    for (unsigned octet = 0; octet < 256; ++octet) {
                        std::string text(size, around);
                        text[at] = static_cast<char>(octet);
                        ASSERT_EQ(has_control(text, limit), octet < limit || octet == 0x7f)
                            << size << " octets, " << octet << " at " << at;
                    }
    EXPECT_FALSE(has_control(""));
}

TEST(ListMembers, AreSeparatedByCommasAndTrimmed) {  // RFC 9110 §5.6.1
    EXPECT_THAT(members("a, b\t ,c"), ElementsAre("a", "b", "c"));
}

TEST(ListMembers, SkipEmptyOnes) {  // RFC 9110 §5.6.1.2
    EXPECT_THAT(members(", ,a,,b , "), ElementsAre("a", "b"));
    EXPECT_THAT(members(""), IsEmpty());
    EXPECT_THAT(members(" ,\t, "), IsEmpty());
}

TEST(ListMembers, KeepCommasInsideQuotedStrings) {
    EXPECT_THAT(members(R"(a="x, y", b)"), ElementsAre(R"(a="x, y")", "b"));
    EXPECT_THAT(members(R"(a="x\", y", b)"), ElementsAre(R"(a="x\", y")", "b"));
}

TEST(ListMembers, LoseNothingBehindAQuoteThatNeverEnds) {
    EXPECT_THAT(members(R"(a="x, b, c)"), ElementsAre(R"(a="x)", "b", "c"));
    EXPECT_THAT(members(R"("a, b" c, "d\", e, f)"),
                ElementsAre(R"("a, b" c)", R"("d\")", "e", "f"));
    EXPECT_THAT(members(R"(a, "b\" "c\"d, e\")"), ElementsAre("a", R"("b\" "c\"d)", R"(e\")"));
    EXPECT_THAT(members("\"\\"), ElementsAre("\"\\"));
}

TEST(FieldMembers, ReadSeveralLinesAsOneList) {  // RFC 9110 §5.3
    const Head head("Vary: a, b\nServer: x, y\nvary:\nVARY: c");
    EXPECT_THAT(members(head, http_field::vary), ElementsAre("a", "b", "c"));
    EXPECT_THAT(members(head, http_field::age), IsEmpty());
}

TEST(FieldMembers, DoNotJoinAQuoteOverLines) {
    const Head head("Vary: \"a, b\nVary: c");
    EXPECT_THAT(members(head, http_field::vary), ElementsAre("\"a", "b", "c"));
}

TEST(Tokens, AreVisibleCharactersWithoutSeparators) {  // RFC 9110 §5.6.2
    EXPECT_TRUE(is_token("x-Foo_1!#$%&'*+.^`|~"));
    for (const char* text : {"", "a b", "a:b", "a,b", "a\"", "(a)", "a/b", "\x7f", "\xe4"}) {
        EXPECT_FALSE(is_token(text)) << text;
    }
}

TEST(FieldNames, CompareWithoutLetterCase) {
    EXPECT_TRUE(iequals("Cache-Control", "cACHE-cONTROL"));
    EXPECT_FALSE(iequals("Cache-Control", "Cache-Contro"));
    EXPECT_FALSE(iequals("[", "{"));  // differ by the same bit as letters of both cases
    EXPECT_FALSE(iequals("\xc4", "\xe4"));
}

TEST(FieldNames, FindTheFirstLine) {
    const Head head("X-A: 1\nAge: 2\nx-a: 3\nAge: 4");
    EXPECT_EQ(find(head, http_field::age)->value, "2");
    EXPECT_EQ(find(head, "X-a")->value, "1");
    EXPECT_EQ(find(head, "X-b"), nullptr);
    EXPECT_EQ(find(head, http_field::vary), nullptr);
}

TEST(FieldNames, AreTheSameByIdOrByText) {
    const Head head("X-A: 1\nx-a: 3\nX-B: 1\nage: 1\nAge: 2");
    const Fields f = head;
    EXPECT_TRUE(same_name(f[0], f[1]));
    EXPECT_FALSE(same_name(f[0], f[2]));
    EXPECT_TRUE(same_name(f[3], f[4]));
    EXPECT_FALSE(same_name(f[0], f[4]));
}

TEST(OnlyValue, IsNoneForContradictoryLinesInAnyOrder) {
    const auto only = [](std::string_view lines) {
        const Head head(lines);
        return std::string(only_value(head, boost::beast::http::field::etag));
    };
    EXPECT_EQ(only("ETag: a"), "a");
    EXPECT_EQ(only("ETag: a\nETag: a"), "a");
    EXPECT_EQ(only("ETag: a\nETag: b"), "");
    EXPECT_EQ(only("ETag: a\nETag:"), "");
    EXPECT_EQ(only("ETag:\nETag: a"), "");
    EXPECT_EQ(only("X: a"), "");
}

}  // namespace field_list_test
}  // namespace proxy
