#include "proxy/http/request_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace request_line_test {

void expect_shown(std::string_view bytes, std::string_view method, std::string_view target) {
    const auto shown = shown_request_line(bytes);
    EXPECT_EQ(shown.method, method) << bytes;
    EXPECT_EQ(shown.target, target) << bytes;
}

TEST(ShownRequestLine, IsTakenApart) {
    expect_shown("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/a?b");
    expect_shown("\r\n\r\nGET /a HTTP/2.0\r\n", "GET", "/a");
    expect_shown("GET /a b HTTP/1.1\r\n", "GET", "/a b");
    expect_shown("GET  HTTP/1.1\r\n", "GET", "");
    expect_shown("GET HTTP/1.1\r\n", "GET", "");
    expect_shown("GET /a HTTP/1.1\nHost: a", "GET", "/a");
}

TEST(ShownRequestLine, IsShownAsFarAsItCame) {
    expect_shown("", "", "");
    expect_shown("\r\n", "", "");
    expect_shown("GE", "GE", "");
    expect_shown("GET ", "GET", "");
    expect_shown("GET /ab", "GET", "/ab");
}

TEST(ShownRequestLine, IsNoMethodWhereItBeginsWithNone) {
    expect_shown(std::string_view("\x16\x03\x01\0 \x01", 6), "",
                 std::string_view("\x16\x03\x01\0 \x01", 6));
    expect_shown(" /a HTTP/1.1\r\n", "", " /a HTTP/1.1");
    expect_shown("G(T /a HTTP/1.1\r\n", "", "G(T /a HTTP/1.1");
}

TEST(ShownRequestLine, HasABound) {
    const std::string longer(3 * kShownRequestLine, 'x');
    EXPECT_EQ(shown_request_line("GET /" + longer).target.size(), kShownRequestLine - 3);
    const auto one_word = shown_request_line(longer);
    EXPECT_EQ(one_word.method, "");
    EXPECT_EQ(one_word.target.size(), kShownRequestLine);
}

TEST(ShownRequestLine, LeavesAPasswordOut) {
    std::string scratch;
    EXPECT_EQ(without_userinfo("http://u:pw@a.test/x@y", scratch), "http://a.test/x@y");
    EXPECT_EQ(without_userinfo("u:pw@a.test:443", scratch), "a.test:443");
    EXPECT_EQ(without_userinfo("http://u@v@a.test?q", scratch), "http://a.test?q");
    for (const auto* unchanged : {"/x@y", "http://a.test/x@y", "http://a.test?x@y", "*", ""})
        EXPECT_EQ(without_userinfo(unchanged, scratch), unchanged);
}

}  // namespace request_line_test
}  // namespace proxy
