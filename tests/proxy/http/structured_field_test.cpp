#include "proxy/http/structured_field.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace structured_field_test {

using test::Head;

std::string text_of(const SfValue& value) {
    switch (value.type) {
        case SfType::boolean:
            return value.number != 0 ? "true" : "false";
        case SfType::integer:
            return std::to_string(value.number);
        case SfType::decimal:
            return std::to_string(value.number) + "/1000";
        case SfType::date:
            return "@" + std::to_string(value.number);
        case SfType::string:
            return "string " + std::string(value.text);
        case SfType::token:
            return "token " + std::string(value.text);
        case SfType::bytes:
            return "bytes " + std::string(value.text);
        case SfType::inner_list:
            return "list " + std::string(value.text);
    }
    return "?";
}

std::string text_of(const SfMember& member) {
    std::string text(member.key);
    if (!text.empty()) text.append("=");
    text.append(text_of(member.value));
    SfParameters parameters(member);
    while (const auto parameter = parameters.next()) {
        text.append(";").append(parameter->key).append("=").append(text_of(parameter->value));
    }
    return text;
}

std::string text_of(const std::optional<SfMembers>& members) {
    if (!members) return "malformed";
    std::string text;
    for (const auto& member : *members) {
        text.append(text.empty() ? "" : " | ").append(text_of(member));
    }
    return text;
}

/// The only item of a list.
std::string item(std::string_view value) {
    const Head head("L: " + std::string(value));
    const auto members = sf_list(head, "L");
    const auto is_item =
        members && members->size() == 1 && members->front().value.type != SfType::inner_list;
    return is_item ? text_of(members->front()) : "malformed";
}
std::string list(const std::string& lines) {
    return text_of(sf_list(Head(lines), "L"));
}
std::string dictionary(const std::string& lines) {
    return text_of(sf_dictionary(Head(lines), "d"));
}

TEST(StructuredItem, HasOneOfSevenTypes) {  // RFC 9651 §3.3
    EXPECT_EQ(item("42"), "42");
    EXPECT_EQ(item("-0"), "0");
    EXPECT_EQ(item("-999999999999999"), "-999999999999999");
    EXPECT_EQ(item("007"), "7");
    EXPECT_EQ(item("1.5"), "1500/1000");
    EXPECT_EQ(item("-0.125"), "-125/1000");
    EXPECT_EQ(item("999999999999.999"), "999999999999999/1000");
    EXPECT_EQ(item("\"a \\\"b\\\" \\\\\""), "string a \\\"b\\\" \\\\");
    EXPECT_EQ(item("\"\""), "string ");
    EXPECT_EQ(item("*a/b:c!#$%&'*+-.^_`|~"), "token *a/b:c!#$%&'*+-.^_`|~");
    EXPECT_EQ(item("?1"), "true");
    EXPECT_EQ(item("?0"), "false");
    EXPECT_EQ(item(":aGVhcnNheQ==:"), "bytes aGVhcnNheQ==");
    EXPECT_EQ(item(":aGVhcnNheQ:"), "bytes aGVhcnNheQ");
    EXPECT_EQ(item("::"), "bytes ");
    EXPECT_EQ(item("@1659578233"), "@1659578233");
    EXPECT_EQ(item("@-5"), "@-5");
    EXPECT_EQ(item("  1  "), "1");
}

TEST(StructuredItem, CarriesParameters) {  // RFC 9651 §3.1.2
    EXPECT_EQ(item("a;b;c=1; d=\"x;y\";*e=?0"), "token a;b=true;c=1;d=string x;y;*e=false");
    EXPECT_EQ(item("a;b=1;b=2"), "token a;b=1;b=2");
}

TEST(StructuredItem, IsNothingWithOneBadByte) {
    for (const char* value : {"",         " ",
                              "-",        "--1",
                              "+1",       "1234567890123456",
                              "1.",       ".5",
                              "1.2345",   "1234567890123.1",
                              "1e3",      "0x10",
                              "-a",       "\"",
                              "\"a",      "\"\\a\"",
                              "\"\\\"",   "\"\xe4\"",
                              "\"a\tb\"", "'a'",
                              "?",        "?2",
                              "?true",    "? 1",
                              ":",        ":a",
                              ":a:",      ":ab=:",
                              ":abc==:",  ":a=b=:",
                              ":a-b_:",   ":YQ===:",
                              "@",        "@1.5",
                              "@a",       "%\"a\"",
                              "a b",      "1 2",
                              "1,2",      "(1)",
                              "a;",       "a;B",
                              "a;1",      "a;b=",
                              "a ;b",     "a;b =1",
                              "a;b= 1",   "a;\tb",
                              "a;b=(1)",  "a=1",
                              "\xc3\xa4", "{}",
                              "=",        ";a"}) {
        EXPECT_EQ(item(value), "malformed") << value;
    }
}

TEST(StructuredList, JoinsItsLines) {  // RFC 9651 §3.1, §4.2
    EXPECT_EQ(list("L: a, \"b,c\" ,\t1;x"), "token a | string b,c | 1;x=true");
    EXPECT_EQ(list("L: a\nX: 9\nl: b,c"), "token a | token b | token c");
    EXPECT_EQ(list("L:"), "");
    EXPECT_EQ(list("X: a"), "malformed");
}

TEST(StructuredList, HoldsInnerLists) {  // RFC 9651 §3.1.1
    EXPECT_EQ(list("L: (\"a)\" b;c=1);d, ( 1  2 ), ()"),
              "list \"a)\" b;c=1;d=true | list  1  2  | list ");
    for (const char* value :
         {"(", ")", "(1", "(1,2)", "(1\t2)", "((1))", "(1\"a\")", "(1)2", "(1) ;a"}) {
        EXPECT_EQ(list(std::string("L: ") + value), "malformed") << value;
    }
}

TEST(StructuredList, IsNothingWithACommaTooMany) {
    for (const char* lines : {"L: a,", "L: ,a", "L: a,,b", "L: a b", "L: a\nL: b,",
                              "L: a\nL:", "L:\nL: a", "L:\nL:", "L: \"a\nL: b\""}) {
        EXPECT_EQ(list(lines), "malformed") << lines;
    }
}

TEST(StructuredDictionary, GivesKeysTheirValues) {  // RFC 9651 §3.2
    EXPECT_EQ(dictionary("D: a=1, b;x=2 ,c=(1 2);y, *d-e_f.g=?0"),
              "a=1 | b=true;x=2 | c=list 1 2;y=true | *d-e_f.g=false");
    EXPECT_EQ(dictionary("D: a=1\nD: b"), "a=1 | b=true");
    EXPECT_EQ(dictionary("D:"), "");
}

TEST(StructuredDictionary, LetsTheLastOfEqualKeysCount) {  // RFC 9651 §4.2.2, behaviour 25
    const Head head("D: a=1, b=2\nD: a=3");
    const auto members = sf_dictionary(head, "D");
    ASSERT_TRUE(members);
    EXPECT_EQ(find(*members, "a")->value.number, 3);
    EXPECT_EQ(find(*members, "b")->value.number, 2);
    EXPECT_EQ(find(*members, "c"), nullptr);
}

TEST(StructuredDictionary, IsNothingWithOneBadMember) {
    for (const char* value : {"A=1", "1=a", "a=", "a =1", "a= 1", "a=1 b=2", "a=1;", "a=1,", ",a=1",
                              "a==1", "\"a\"=1", "a='1'", "a=1.", "a=b c", "-a", "a=1;B=2"}) {
        EXPECT_EQ(dictionary(std::string("D: ") + value), "malformed") << value;
        EXPECT_EQ(dictionary(std::string("D: x=1\nD: ") + value), "malformed") << value;
    }
}

TEST(StructuredDictionary, IsNothingWithTooManyMembers) {
    std::string line = "D: a";
    for (std::size_t i = 1; i < kMaxSfMembers; ++i) line.append(",a");
    EXPECT_NE(dictionary(line), "malformed");
    EXPECT_EQ(dictionary(line + "\nD: a"), "malformed");
}

}  // namespace structured_field_test
}  // namespace proxy
