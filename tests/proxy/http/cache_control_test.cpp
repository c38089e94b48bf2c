#include "proxy/http/cache_control.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace cache_control_test {

using namespace std::chrono_literals;
using test::Head;
using State = DeltaDirective::State;

constexpr auto kAbsent = std::optional<std::chrono::seconds>();

TEST(DeltaSeconds, AreDigitsOnly) {  // RFC 9111 §1.2.2
    EXPECT_EQ(parse_delta_seconds("0"), 0s);
    EXPECT_EQ(parse_delta_seconds("3600"), 3600s);
    EXPECT_EQ(parse_delta_seconds("0003600"), 3600s);
    for (const char* text : {"", "-1", "+1", "1.5", "1 ", " 1", "a", "1a", "a1", "'1'", "0x10"}) {
        EXPECT_EQ(parse_delta_seconds(text), kAbsent) << text;
    }
}

TEST(DeltaSeconds, SaturateInsteadOfWrapping) {  // RFC 9111 §1.2.2
    for (const char* text : {"2147483647", "2147483648", "4294967296", "9223372036854775808",
                             "18446744073709551616", "99999999999999999999999999999999999999"}) {
        EXPECT_EQ(parse_delta_seconds(text), kMaxDelta) << text;
    }
    EXPECT_EQ(parse_delta_seconds("2147483646"), kMaxDelta - 1s);
}

TEST(ResponseDirectives, AreReadWithoutLetterCase) {  // RFC 9111 §5.2
    const auto d = response_directives(
        Head("Cache-Control: No-Store, PRIVATE, Public, mUST-rEVALIDATE, Max-Age=5\n"
             "cache-control: Proxy-Revalidate, S-MaxAge=6, No-Cache, Must-Understand\n"
             "CACHE-CONTROL: Stale-While-Revalidate=7, Stale-If-Error=8, Immutable, No-Transform"));
    EXPECT_TRUE(d.no_store && d.is_private && d.is_public && d.must_revalidate);
    EXPECT_TRUE(d.proxy_revalidate && d.no_cache && d.must_understand);
    EXPECT_TRUE(d.immutable && d.no_transform);
    EXPECT_EQ(d.max_age.value, 5s);
    EXPECT_EQ(d.s_maxage.value, 6s);
    EXPECT_EQ(d.stale.while_revalidate.value, 7s);
    EXPECT_EQ(d.stale.if_error.value, 8s);
}

TEST(ResponseDirectives, AreNothingWithoutTheField) {
    const auto d = response_directives(Head("Pragma: no-cache\nX-Cache-Control: no-store"));
    EXPECT_FALSE(d.no_store || d.no_cache || d.is_private || d.is_public);
    EXPECT_FALSE(d.max_age.present() || d.s_maxage.present());
}

TEST(ResponseDirectives, IgnoreUnknownOnesBesideThem) {  // behaviour 7
    EXPECT_TRUE(
        response_directives(Head("Cache-Control: foo, no-store, bar=\"x\", =, ;")).no_store);
    EXPECT_FALSE(response_directives(Head("Cache-Control: no-stores, xno-store")).no_store);
}

TEST(ResponseDirectives, AreNotFoundInsideQuotedStrings) {  // behaviour 24
    const auto d =
        response_directives(Head(R"(Cache-Control: foo="max-age=60, no-store, private", public)"));
    EXPECT_FALSE(d.no_store || d.is_private || d.max_age.present());
    EXPECT_TRUE(d.is_public);
    EXPECT_FALSE(
        response_directives(Head(R"(Cache-Control: foo="\", no-store", max-age=60)")).no_store);
}

TEST(ResponseDirectives, AreNotLostBehindAQuoteThatNeverEnds) {  // behaviours 7, 24
    for (const char* value : {"max-age=60, foo=\", no-store", "max-age=60, \"foo, no-store",
                              "max-age=60, foo=\"a\\\", no-store"}) {
        const auto line = std::string("Cache-Control: ") + value;
        EXPECT_TRUE(response_directives(Head(line.c_str())).no_store) << value;
    }
}

TEST(ResponseDirectives, TakeQuotedArguments) {  // RFC 9111 §5.2
    EXPECT_EQ(response_directives(Head(R"(Cache-Control: max-age="60")")).max_age.value, 60s);
}

TEST(ResponseDirectives, CallBrokenFreshnessMalformed) {  // RFC 9111 §4.2.1
    for (const char* value : {"max-age", "max-age=", "max-age=-1", "max-age='60'", "max-age=60a",
                              "max-age=a60", "max-age=1.5", "max-age =60", "max-age= 60",
                              "max-age=\"60", "max-age=\"\"", "max-age=60 60"}) {
        const auto line = std::string("Cache-Control: ") + value;
        const auto d = response_directives(Head(line.c_str()));
        EXPECT_EQ(d.max_age.state, State::malformed) << value;
        EXPECT_EQ(d.max_age.value, 0s) << value;
    }
}

TEST(ResponseDirectives, UseTheFirstOfDuplicates) {  // RFC 9111 §4.2.1, behaviour 25
    EXPECT_EQ(response_directives(Head("Cache-Control: max-age=1, max-age=9")).max_age.value, 1s);
    EXPECT_EQ(response_directives(Head("Cache-Control: max-age=1\nCache-Control: max-age=9"))
                  .max_age.value,
              1s);
    EXPECT_EQ(response_directives(Head("Cache-Control: max-age=x, max-age=9")).max_age.state,
              State::malformed);
}

TEST(ResponseDirectives, DistinguishQualifiedFromUnqualified) {  // RFC 9111 §5.2.2.4, §5.2.2.7
    const Head head(R"(Cache-Control: no-cache="Set-Cookie, X-A", private=X-B)");
    const auto d = response_directives(head);
    EXPECT_FALSE(d.no_cache || d.is_private);
    EXPECT_EQ(d.no_cache_fields, "Set-Cookie, X-A");
    EXPECT_EQ(d.private_fields, "X-B");
}

TEST(ResponseDirectives, TakeTheStricterReadingOfNoCacheAndPrivate) {
    for (const char* value : {"private, private=\"a\"", "private=\"a\", private", "private=\"\"",
                              "private=", "private=\"a\", private=\"b\"", "private=\"a",
                              "private =\"a\"", "private=\"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\""}) {
        const auto line = std::string("Cache-Control: ") + value;
        EXPECT_TRUE(response_directives(Head(line.c_str())).is_private) << value;
    }
}

TEST(ResponseDirectives, ReadASemicolonAsAComma) {  // as other caches do
    const auto d = response_directives(Head("Cache-Control: public; max-age=60 ;s-maxage=5;"));
    EXPECT_TRUE(d.is_public);
    EXPECT_EQ(d.max_age.value, 60s);
    EXPECT_EQ(d.s_maxage.value, 5s);
    EXPECT_TRUE(response_directives(Head("Cache-Control: private; max-age=60")).is_private);
    EXPECT_TRUE(response_directives(Head("Cache-Control: no-cache=\"a\"; max-age=60")).no_cache)
        << "behind a quote the whole is malformed";
    EXPECT_EQ(response_directives(Head("Cache-Control: x=\"a;max-age=60\"")).max_age.state,
              State::absent);
    EXPECT_TRUE(request_directives(Head("Cache-Control: no-store; max-age=0")).no_store);
}

ResponseDirectives targeted(const std::string& value, const std::string& more = "") {
    return response_directives(Head("CDN-Cache-Control: " + value + "\n" + more));
}

TEST(TargetedDirectives, StandInPlaceOfCacheControl) {  // RFC 9213 §2.1, behaviour 29
    const auto d = targeted("max-age=9, public;x=1, stale-if-error=4, hello=(1 2), World",
                            "Cache-Control: no-store");
    EXPECT_FALSE(d.targeted) << "a key is lower case";
    const auto laxer = targeted("max-age=9;why=a, public, stale-if-error=4, unknown=(1 2)",
                                "Cache-Control: private, no-store, no-cache, must-revalidate");
    EXPECT_TRUE(laxer.targeted && laxer.is_public);
    EXPECT_FALSE(laxer.no_store || laxer.is_private || laxer.no_cache || laxer.must_revalidate);
    EXPECT_EQ(laxer.max_age.value, 9s);
    EXPECT_EQ(laxer.stale.if_error.value, 4s);
    const auto stricter = targeted(
        "no-store, private, no-cache\ncdn-cache-control: must-revalidate,"
        "proxy-revalidate, must-understand, no-transform, immutable",
        "Cache-Control: max-age=60");
    EXPECT_TRUE(stricter.no_store && stricter.is_private && stricter.no_cache);
    EXPECT_TRUE(stricter.must_revalidate && stricter.proxy_revalidate && stricter.must_understand);
    EXPECT_TRUE(stricter.no_transform && stricter.immutable);
    EXPECT_FALSE(stricter.max_age.present());
}

TEST(TargetedDirectives, AreNotThereWhenMalformedOrOfTheWrongType) {  // behaviour 29
    for (const char* value :
         {"", "max-age", "max-age=", "max-age=\"9\"", "max-age=9.0", "max-age=a",
          "max-age=9, no-store=1", "max-age=9, public=yes", "max-age=9,", "max-age=9 no-store",
          "max-age=9, private=(a)", "max-age=9, no-cache=7", "max-age='9'", "Max-Age=9",
          "max-age=1234567890123456", "max-age=@9", "stale-if-error=?1",
          "max-age=9\nCDN-Cache-Control: ???"}) {
        const auto d = targeted(value, "Cache-Control: max-age=60, s-maxage=5");
        EXPECT_FALSE(d.targeted) << value;
        EXPECT_EQ(d.max_age.value, 60s) << value;
        EXPECT_EQ(d.s_maxage.value, 5s) << value;
    }
}

TEST(TargetedDirectives, HaveTheValuesOfStructuredFields) {
    EXPECT_EQ(targeted("max-age=1, max-age=2").max_age.value, 2s);  // the last, unlike elsewhere
    EXPECT_EQ(targeted("max-age=-1").max_age.state, State::malformed);
    EXPECT_EQ(targeted("max-age=999999999999999").max_age.value, kMaxDelta);
    EXPECT_FALSE(targeted("no-store=?0").no_store);
    const Head head("CDN-Cache-Control: no-cache=\"Set-Cookie, X-A\", private=X-B");
    const auto d = response_directives(head);  // whose views are of the head
    EXPECT_FALSE(d.no_cache || d.is_private);
    EXPECT_EQ(d.no_cache_fields, "Set-Cookie, X-A");
    EXPECT_EQ(d.private_fields, "X-B");
    EXPECT_TRUE(targeted("private=\"\"").is_private);
}

TEST(TargetedDirectives, AreASetting) {
    const Head head("CDN-Cache-Control: no-store\nCache-Control: max-age=60");
    EXPECT_TRUE(response_directives(head).no_store);
    const auto d = response_directives(head, {.cdn_cache_control = false});
    EXPECT_FALSE(d.no_store || d.targeted);
    EXPECT_EQ(d.max_age.value, 60s);
}

TEST(RequestDirectives, AreRead) {  // RFC 9111 §5.2.1
    const auto d =
        request_directives(Head("Cache-Control: NO-CACHE, no-store, only-if-cached\n"
                                "Cache-Control: max-age=1, min-fresh=2, max-stale=3"));
    EXPECT_TRUE(d.no_cache && d.no_store && d.only_if_cached);
    EXPECT_EQ(d.max_age, 1s);
    EXPECT_EQ(d.min_fresh, 2s);
    EXPECT_EQ(d.max_stale, 3s);
    EXPECT_FALSE(d.plain());
}

TEST(RequestDirectives, ArePlainWithoutThem) {
    EXPECT_TRUE(request_directives(Head("Host: a\nAccept: */*")).plain());
    EXPECT_TRUE(request_directives(Head("Cache-Control: only-if-cached, no-store, foo")).plain());
}

TEST(RequestDirectives, AllowAnyStalenessWithoutAnArgument) {  // RFC 9111 §5.2.1.2
    EXPECT_EQ(request_directives(Head("Cache-Control: max-stale")).max_stale, kMaxDelta);
}

TEST(RequestDirectives, CountForNothingWhenMalformed) {
    const auto d = request_directives(Head("Cache-Control: max-age=x, min-fresh=-1, max-stale=1s"));
    EXPECT_FALSE(d.max_age || d.min_fresh || d.max_stale);
}

TEST(RequestDirectives, HeedPragmaOnlyWithoutCacheControl) {  // RFC 9111 §5.4
    EXPECT_TRUE(request_directives(Head("Pragma: no-cache")).no_cache);
    EXPECT_TRUE(request_directives(Head("Pragma: foo, No-Cache")).no_cache);
    EXPECT_FALSE(request_directives(Head("Pragma: x")).no_cache);
    EXPECT_FALSE(request_directives(Head("Pragma: no-cache\nCache-Control: foo")).no_cache);
    EXPECT_FALSE(request_directives(Head("Cache-Control: max-age=9\nPragma: no-cache")).no_cache);
}

TEST(RequestDirectives, CannotReloadPastAShield) {  // behaviour 42: a setting
    const auto d = request_directives(
        Head("Cache-Control: no-cache, max-age=0, min-fresh=9, max-stale=5, no-store, "
             "only-if-cached"),
        ClientDirectives::shield);
    EXPECT_TRUE(d.plain());
    EXPECT_TRUE(d.no_store && d.only_if_cached);
    EXPECT_FALSE(request_directives(Head("Pragma: no-cache"), ClientDirectives::shield).no_cache);
}

}  // namespace cache_control_test
}  // namespace proxy
