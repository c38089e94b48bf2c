#include "proxy/http/validators.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace validators_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);
constexpr const char* kModified = "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT";

bool not_modified(const std::string& request, const std::string& stored, unsigned status = 200) {
    const Head request_head(request.c_str()), stored_head(stored.c_str());
    return answers_not_modified(request_head, status, validators_of(stored_head), kNow);
}

TEST(EntityTag, IsAQuotedStringWithOrWithoutWeakness) {  // RFC 9110 §8.8.3
    const auto strong = parse_entity_tag(R"("a,b\c")");
    ASSERT_TRUE(strong);
    EXPECT_FALSE(strong->weak);
    EXPECT_EQ(strong->opaque, R"("a,b\c")");
    const auto weak = parse_entity_tag("W/\"\"");
    ASSERT_TRUE(weak);
    EXPECT_TRUE(weak->weak);
    EXPECT_EQ(weak->opaque, "\"\"");
    EXPECT_TRUE(parse_entity_tag("\"\xe4\""));
}

TEST(EntityTag, IsNothingElse) {
    for (const char* text : {"", "a", "\"", "\"a", "a\"", "'a'", "w/\"a\"", "W\"a\"", "W/a", "W/",
                             "\"a b\"", "\"a\"b\"", "\"a\x7f\"", "\"a\"x", "*"}) {
        EXPECT_FALSE(parse_entity_tag(text)) << text;
    }
}

TEST(EntityTag, ComparesWeaklyAndStrongly) {  // RFC 9110 §8.8.3.2
    const auto s1 = *parse_entity_tag("\"1\""), w1 = *parse_entity_tag("W/\"1\""),
               s2 = *parse_entity_tag("\"2\"");
    EXPECT_TRUE(weak_match(s1, s1) && weak_match(s1, w1) && weak_match(w1, w1));
    EXPECT_FALSE(weak_match(s1, s2));
    EXPECT_TRUE(strong_match(s1, s1));
    EXPECT_FALSE(strong_match(s1, w1) || strong_match(w1, w1) || strong_match(s1, s2));
}

TEST(Validators, AreTakenAsReceived) {
    const Head head("ETag: W/\"a\"\nLast-Modified: Tuesday, 15-Nov-94 12:45:26 GMT");
    const auto v = validators_of(head);
    EXPECT_EQ(v.etag, "W/\"a\"");
    EXPECT_EQ(v.last_modified, "Tuesday, 15-Nov-94 12:45:26 GMT");
    EXPECT_TRUE(v.any());
    EXPECT_FALSE(v.strong());
    EXPECT_TRUE(validators_of(Head("ETag: \"a\"")).strong());
}

TEST(Validators, AreAbsentWhenMalformedOrAmbiguous) {
    EXPECT_FALSE(validators_of(Head("Date: x")).any());
    EXPECT_FALSE(validators_of(Head("ETag: *\nLast-Modified: yesterday")).any());
    EXPECT_FALSE(validators_of(Head("ETag: \"a b\"")).any());
    EXPECT_FALSE(validators_of(Head("ETag: \"a\"\nETag: \"b\"")).any());
    EXPECT_TRUE(validators_of(Head("ETag: \"a\"\nETag: \"a\"")).any());
}

TEST(Validation, SendsTagAndDateVerbatim) {  // RFC 9111 §4.3.1, behaviour 33
    std::string out = "Host: a\r\n";
    append_validation(out, {"W/\"x\"", "Tue Nov 15 12:45:26 1994", "ignored"});
    EXPECT_EQ(
        out,
        "Host: a\r\nIf-None-Match: W/\"x\"\r\nIf-Modified-Since: Tue Nov 15 12:45:26 1994\r\n");
    out.clear();
    append_validation(out, {});
    EXPECT_EQ(out, "");
}

TEST(NotModified, ComparesTagsWeakly) {  // RFC 9111 §4.3.2, behaviour 34
    EXPECT_TRUE(not_modified("If-None-Match: \"a\"", "ETag: \"a\""));
    EXPECT_TRUE(not_modified("If-None-Match: W/\"a\"", "ETag: \"a\""));
    EXPECT_TRUE(not_modified("If-None-Match: \"a\"", "ETag: W/\"a\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"a\"", "ETag: \"A\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"a\"", kModified));
}

TEST(NotModified, FindsATagInLists) {  // behaviour 34
    EXPECT_TRUE(not_modified("If-None-Match: \"x\", \"a\" , \"y\"", "ETag: \"a\""));
    EXPECT_TRUE(not_modified("If-None-Match: \"x\",\"y\"\nIf-None-Match: ,W/\"a\"", "ETag: \"a\""));
    EXPECT_TRUE(not_modified(R"(If-None-Match: "x\", "a,b", "z")", R"(ETag: "a,b")"));
    EXPECT_FALSE(not_modified("If-None-Match: \"x, a\", \"ab\"", "ETag: \"a\""));
    EXPECT_FALSE(not_modified("If-None-Match:", "ETag: \"a\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"a", "ETag: \"a\""));
    EXPECT_FALSE(not_modified("If-None-Match: a, W/", "ETag: \"a\""));
}

TEST(NotModified, TakesNoTagWithSomethingBehindItForAMember) {  // RFC 9110 §5.6.1, §13.1.2
    EXPECT_FALSE(not_modified("If-None-Match: \"e\"x", "ETag: \"e\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"e\" x", "ETag: \"e\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"e\"\"f\"", "ETag: \"e\""));
    EXPECT_TRUE(not_modified("If-None-Match: \"e\"\t", "ETag: \"e\""));
    EXPECT_TRUE(not_modified("If-None-Match: \"e\"x, \"e\"", "ETag: \"e\""));
}

TEST(NotModified, TakesTheStarForAnything) {  // RFC 9110 §13.1.2
    EXPECT_TRUE(not_modified("If-None-Match: *", "ETag: \"a\""));
    EXPECT_TRUE(not_modified("If-None-Match: *", "Server: x"));
    EXPECT_FALSE(not_modified("If-None-Match: *, \"b\"", "ETag: \"a\""));
}

TEST(NotModified, MatchesATagWithoutQuotesOnlyByItsText) {
    EXPECT_TRUE(not_modified("If-None-Match: a", "ETag: a"));
    EXPECT_FALSE(not_modified("If-None-Match: \"a\"", "ETag: a"));
}

TEST(NotModified, ComparesDatesInAnyForm) {  // RFC 9110 §13.1.3, behaviour 34
    for (const char* since : {"Tue, 15 Nov 1994 12:45:26 GMT", "Tuesday, 15-Nov-94 12:45:26 GMT",
                              "Tue Nov 15 12:45:26 1994", "Tue, 15 Nov 1994 12:45:27 GMT"}) {
        EXPECT_TRUE(not_modified(std::string("If-Modified-Since: ") + since, kModified)) << since;
    }
    for (const char* since : {"Tue, 15 Nov 1994 12:45:25 GMT", "Tue, 15 Nov 1994", "0", ""}) {
        EXPECT_FALSE(not_modified(std::string("If-Modified-Since: ") + since, kModified)) << since;
    }
}

TEST(NotModified, LetsTheDateStandInForLastModified) {  // RFC 9111 §4.3.2
    EXPECT_TRUE(not_modified("If-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT",
                             "Date: Tue, 15 Nov 1994 12:45:26 GMT"));
    EXPECT_FALSE(not_modified("If-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT",
                              "Date: Tue, 15 Nov 1994 12:45:27 GMT"));
    EXPECT_FALSE(not_modified("If-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT", "Server: x"));
}

TEST(NotModified, HeedsTheTagAlone) {  // RFC 9110 §13.1.3, behaviour 34, in both outcomes
    std::string stored("ETag: \"a\"\n");
    stored.append(kModified);
    EXPECT_FALSE(not_modified(
        "If-None-Match: \"b\"\nIf-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT", stored));
    EXPECT_TRUE(not_modified(
        "If-None-Match: \"a\"\nIf-Modified-Since: Mon, 14 Nov 1994 12:45:26 GMT", stored));
}

TEST(NotModified, IsForUnconditionalSuccessesOnly) {  // RFC 9110 §13.2.1
    EXPECT_FALSE(not_modified("Host: a", "ETag: \"a\""));
    EXPECT_FALSE(not_modified("If-None-Match: \"a\"", "ETag: \"a\"", 404));
    EXPECT_FALSE(not_modified("If-None-Match: *", "ETag: \"a\"", 301));
}

TEST(Conditions, AreRecognised) {
    EXPECT_TRUE(is_conditional(Head("If-None-Match: x")));
    EXPECT_TRUE(is_conditional(Head("Host: a\nif-modified-since: x")));
    EXPECT_FALSE(is_conditional(Head("If-Match: x\nRange: bytes=0-1")));
    const Head head(
        "If-None-Match: a\nIf-Modified-Since: a\nIf-Match: a\nIf-Unmodified-Since: a\n"
        "If-Range: a\nRange: a\nHost: a\nAccept: a");
    int found = 0;
    for (const auto& field : Fields(head)) found += is_condition_or_range(field) ? 1 : 0;
    EXPECT_EQ(found, 6);
}

TEST(NotModifiedResponse, CarriesAllButTheBodysMetadata) {  // RFC 9110 §15.4.5, behaviour 35
    const Head head(
        "ETag: a\nDate: a\nCache-Control: a\nExpires: a\nVary: a\nContent-Location: a\n"
        "X-Foo: a\nLast-Modified: a\nContent-Length: a\nContent-Type: a\n"
        "Content-Encoding: a\nContent-Language: a\nContent-Range: a");
    std::vector<std::string_view> kept;
    for (const auto& field : Fields(head)) {
        if (belongs_in_304(field, true)) kept.push_back(field.name);
    }
    EXPECT_EQ(kept, (std::vector<std::string_view>{"ETag", "Date", "Cache-Control", "Expires",
                                                   "Vary", "Content-Location", "X-Foo"}));
    EXPECT_TRUE(belongs_in_304(Fields(head)[7], false));
}

}  // namespace validators_test
}  // namespace proxy
