#include "measure/origin/origin_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/http/field_list.hpp"
#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace origin_request_test {

using testing::HasSubstr;
using testing::Not;

/// The answer's head, and how many body bytes follow it.
struct Answer {
    std::string head;
    std::uint64_t begin = 0, end = 0;
    bool body = false;
    std::chrono::milliseconds delay{0};

    std::string status() const { return head.substr(9, 3); }
    std::string field(const std::string& name) const { return Seen{0, 0, head}.field(name); }
};

Answer answer(const std::string& lines, const std::string& start = "GET /x HTTP/1.1",
              bool keep_alive = true) {
    const std::string text = start + "\r\nHost: a.example\r\n" + lines + "\r\n";
    proxy::Head head;
    proxy::RequestParser parser(head, {});
    EXPECT_EQ(parser.parse_head(text), proxy::ParseError::ok) << text;
    proxy::CacheKey key;
    OriginAnswer out;
    const proxy::WallTime now{std::chrono::seconds{1'700'000'000}};
    answer_origin_request(head, keep_alive, now, key, out);
    return {out.head, out.begin, out.end, out.body.has_value(), out.delay};
}

TEST(OriginPermit, AnswersAnythingWithOneKibibyteForADay) {
    const auto a = answer("");
    EXPECT_EQ(a.status(), "200");
    EXPECT_EQ(a.end - a.begin, 1024u);
    EXPECT_TRUE(a.body);
    EXPECT_EQ(a.field("Content-Length"), "1024");
    EXPECT_EQ(a.field("Cache-Control"), "max-age=86400");
    EXPECT_EQ(a.field("Date"), "Tue, 14 Nov 2023 22:13:20 GMT");
    EXPECT_NE(a.field("ETag"), "");
    EXPECT_NE(a.field("Last-Modified"), "");
    EXPECT_THAT(a.head, testing::EndsWith("\r\n\r\n"));
}

TEST(OriginPermit, ObeysItsFields) {
    const auto a = answer("Hearsay-Bytes: 5000\r\nhearsay-max-age: 7\r\nHEARSAY-DELAY: 250\r\n");
    EXPECT_EQ(a.field("Content-Length"), "5000");
    EXPECT_EQ(a.field("Cache-Control"), "max-age=7");
    EXPECT_EQ(a.delay, std::chrono::milliseconds(250));
    EXPECT_EQ(answer("Hearsay-Bytes: 0\r\n").field("Content-Length"), "0");
}

TEST(OriginPermit, RefusesWhatItCannotObey) {
    for (const auto* line :
         {"Hearsay-Bytes: many\r\n", "Hearsay-Bytes: -1\r\n", "Hearsay-Bytes: \r\n",
          "Hearsay-Bytes: 1099511627777\r\n", "Hearsay-Bytes: 99999999999999999999999\r\n",
          "Hearsay-Max-Age: 2147483648\r\n", "Hearsay-Delay: 600001\r\n",
          "Hearsay-Delay: 1.5\r\n"}) {
        const auto a = answer(line);
        EXPECT_EQ(a.status(), "400") << line;
        EXPECT_THAT(a.head, HasSubstr(std::string(line, std::string(line).find(':'))));
        EXPECT_THAT(a.head, HasSubstr("no-store"));
    }
}

TEST(OriginPermit, GivesValidatorsThatDependOnUrlAndSize) {
    EXPECT_EQ(answer("").field("ETag"), answer("").field("ETag"));
    EXPECT_EQ(answer("").field("ETag"),
              answer("", "GET http://A.example/x HTTP/1.1").field("ETag"));
    EXPECT_NE(answer("").field("ETag"), answer("", "GET /y HTTP/1.1").field("ETag"));
    EXPECT_NE(answer("").field("ETag"), answer("Hearsay-Bytes: 9\r\n").field("ETag"));
}

TEST(OriginPermit, ConfirmsACopyThatIsStillGood) {  // RFC 9110 §13.2.2
    const auto tag = answer("").field("ETag"), modified = answer("").field("Last-Modified");
    for (const auto& condition :
         {"If-None-Match: " + tag, std::string("If-None-Match: *"),
          "If-None-Match: \"other\", W/" + tag, "If-Modified-Since: " + modified}) {
        const auto a = answer(condition + "\r\n");
        EXPECT_EQ(a.status(), "304") << condition;
        EXPECT_FALSE(a.body);
        EXPECT_EQ(a.field("ETag"), tag);
        EXPECT_EQ(a.field("Cache-Control"), "max-age=86400");
        EXPECT_EQ(a.field("Content-Length"), "");
    }
}

TEST(OriginPermit, SendsACopyThatIsNotTheSame) {
    const auto modified = answer("").field("Last-Modified");
    EXPECT_EQ(answer("If-None-Match: \"other\"\r\n").status(), "200");
    EXPECT_EQ(answer("If-Modified-Since: Sun, 01 Jan 2023 00:00:00 GMT\r\n").status(), "200");
    // If-None-Match decides alone.
    EXPECT_EQ(
        answer("If-None-Match: \"other\"\r\nIf-Modified-Since: " + modified + "\r\n").status(),
        "200");
}

TEST(OriginPermit, SendsOnePart) {  // RFC 9110 §14.1.2
    const auto check = [](const char* range, std::uint64_t begin, std::uint64_t end) {
        const auto a = answer("Range: " + std::string(range) + "\r\n");
        EXPECT_EQ(a.status(), "206") << range;
        EXPECT_EQ(a.begin, begin) << range;
        EXPECT_EQ(a.end, end) << range;
        EXPECT_EQ(a.field("Content-Length"), std::to_string(end - begin)) << range;
        EXPECT_EQ(a.field("Content-Range"),
                  "bytes " + std::to_string(begin) + '-' + std::to_string(end - 1) + "/1024")
            << range;
    };
    check("bytes=0-0", 0, 1);
    check("bytes=10-19", 10, 20);
    check("bytes=1000-", 1000, 1024);
    check("bytes=1000-5000", 1000, 1024);
    check("bytes=-24", 1000, 1024);
    check("bytes=-5000", 0, 1024);
    check("Bytes=0-", 0, 1024);
}

TEST(OriginPermit, SaysWhenAPartDoesNotExist) {
    for (const auto* range : {"bytes=1024-", "bytes=5000-6000", "bytes=-0"}) {
        const auto a = answer("Range: " + std::string(range) + "\r\n");
        EXPECT_EQ(a.status(), "416") << range;
        EXPECT_EQ(a.field("Content-Range"), "bytes */1024");
        EXPECT_EQ(a.field("Content-Length"), "0");
        EXPECT_EQ(a.end, a.begin);
    }
    EXPECT_EQ(answer("Hearsay-Bytes: 0\r\nRange: bytes=0-\r\n").status(), "416");
    EXPECT_EQ(answer("Hearsay-Bytes: 0\r\nRange: bytes=-5\r\n").status(), "200");
}

TEST(OriginPermit, SendsTheWholeWhereAPartIsNotUnderstood) {  // RFC 9110 §14.2
    for (const auto* range :
         {"bytes=0-1,5-6", "bytes=5-4", "bytes=x-", "bytes", "lines=1-2", "bytes=--1"}) {
        EXPECT_EQ(answer("Range: " + std::string(range) + "\r\n").status(), "200") << range;
    }
    EXPECT_EQ(answer("Range: bytes=0-1\r\n", "HEAD /x HTTP/1.1").status(), "200");
}

TEST(OriginPermit, SendsAPartOnlyOfWhatTheClientHas) {  // RFC 9110 §13.1.5
    const auto tag = answer("").field("ETag"), modified = answer("").field("Last-Modified");
    const std::string range = "Range: bytes=0-9\r\n";
    EXPECT_EQ(answer(range + "If-Range: " + tag + "\r\n").status(), "206");
    EXPECT_EQ(answer(range + "If-Range: " + modified + "\r\n").status(), "206");
    EXPECT_EQ(answer(range + "If-Range: \"other\"\r\n").status(), "200");
    EXPECT_EQ(answer(range + "If-Range: W/" + tag + "\r\n").status(), "200");
}

TEST(OriginPermit, AnswersHeadLikeGetWithoutItsBody) {
    const auto get = answer("Hearsay-Bytes: 77\r\n");
    const auto head = answer("Hearsay-Bytes: 77\r\n", "HEAD /x HTTP/1.1");
    EXPECT_EQ(head.head, get.head);
    EXPECT_FALSE(head.body);
}

TEST(OriginPermit, LetsNobodyStoreAnswersToOtherMethods) {
    const auto a = answer("Content-Length: 0\r\n", "POST /x HTTP/1.1");
    EXPECT_EQ(a.status(), "200");
    EXPECT_EQ(a.field("Cache-Control"), "no-store");
    EXPECT_TRUE(a.body);
    EXPECT_EQ(answer("", "TRACE /x HTTP/1.1").status(), "405");
    EXPECT_EQ(answer("", "CONNECT a:443 HTTP/1.1").status(), "405");
    EXPECT_NE(answer("", "TRACE /x HTTP/1.1").field("Allow"), "");
}

TEST(OriginPermit, SaysWhenTheConnectionEnds) {
    EXPECT_EQ(answer("").field("Connection"), "");
    EXPECT_EQ(answer("", "GET /x HTTP/1.1", false).field("Connection"), "close");
}

TEST(OriginPermit, RefusesTargetsThatNameNothing) {
    EXPECT_EQ(answer("", "GET ftp://a/ HTTP/1.1").status(), "400");
    EXPECT_EQ(answer("", "GET http://u@a/ HTTP/1.1").status(), "400");
}

}  // namespace origin_request_test
}  // namespace measure
