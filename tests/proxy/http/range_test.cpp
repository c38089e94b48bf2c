#include "proxy/http/range.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace proxy {
namespace range_test {

using namespace std::chrono_literals;
using test::Head;
using Form = RangeRequest::Form;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);
constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

/// The result of `Range: value` for a body of `length` bytes: `first-last`, `whole` or `416`.
std::string answer(std::string_view value, std::uint64_t length) {
    const auto answer = evaluate(parse_range(value), length);
    switch (answer.kind) {
        case RangeAnswer::Kind::whole:
            return "whole";
        case RangeAnswer::Kind::unsatisfiable:
            return "416";
        case RangeAnswer::Kind::part:
            return std::to_string(answer.range.first) + "-" + std::to_string(answer.range.last);
    }
    return "?";
}

/// The same for several ranges.
std::string answers(const std::string& value, std::uint64_t length) {
    const auto parts = evaluate_several(Head(("Range: " + value).c_str()), length);
    if (!parts) return "whole";
    std::string text;
    for (const auto& part : *parts)
        text.append(text.empty() ? "" : ",")
            .append(std::to_string(part.first) + "-" + std::to_string(part.last));
    return text.empty() ? "416" : text;
}

TEST(Range, CutsSeveralRangesOutOfABody) {  // RFC 9110 §14.1.2, §15.3.7.2
    EXPECT_EQ(answers("bytes=0-1,5-9", 10), "0-1,5-9");
    EXPECT_EQ(answers("bytes=5-9, 0-1", 10), "5-9,0-1") << "in the order of the request";
    EXPECT_EQ(answers("bytes=0-1,2-3", 10), "0-1,2-3") << "side by side";
    EXPECT_EQ(answers("bytes=0-1,-2,8-20", 10), "0-1,8-9");
    EXPECT_EQ(answers("bytes=2-4,7-8,4-7", 10), "2-8") << "the last one joins the others";
    EXPECT_EQ(answers("bytes=7-8,0-0,1-7", 10), "1-8,0-0");
    EXPECT_EQ(answers("bytes=0-,0-,0-", 10), "0-9") << "never more than the whole";
    EXPECT_EQ(answers("bytes=0-1,10-", 10), "0-1") << "what is satisfiable";
    EXPECT_EQ(answers("bytes=10-,11-12,-0", 10), "416");
    EXPECT_EQ(answers("bytes=0-1,x", 10), "whole");
    std::string many("bytes=0-0");
    for (std::size_t i = 1; i < kMaxRanges; ++i)
        many.append("," + std::to_string(2 * i) + "-" + std::to_string(2 * i));
    EXPECT_EQ(std::ranges::count(answers(many, 10'000), ','), kMaxRanges - 1);
    EXPECT_EQ(answers(many + ",9999-", 10'000), "whole");
}

TEST(Range, CutsASingleRangeOutOfABody) {  // RFC 9110 §14.1.2, behaviour 14
    EXPECT_EQ(answer("bytes=0-0", 10), "0-0");
    EXPECT_EQ(answer("bytes=2-5", 10), "2-5");
    EXPECT_EQ(answer("bytes=2-", 10), "2-9");
    EXPECT_EQ(answer("bytes=-3", 10), "7-9");
    EXPECT_EQ(answer("bytes=0-9", 10), "0-9");
    EXPECT_EQ(answer("BYTES=000-0001", 10), "0-1");
    EXPECT_EQ(answer("bytes=,1-2 , ", 10), "1-2");
}

TEST(Range, IsCutAtTheEndOfTheBody) {
    EXPECT_EQ(answer("bytes=5-100", 10), "5-9");
    EXPECT_EQ(answer("bytes=-100", 10), "0-9");
    EXPECT_EQ(answer("bytes=9-9", 10), "9-9");
    EXPECT_EQ(answer("bytes=0-99999999999999999999999", 10), "0-9");
    EXPECT_EQ(answer("bytes=-99999999999999999999999", 10), "0-9");
}

TEST(Range, IsUnsatisfiableBeyondTheEnd) {
    EXPECT_EQ(answer("bytes=10-", 10), "416");
    EXPECT_EQ(answer("bytes=10-11", 10), "416");
    EXPECT_EQ(answer("bytes=-0", 10), "416");
    EXPECT_EQ(answer("bytes=99999999999999999999999-", 10), "416");
    EXPECT_EQ(answer("bytes=18446744073709551616-", 10), "416");  // 2^64 is not 0
    EXPECT_EQ(answer("bytes=0-", 0), "416");
    EXPECT_EQ(answer("bytes=-1", 0), "whole");  // satisfiable, and nothing is there
}

TEST(Range, IsIgnoredWhenMalformed) {
    for (const char* value : {"",
                              "bytes",
                              "bytes=",
                              "bytes=,",
                              "bytes=-",
                              "bytes=1",
                              "bytes=a-b",
                              "bytes=1-b",
                              "bytes=2-1",
                              "bytes=+1-2",
                              "bytes=1-2x",
                              "bytes=1--2",
                              "bytes=--1",
                              "bytes=1 -2",
                              "bytes=1- 2",
                              "bytes= 1-2",
                              "bytes =1-2",
                              "bytes:1-2",
                              "bytes=0x1-2",
                              "bytes=1.0-2",
                              "bytes=\"1-2\"",
                              "bytes=1-2;3-4",
                              "bytes=1-2,x",
                              "bytes=1-2,5-3",
                              "octets=1-2",
                              "byte=1-2",
                              "seconds=1-2",
                              "bytes1-2",
                              "1-2"}) {
        EXPECT_EQ(parse_range(value).form, Form::none) << value;
    }
}

TEST(Range, KnowsAListOfRanges) {
    EXPECT_EQ(parse_range("bytes=0-1,3-4").form, Form::several);
    EXPECT_EQ(parse_range("bytes=0-1 ,\t-4,7-").form, Form::several);
    EXPECT_EQ(answer("bytes=0-1,3-4", 10), "whole");
    EXPECT_FALSE(parse_range("bytes=0-1,3-4").single());
}

TEST(Range, IsIgnoredWhenSentTwice) {
    EXPECT_EQ(range_request(Head("Range: bytes=0-1")).form, Form::bounded);
    EXPECT_EQ(range_request(Head("Range: bytes=0-1\nRange: bytes=0-1")).form, Form::none);
    EXPECT_EQ(range_request(Head("Accept: a")).form, Form::none);
}

TEST(ContentRange, SaysWhichBytesOfHowMany) {  // RFC 9110 §14.4
    EXPECT_EQ(parse_content_range("bytes 0-9/100"), (ContentRange{ByteRange{0, 9}, 100}));
    EXPECT_EQ(parse_content_range("Bytes 5-5/*"), (ContentRange{ByteRange{5, 5}, std::nullopt}));
    EXPECT_EQ(parse_content_range("bytes */100"), (ContentRange{std::nullopt, 100}));
    EXPECT_EQ(parse_content_range("bytes */0"), (ContentRange{std::nullopt, 0}));
    EXPECT_EQ(parse_content_range("bytes 9223372036854775806-9223372036854775806/*")->range->last,
              kLargest - 1);
    EXPECT_EQ((ByteRange{3, 7}).size(), 5u);
}

TEST(ContentRange, IsNothingWhenItContradictsItself) {
    for (const char* value : {"",
                              "bytes",
                              "bytes ",
                              "bytes 0-9",
                              "bytes 0-9/",
                              "bytes /9",
                              "bytes 0-9/9",
                              "bytes 9-0/99",
                              "bytes */*",
                              "bytes *",
                              "bytes 0-9/10 ",
                              "bytes  0-9/10",
                              "bytes 0 - 9/10",
                              "bytes 0-/10",
                              "bytes -9/10",
                              "bytes 0-9/-1",
                              "bytes 0-9/+10",
                              "bytes=0-9/10",
                              "octets 0-9/10",
                              "bytes 0-9/10/11",
                              "bytes 0-9223372036854775808/*",
                              "bytes 0-1/18446744073709551618"}) {
        EXPECT_FALSE(parse_content_range(value)) << value;
    }
    EXPECT_FALSE(content_range(Head("Content-Range: bytes 0-1/9\nContent-Range: bytes 2-3/9")));
    EXPECT_FALSE(content_range(Head("Content-Length: 1")));
    EXPECT_TRUE(content_range(Head("Content-Range: bytes 0-1/9")));
}

TEST(ContentRange, IsReadBackAsWritten) {
    for (const char* value : {"bytes 0-9/100", "bytes 5-5/*", "bytes */0"}) {
        std::string written;
        append_content_range(written, *parse_content_range(value));
        EXPECT_EQ(written, value);
    }
}

bool allowed(const std::string& if_range, const std::string& stored) {
    const Head request(("If-Range: " + if_range).c_str()), response(stored.c_str());
    return if_range_allows(request, validators_of(response), kNow);
}

TEST(IfRange, IsTrueWhenAbsent) {
    EXPECT_TRUE(if_range_allows(Head("Range: bytes=0-1"), {}, kNow));
}

TEST(IfRange, ComparesTagsStrongly) {  // RFC 9110 §13.1.5
    EXPECT_TRUE(allowed("\"a\"", "ETag: \"a\""));
    EXPECT_FALSE(allowed("\"a\"", "ETag: \"b\""));
    EXPECT_FALSE(allowed("W/\"a\"", "ETag: W/\"a\""));
    EXPECT_FALSE(allowed("\"a\"", "ETag: W/\"a\""));
    EXPECT_FALSE(allowed("\"a\"", "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT"));
    for (const char* malformed : {"a", "*", "", "\"a\", \"a\"", "w/\"a\""}) {
        EXPECT_FALSE(allowed(malformed, "ETag: \"a\"")) << malformed;
    }
    EXPECT_FALSE(allowed("a", "ETag: a"));
}

TEST(IfRange, TakesADateThatIsAStrongValidator) {  // RFC 9110 §8.8.2.2
    const std::string modified = "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT\n";
    const std::string same = "Tue, 15 Nov 1994 12:45:26 GMT";
    EXPECT_TRUE(allowed(same, modified + "Date: Tue, 15 Nov 1994 12:45:27 GMT"));
    EXPECT_FALSE(allowed(same, modified + "Date: Tue, 15 Nov 1994 12:45:26 GMT"));
    EXPECT_FALSE(allowed(same, modified));
    EXPECT_FALSE(allowed("Tue, 15 Nov 1994 12:45:27 GMT",  // later is not the same
                         modified + "Date: Tue, 15 Nov 1994 12:46:00 GMT"));
    EXPECT_FALSE(allowed("yesterday", modified + "Date: Tue, 15 Nov 1994 12:46:00 GMT"));
}

TEST(IfRange, IsFalseWhenSentTwice) {
    const Head request("If-Range: \"a\"\nIf-Range: \"b\"");
    EXPECT_FALSE(if_range_allows(request, validators_of(Head("ETag: \"a\"")), kNow));
}

}  // namespace range_test
}  // namespace proxy
