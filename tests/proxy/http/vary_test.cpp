#include "proxy/http/vary.hpp"
#include "proxy/http/selecting_fields.hpp"

#include "protocol/wire/keys.hpp"
#include "proxy/http/hashed_fields.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace vary_test {

using test::Head;

std::string variant(std::string_view names, const char* request) {
    std::string out;
    append_variant(out, names, Head(request));
    return out;
}

/// Does a response stored for the first request answer the second?
bool answers(const char* vary, const char* first, const char* second) {
    const auto names = vary_names(Head(vary));
    std::string scratch = "left over";
    return variant_matches(names, variant(names, first), Head(second), scratch);
}

TEST(VaryNames, AreSortedLowerCaseAndUnique) {  // behaviour 17: order has no effect
    EXPECT_EQ(vary_names(Head("Vary: Foo, accept, FOO\nVary: Bar")), "accept,bar,foo");
    EXPECT_EQ(vary_names(Head("Server: x")), "");
    EXPECT_EQ(vary_names(Head("Vary: ,")), "");
}

TEST(VaryNames, AreAnyWhereverTheStarStands) {  // RFC 9111 §4.1, behaviour 18
    for (const char* head : {"Vary: *", "Vary: a, *", "Vary: *, a", "Vary: ,*,", "Vary: a\nVary: *",
                             "Vary: *\nVary: a", "Vary:\t*"}) {
        EXPECT_EQ(vary_names(Head(head)), kVaryAny) << head;
    }
}

TEST(VaryNames, AreAnyWhenMalformedOrTooMany) {
    EXPECT_EQ(vary_names(Head("Vary: a b")), kVaryAny);
    EXPECT_EQ(vary_names(Head("Vary: \"a\"")), kVaryAny);
    std::string line = "Vary: x0";
    for (std::size_t i = 1; i < kMaxVaryNames; ++i) line += ",x" + std::to_string(i);
    EXPECT_NE(vary_names(Head((line + ",X0").c_str())), kVaryAny);
    EXPECT_EQ(vary_names(Head((line + ",more").c_str())), kVaryAny);
}

TEST(Variants, MatchWhenEveryNamedFieldDoes) {  // behaviour 16
    EXPECT_TRUE(answers("Vary: Foo, Bar", "Foo: 1\nBar: 2", "bar: 2\nFOO: 1"));
    EXPECT_FALSE(answers("Vary: Foo, Bar", "Foo: 1\nBar: 2", "Foo: 1\nBar: 3"));
    EXPECT_FALSE(answers("Vary: Foo", "Foo: a", "Foo: A"));
}

TEST(Variants, DistinguishAbsentFromPresentFields) {  // behaviour 16
    EXPECT_TRUE(answers("Vary: Foo", "", ""));
    EXPECT_FALSE(answers("Vary: Foo", "", "Foo: 1"));
    EXPECT_FALSE(answers("Vary: Foo", "Foo: 1", ""));
    EXPECT_FALSE(answers("Vary: Foo", "Foo:", ""));
    EXPECT_FALSE(answers("Vary: A, B", "A: 1", "B: 1"));
}

TEST(Variants, IgnoreFieldsThatAreNotNamed) {  // behaviour 17
    EXPECT_TRUE(answers("Vary: Foo", "Foo: 1\nX: 1", "X: 2\nFoo: 1\nY: 3"));
    EXPECT_TRUE(answers("Server: x", "Foo: 1", "Foo: 2"));
}

TEST(Variants, CombineLinesAndIgnoreSpaceAroundCommas) {  // RFC 9111 §4.1, behaviour 19
    EXPECT_TRUE(answers("Vary: Foo", "Foo: 1, 2", "Foo: 1,2"));
    EXPECT_TRUE(answers("Vary: Foo", "Foo: 1\nFoo: 2", "Foo: 1 ,\t2"));
    EXPECT_FALSE(answers("Vary: Foo", "Foo: 1, 2", "Foo: 2, 1"));
    EXPECT_FALSE(answers("Vary: Foo", "Foo: \"1, 2\"", "Foo: \"1,2\""));
    EXPECT_FALSE(answers("Vary: Foo", "Foo: a b", "Foo: ab"));
}

TEST(Variants, IgnoreCaseWhereTheSyntaxIsKnown) {  // behaviour 19
    EXPECT_TRUE(
        answers("Vary: Accept-Encoding", "Accept-Encoding: gzip, BR", "Accept-Encoding: br,GZip"));
    EXPECT_TRUE(answers("Vary: Accept-Language", "Accept-Language: De, en; q=0.50",
                        "Accept-Language: de\nAccept-Language: EN;q=0.5"));
    EXPECT_FALSE(answers("Vary: Accept-Language", "Accept-Language: en;q=0.5, de",
                         "Accept-Language: en;q=0.6, de"));
    EXPECT_FALSE(
        answers("Vary: Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip, br"));
}

// Many origins give the first of several languages of equal weight (RFC 9110 §12.5.4 leaves it to
// them).
TEST(Variants, MindTheOrderOfLanguages) {
    const auto same = [](const std::string& a, const std::string& b) {
        return answers("Vary: Accept-Language", ("Accept-Language: " + a).c_str(),
                       ("Accept-Language: " + b).c_str());
    };
    EXPECT_TRUE(same("en, de", "EN,de"));
    EXPECT_FALSE(same("en, de", "de, en"));
    EXPECT_FALSE(same("en;q=0.5, de", "de, en;q=0.5"));
    EXPECT_FALSE(same("en, de", "en"));
    std::string many = "l0";
    for (int i = 1; i < 100; ++i) many += ", l" + std::to_string(i);
    EXPECT_TRUE(same(many, many));
    EXPECT_FALSE(same(many, many + ", x"));
    EXPECT_FALSE(same("x, " + many, many + ", x"));
}

TEST(SelectingNames, AreThoseOfVaryAndOfTheKey) {
    const std::vector<std::string> keys{"accept", "x-a"};
    EXPECT_EQ(selecting_names("accept,foo", {}), "accept,foo");
    EXPECT_EQ(selecting_names("", keys), "=accept,=x-a");
    EXPECT_EQ(selecting_names("accept,foo", keys), "=accept,=x-a,foo");
    EXPECT_EQ(selecting_names(kVaryAny, keys), kVaryAny);
    EXPECT_TRUE(has_name("=accept,foo", "foo"));
    EXPECT_FALSE(has_name("=accept,foo", "accept"));
}

TEST(Variants, ByAKeyFieldMindNeitherOrderNorSpelling) {
    const auto same = [](const char* names, const char* a, const char* b) {
        std::string scratch;
        return variant_matches(names, variant(names, a), Head(b), scratch);
    };
    // Docker sends its types in another order each time, on a line each.
    EXPECT_TRUE(same("=accept", "Accept: a/index\nAccept: a/manifest, */*;q=1.0",
                     "Accept: */*,A/Manifest,a/index"));
    EXPECT_FALSE(same("=accept", "Accept: a/index, a/manifest", "Accept: a/manifest"));
    EXPECT_FALSE(same("=accept", "Accept: a/index", ""));
    EXPECT_FALSE(same("accept", "Accept: a/b, a/c", "Accept: a/c, a/b"))
        << "by Vary the order counts";
    EXPECT_FALSE(same("=x-api-key", "X-Api-Key: abc", "X-Api-Key: ABC")) << "a key keeps its case";
    EXPECT_TRUE(same("=x-api-key", "X-Api-Key: abc", "x-api-key: abc"));
}

TEST(Variants, ByCredentialsAreForRequestsWithTheSameOnes) {
    std::string scratch;
    const auto none = variant(kCredentialNames, "Accept: a/b");
    EXPECT_TRUE(variant_matches(kCredentialNames, none, Head("Cookie: a"), scratch));
    EXPECT_FALSE(variant_matches(kCredentialNames, none, Head("Authorization: Basic a"), scratch));
    EXPECT_FALSE(variant_matches(kCredentialNames, none, Head("Private-Token: a"), scratch));
    const auto key = variant(kCredentialNames, "X-Api-Key: 1");
    EXPECT_TRUE(variant_matches(kCredentialNames, key, Head("X-Api-Key: 2"), scratch));
    EXPECT_FALSE(variant_matches(kCredentialNames, key,
                                 Head("X-Api-Key: 1\nAuthorization: Basic a"), scratch));
}

TEST(Variants, WrittenWhenTheOrderOfLanguagesDidNotCountAnswerNoListOfThem) {
    const Head several("Accept-Language: de, en"), one("Accept-Language: de");
    std::string scratch;
    EXPECT_FALSE(variant_matches("accept-language", "de,en\n", several, scratch));
    EXPECT_TRUE(variant_matches("accept-language", "de\n", one, scratch)) << "as ever";
}

TEST(Variants, OfDifferentNamesAreEachComparedByTheirOwn) {
    const Head request("A: 1\nB: 2");
    std::string scratch;
    const SelectingFields selecting(request);
    VariantMatcher matches(selecting, scratch);
    EXPECT_FALSE(matches("a", "2\n"));
    EXPECT_TRUE(matches("a", "1\n"));
    EXPECT_FALSE(matches("b", "1\n"));
    EXPECT_TRUE(matches("b", "2\n"));
    EXPECT_FALSE(matches("*", ""));
    EXPECT_TRUE(matches("a,b", "1\n2\n"));
    EXPECT_TRUE(matches("", ""));
    EXPECT_TRUE(matches("a", "1\n"));
}

TEST(Variants, IgnoreHowAWeightIsWritten) {  // RFC 9110 §12.4.2, behaviour 19
    const auto same = [](const std::string& a, const std::string& b) {
        return answers("Vary: Accept-Encoding", ("Accept-Encoding: " + a).c_str(),
                       ("Accept-Encoding: " + b).c_str());
    };
    for (const char* value : {"gzip;q=1", "gzip; Q=1.0", "gzip ;q=1.", "gzip;q=1.000"}) {
        EXPECT_TRUE(same("gzip", value)) << value;
    }
    EXPECT_TRUE(same("gzip;q=0.5, br;q=0", "br;q=0.00,gzip;q=0.50"));
    for (const char* value :
         {"gzip;q=0", "gzip;q=0.1", "gzip;q=1.0000", "gzip;q=10", "gzip;q=", "gzip;q=1.0;x",
          "gzip;q=2.0", "gzip;q=1x", "gzip;q=1.x", "gzip;q=-1", "gzip;q=11.0"}) {
        EXPECT_FALSE(same("gzip", value)) << value;
    }
    EXPECT_FALSE(same("gzip;q=0.1", "gzip;q=0.01"));
    EXPECT_FALSE(same("gzip;q=0", "gzip;q=0.001"));
}

TEST(Variants, StayApartInListsTooLongToSort) {
    std::string many = "Accept-Encoding: a0";
    for (int i = 1; i < 40; ++i) many += ", a" + std::to_string(i);
    EXPECT_TRUE(answers("Vary: Accept-Encoding", many.c_str(), many.c_str()));
    EXPECT_FALSE(answers("Vary: Accept-Encoding", (many + ", x").c_str(), (many + ", y").c_str()));
}

TEST(Variants, CannotBeImitatedByValues) {
    EXPECT_FALSE(answers("Vary: A, B", "A: 1,2\nB: 3", "A: 1\nB: 2,3"));
    EXPECT_FALSE(answers("Vary: A, B", "A: 1\nA: 2", "A: 1\nB: 2"));
}

const auto kKey = protocol::field_key("0123456789abcdef0123456789abcdef");

/// As answers(), but the second request is known by its hashes of `selecting`; each is for its own
/// URI.
bool answers_hashed(const std::string& names, const char* first, const char* second,
                    std::string_view uri = "http://h/",
                    std::string_view selecting = "authorization,cookie,x-api-key") {
    const auto text = hashed_fields(Head(second), selecting, FieldHasher(kKey, uri));
    HashedFields hashed(*text, FieldHasher(kKey, "http://h/"));
    const Head clear(second);
    std::vector<Field> sent;
    for (const auto& field : Fields(clear)) {
        std::string name;
        append_lower(name, field.name);
        if (sent_in_clear(name)) sent.push_back(field);
    }
    SelectingFields by(sent);
    by.hashed = &hashed;
    std::string scratch;
    return variant_matches(names, variant(names, first), by, scratch);
}

TEST(HashedVariants, AreChosenAsByTheFieldsThemselves) {
    const char* requests[] = {"X-None: 1",
                              "Cookie: a=1",
                              "Cookie: a=2",
                              "cookie: a=1",
                              "Cookie:",
                              "Cookie: a=1\nCookie: b=2",
                              "Cookie: a=1,b=2",
                              "Accept-Language: de",
                              "Accept-Language: de, en",
                              "Accept-Language: en, de",
                              "Accept-Language: DE\nCookie: a=1",
                              "Authorization: Basic eA==\nCookie: a=1",
                              "X-Api-Key: k\nAccept: x"};
    for (const char* vary : {"Vary: Cookie", "Vary: X-Api-Key, Cookie", "Vary: Accept-Language",
                             "Vary: Accept-Language, Authorization", "X: y"}) {
        for (const char* one : requests) {
            for (const char* other : requests) {
                EXPECT_EQ(answers_hashed(vary_names(Head(vary)), one, other),
                          answers(vary, one, other))
                    << vary << " | " << one << " | " << other;
            }
        }
    }
    std::string scratch;
    for (const char* names : {"=cookie", "=accept,=x-api-key", ":credentials,cookie"})
        for (const char* one : requests)
            for (const char* other : requests)
                EXPECT_EQ(answers_hashed(names, one, other),
                          variant_matches(names, variant(names, one), Head(other), scratch))
                    << names << " | " << one << " | " << other;
}

TEST(HashedVariants, WithoutAHashAreForNoRequestThatHasTheField) {
    const auto answers = [](const char* names, const char* first, const char* second) {
        return answers_hashed(names, first, second, "http://h/", {});
    };
    EXPECT_FALSE(answers("cookie", "Cookie: a", "Cookie: a"));
    EXPECT_FALSE(answers("cookie", "X: 1", "Cookie: a")) << "unknown is not absent";
    EXPECT_FALSE(answers("cookie", "Cookie: a", "X: 1"));
    EXPECT_FALSE(answers("cookie", "Cookie:", "Cookie: a")) << "unknown is not empty";
    EXPECT_TRUE(answers("cookie", "X: 1", "X: 2"));
    EXPECT_TRUE(answers(":credentials", "X-Api-Key: 1", "X-Api-Key: 2")) << "by its name alone";
    EXPECT_FALSE(answers(":credentials", "X-Api-Key: 1", "X: 1"));
}

TEST(HashedVariants, NameTheFieldsWhoseHashesLack) {
    const auto unknown = [](const char* request, const char* selecting) {
        const auto text = hashed_fields(Head(request), selecting, FieldHasher(kKey, "http://h/"));
        HashedFields hashed(*text, FieldHasher(kKey, "http://h/"));
        SelectingFields by;
        by.hashed = &hashed;
        std::string scratch;
        for (const char* names : {"cookie,x-api-key", "=x-api-key"})
            variant_matches(names, variant(names, "Cookie: a\nX-Api-Key: k"), by, scratch);
        return hashed.unknown_names();
    };
    EXPECT_EQ(unknown("Cookie: a\nX-Api-Key: k", ""), "cookie,x-api-key");
    EXPECT_EQ(unknown("Cookie: a\nX-Api-Key: k", "cookie"), "x-api-key");
    EXPECT_EQ(unknown("Cookie: a\nX-Api-Key: k", "x-api-key,cookie"), "");
    EXPECT_EQ(unknown("Cookie: b\nX-Api-Key: k", "cookie"), "x-api-key") << "a key field";
    EXPECT_EQ(unknown("X: 1", ""), "") << "known to be absent";
}

TEST(HashedVariants, AreBoundToTheirTarget) {  // a hash seen for one page is of no use for another
    EXPECT_FALSE(answers_hashed("cookie", "Cookie: a", "Cookie: a", "http://h/other"));
}

TEST(HashedVariants, NeverMatchWhereTheHashesAreMalformed) {
    const auto names = vary_names(Head("Vary: Cookie"));
    const std::string right = FieldHasher(kKey, "http://h/")("cookie", "a");
    const auto matches = [&](const std::string& text, const char* stored) {
        HashedFields hashed(text, FieldHasher(kKey, "http://h/"));
        SelectingFields by;
        by.hashed = &hashed;
        std::string scratch;
        return variant_matches(names, variant(names, stored), by, scratch);
    };
    EXPECT_TRUE(matches("cookie=" + right, "Cookie: a"));
    EXPECT_TRUE(matches("", "X: 1"));
    for (const auto& text :
         {"cookie=" + right + "0", "cookie=" + right.substr(1), std::string("cookie"),
          "x=, cookie=" + right, std::string(20'000, 'x')}) {
        EXPECT_FALSE(matches(text, "Cookie: a")) << text;
        EXPECT_FALSE(matches(text, "X: 1")) << text;
    }
}

TEST(Variants, OfAnythingNeverMatch) {  // RFC 9111 §4.1
    EXPECT_FALSE(answers("Vary: *", "", ""));
}

}  // namespace vary_test
}  // namespace proxy
