#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/http/field_list.hpp"
#include "proxy/http/http2_head.hpp"

namespace proxy {
namespace http2_head_test {

using boost::beast::http::field;
using boost::beast::http::verb;
using Lines = std::vector<std::pair<std::string, std::string>>;

struct Read {
    Http2Head lines;
    Head head;
    ParseError error = ParseError::ok;

    std::string value(std::string_view name) const {
        std::string all;
        for (const auto& line : head.fields)
            if (line.name == name) all.append(all.empty() ? "" : "|").append(line.value);
        return all;
    }
};

std::unique_ptr<Read> read(const Lines& lines, const HeadLimits& limits = {}) {
    auto result = std::make_unique<Read>();
    for (const auto& [name, value] : lines) result->lines.add(name, value, limits);
    result->error = result->lines.finish(result->head);
    return result;
}

/// A request with these lines behind the usual pseudo-fields.
Lines with(const Lines& more) {
    Lines all{{":method", "GET"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/x"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

ParseError error_of(const Lines& lines) {
    return read(lines)->error;
}

TEST(Http2Head, ARequestHasMethodTargetHostAndFields) {  // RFC 9113 §8.3.1
    const auto got = read(with({{"accept", "text/html"}}));
    ASSERT_EQ(got->error, ParseError::ok);
    EXPECT_EQ(got->head.verb, verb::get);
    EXPECT_EQ(got->head.target, "/x");
    EXPECT_EQ(got->head.version, 20);
    EXPECT_EQ(got->value("Host"), "a.test");
    EXPECT_EQ(got->value("accept"), "text/html");
    EXPECT_EQ(got->lines.scheme(), "https");
}

TEST(Http2Head, HostStandsInForAnAbsentAuthority) {  // RFC 9113 §8.3.1
    const auto got =
        read({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "b.test"}});
    ASSERT_EQ(got->error, ParseError::ok);
    EXPECT_EQ(got->value("Host"), "b.test");
}

TEST(Http2Head, AHostThatContradictsTheAuthorityIsRefused) {  // RFC 9113 §8.3.1
    EXPECT_EQ(error_of(with({{"host", "other.test"}})), ParseError::host_count);
    EXPECT_EQ(error_of(with({{"host", "A.TEST"}})), ParseError::ok);
    EXPECT_EQ(error_of(with({{"host", "a.test:443"}})), ParseError::ok);
    EXPECT_EQ(error_of(with({{"host", "a.test:80"}})), ParseError::host_count);
    EXPECT_EQ(error_of({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}}),
              ParseError::host_count);
    EXPECT_EQ(error_of({{":method", "GET"},
                        {":scheme", "http"},
                        {":path", "/"},
                        {"host", "a.test"},
                        {"host", "b.test"}}),
              ParseError::host_count);
}

TEST(Http2Head, AnAuthorityWithUserInformationIsRefused) {  // RFC 9113 §8.3.1
    EXPECT_EQ(
        error_of(
            {{":method", "GET"}, {":scheme", "http"}, {":authority", "me@a.test"}, {":path", "/"}}),
        ParseError::bad_host);
}

TEST(Http2Head, CrumbsOfCookieAreJoined) {  // RFC 9113 §8.2.3
    const auto got =
        read(with({{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}, {"cookie", "c=3"}}));
    ASSERT_EQ(got->error, ParseError::ok);
    EXPECT_EQ(got->value("cookie"), "a=1; b=2; c=3");
    EXPECT_EQ(got->value("x"), "y");
    EXPECT_EQ(read(with({{"cookie", ""}, {"cookie", "a=1"}, {"cookie", ""}}))->value("cookie"),
              "a=1");
}

TEST(Http2Head, FieldsOfTheConnectionAreRefused) {  // RFC 9113 §8.2.2
    for (const auto* name : {"connection", "proxy-connection", "keep-alive", "transfer-encoding",
                             "upgrade", "http2-settings"})
        EXPECT_EQ(error_of(with({{name, "x"}})), ParseError::bad_field) << name;
    EXPECT_EQ(error_of(with({{"te", "trailers"}})), ParseError::ok);
    EXPECT_EQ(error_of(with({{"te", "gzip"}})), ParseError::bad_field);
}

TEST(Http2Head, BytesThatEndALineOfHttp1AreRefused) {  // RFC 9113 §10.3
    using std::string_literals::operator""s;
    for (const auto& value : {"a\r\nb: c"s, "a\nb"s, "a\rb"s, "a\0b"s, "\x7f"s})
        EXPECT_EQ(error_of(with({{"x", value}})), ParseError::bad_value);
    for (const auto& name : {"x y"s, "x:y"s, "x\r\n"s, "X"s, ""s})
        EXPECT_EQ(error_of(with({{name, "v"}})), ParseError::bad_field) << name;
    for (const auto& path : {"/a b"s, "/a\r\n"s, "/a\tb"s, "/a#b"s, "a"s, ""s, "*"s, "/\0"s})
        EXPECT_EQ(error_of({{":method", "GET"},
                            {":scheme", "http"},
                            {":authority", "a.test"},
                            {":path", path}}),
                  ParseError::bad_target)
            << path;
    for (const auto& method : {"GET /x HTTP/1.1"s, "G\r\n"s})
        EXPECT_EQ(error_of({{":method", method},
                            {":scheme", "http"},
                            {":authority", "a.test"},
                            {":path", "/"}}),
                  ParseError::bad_request_line);
    EXPECT_EQ(error_of({{":method", "GET"},
                        {":scheme", "http"},
                        {":authority", "a.test\r\nx: y"},
                        {":path", "/"}}),
              ParseError::bad_host);
}

TEST(Http2Head, WhiteSpaceAroundAValueIsRefused) {  // RFC 9113 §8.2.1
    EXPECT_EQ(error_of(with({{"x", " a"}})), ParseError::bad_value);
    EXPECT_EQ(error_of(with({{"x", "a\t"}})), ParseError::bad_value);
    EXPECT_EQ(error_of(with({{"x", "a b"}})), ParseError::ok);
}

TEST(Http2Head, PseudoFieldsStandOnceAndFirst) {  // RFC 9113 §8.3
    EXPECT_EQ(error_of(with({{"x", "y"}, {":path", "/z"}})), ParseError::bad_request_line);
    EXPECT_EQ(
        error_of({{":method", "GET"}, {":method", "PUT"}, {":scheme", "http"}, {":path", "/"}}),
        ParseError::bad_request_line);
    EXPECT_EQ(error_of({{":method", "GET"}, {":status", "200"}, {":path", "/"}}),
              ParseError::bad_request_line);
    EXPECT_EQ(error_of({{":method", "GET"}, {":authority", "a"}, {":path", "/"}}),
              ParseError::bad_request_line);  // no scheme
}

TEST(Http2Head, AContentLengthIsOneNumber) {  // RFC 9113 §8.1.1
    EXPECT_EQ(read(with({{"content-length", "12"}}))->lines.length(), 12u);
    EXPECT_EQ(error_of(with({{"content-length", "12"}, {"content-length", "12"}})),
              ParseError::bad_length);
    EXPECT_EQ(error_of(with({{"content-length", "12"}, {"content-length", "13"}})),
              ParseError::bad_length);
    for (const auto* value : {"", "+1", "-1", "1a", "1, 1", "9999999999999999999"})
        EXPECT_EQ(error_of(with({{"content-length", value}})), ParseError::bad_length) << value;
}

TEST(Http2Head, AConnectHasAnAuthorityAlone) {  // RFC 9113 §8.5
    const auto got = read({{":method", "CONNECT"}, {":authority", "a.test:443"}});
    ASSERT_EQ(got->error, ParseError::ok);
    EXPECT_EQ(got->head.target, "a.test:443");
    EXPECT_EQ(error_of({{":method", "CONNECT"}, {":authority", "a.test:443"}, {":path", "/"}}),
              ParseError::bad_request_line);
    EXPECT_EQ(error_of({{":method", "CONNECT"}}), ParseError::bad_request_line);
    EXPECT_EQ(error_of(with({{":protocol", "websocket"}})), ParseError::bad_request_line);
}

TEST(Http2Head, AnExtendedConnectHasAPathAndAProtocol) {  // RFC 8441 §4
    const auto got = read({{":method", "CONNECT"},
                           {":protocol", "websocket"},
                           {":scheme", "https"},
                           {":authority", "a.test"},
                           {":path", "/chat"}});
    ASSERT_EQ(got->error, ParseError::ok);
    EXPECT_EQ(got->head.target, "/chat");
    EXPECT_EQ(got->lines.protocol(), "websocket");
}

TEST(Http2Head, ALargeHeadIsRefusedAndKeepsNoMore) {
    HeadLimits limits;
    limits.head_bytes = 1000;
    limits.lines = 5;
    limits.request_line_bytes = 100;
    EXPECT_EQ(read(with({{"x", std::string(2000, 'x')}}), limits)->error,
              ParseError::head_too_large);
    EXPECT_EQ(read(with({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}, {"e", ""}, {"f", ""}}), limits)
                  ->error,
              ParseError::head_too_large);
    EXPECT_EQ(read({{":method", "GET"},
                    {":scheme", "http"},
                    {":authority", "a.test"},
                    {":path", "/" + std::string(100, 'x')}},
                   limits)
                  ->error,
              ParseError::target_too_long);
    const Lines crumbs(20, {"cookie", "a=1"});
    EXPECT_EQ(read(crumbs, limits)->error, ParseError::bad_request_line);  // not too large
    Http2Head lines;
    for (int i = 0; i < 100'000; ++i) lines.add("x", "y", limits);
    EXPECT_LT(lines.kept_bytes(), 4096u);
}

TEST(Http2Head, AnObjectServesOneRequestAfterTheOther) {
    Http2Head lines;
    Head head;
    lines.add(":method", "G T", {});
    EXPECT_NE(lines.finish(head), ParseError::ok);
    lines.clear();
    for (const auto& [name, value] : with({{"content-length", "3"}})) lines.add(name, value, {});
    EXPECT_EQ(lines.finish(head), ParseError::ok);
    EXPECT_EQ(lines.length(), 3u);
    lines.give_back();
    EXPECT_LT(lines.kept_bytes(), 200u);
}

}  // namespace http2_head_test
}  // namespace proxy
