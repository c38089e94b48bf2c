#include "proxy/blocklists/normal_url.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace normal_url_test {

std::string host(std::string_view text) {
    std::string buffer;
    return std::string(normal_host(text, buffer).text);
}
bool is_address(std::string_view text) {
    std::string buffer;
    return normal_host(text, buffer).is_address;
}
std::string path(std::string_view text) {
    std::string out = "h";
    append_normal_path(out, text);
    return out.substr(1);
}

TEST(NormalHost, IsOneForAllSpellings) {  // RFC 3986 §6.2.2
    for (const auto* spelling :
         {"www.example.com", "WWW.Example.COM", "www.example.com.", "www.example.com..",
          "%77ww.example.com", "www%2Eexample.com", "www.example.com%2e", "www.EXAMPLE%2ecom"})
        EXPECT_EQ(host(spelling), "www.example.com") << spelling;
}

TEST(NormalHost, HasTheAsciiFormOfOtherLetters) {
    for (const auto* spelling :
         {"bücher.example", "b%C3%BCcher.example", "B%C3%9CCHER.example", "xn--bcher-kva.example",
          "XN--BCHER-KVA.example", "bücher。example", "bücher%EF%BC%8Eexample"})
        EXPECT_EQ(host(spelling), "xn--bcher-kva.example") << spelling;
}

TEST(NormalHost, IsTheCanonicalAddress) {
    for (const auto* spelling :
         {"127.0.0.1", "127.0.0.1.", "127.0.0%2e1", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]"}) {
        EXPECT_EQ(host(spelling), "127.0.0.1") << spelling;
        EXPECT_TRUE(is_address(spelling)) << spelling;
    }
    for (const auto* spelling : {"[2001:db8::1]", "[2001:DB8:0:0:0:0:0:1]", "[2001:db8::0001]"}) {
        EXPECT_EQ(host(spelling), "2001:db8::1") << spelling;
        EXPECT_TRUE(is_address(spelling)) << spelling;
    }
    for (const auto* spelling : {"127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0x7F.1"}) {
        EXPECT_EQ(host(spelling), "127.0.0.1") << spelling;
        EXPECT_TRUE(is_address(spelling)) << spelling;
    }
    EXPECT_EQ(host("3com.example"), "3com.example");
    EXPECT_FALSE(is_address("1.2.3.4.example"));
    EXPECT_FALSE(is_address("host1"));
}

TEST(NormalHost, KeepsBytesThatNoNameHas) {
    EXPECT_EQ(host("%zz.example"), "%zz.example");
    EXPECT_EQ(host("%"), "%");
    EXPECT_EQ(host("a%2"), "a%2");
    EXPECT_EQ(host("%ff.example"), "\xff.example");
    EXPECT_EQ(host(""), "");
    EXPECT_EQ(host("."), "");
}

TEST(Name, HasLabelsOfAKnownSize) {
    EXPECT_TRUE(is_name("example.com"));
    EXPECT_TRUE(is_name("_dmarc.a-b.c3"));
    EXPECT_TRUE(is_name("ru"));
    EXPECT_TRUE(is_name(std::string(63, 'a').append(".com")));
    for (const auto& bad :
         {std::string(), std::string("."), std::string(".com"), std::string("a..b"),
          std::string("a."), std::string("a b"), std::string("A.com"), std::string("a/b"),
          std::string("*.com"), std::string(64, 'a').append(".com")})
        EXPECT_FALSE(is_name(bad)) << bad;
    std::string longest = "a";
    while (longest.size() < kMaxNameBytes) longest += ".a";
    EXPECT_TRUE(is_name(longest));
    EXPECT_FALSE(is_name(longest + ".a"));
}

TEST(Name, IsPlainIfItNeedsNoOtherForm) {
    EXPECT_EQ(labels_of_plain_name("example.com"), 2u);
    EXPECT_EQ(labels_of_plain_name("a_b.c-d.x1.org"), 4u);
    EXPECT_EQ(labels_of_plain_name("ru"), 1u);
    for (const auto& other :
         {std::string(), std::string("Example.com"), std::string("example.com."),
          std::string(".com"), std::string("a..b"), std::string("10.1.2.3"), std::string("host1"),
          std::string("a%62"), std::string("bücher"), std::string(64, 'a'),
          std::string(kMaxNameBytes + 1, '.')})
        EXPECT_EQ(labels_of_plain_name(other), 0u) << other;
}

TEST(NormalPath, IsOneForAllSpellings) {  // RFC 3986 §6.2.2, and e2guardian's realPath()
    for (const auto* spelling :
         {"/bad/page", "/bad/page/", "/BAD/Page", "//bad///page", "/./bad/./page", "/x/../bad/page",
          "/%62ad/page", "/bad%2Fpage", "/bad%2fpage", "/x/%2E%2e/bad/page", "/../../bad/page",
          "/bad/page#fragment"})
        EXPECT_EQ(path(spelling), "/bad/page") << spelling;
    EXPECT_EQ(path("/bad?Query=A%20b"), "/bad?query=a b");
    EXPECT_EQ(path("/a?x=/../y"), "/a?x=/../y") << "a query has no dot segments";
    EXPECT_EQ(path("/a%3Fb"), "/a?b");
}

TEST(NormalPath, IsEmptyForTheRoot) {
    for (const auto* spelling : {"", "/", "//", "/.", "/..", "/a/..", "#x"})
        EXPECT_EQ(path(spelling), "") << spelling;
    EXPECT_EQ(path("?q"), "/?q");
    EXPECT_EQ(path("/?q"), "/?q");
}

TEST(NormalPath, IsDecodedOnce) {
    EXPECT_EQ(path("/%2562ad"), "/%62ad");
    EXPECT_EQ(path("/%"), "/%");
    EXPECT_EQ(path("/%6"), "/%6");
}

}  // namespace normal_url_test
}  // namespace proxy
