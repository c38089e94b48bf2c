#include "proxy/http/cache_key.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace cache_key_test {

using boost::beast::http::verb;

std::string key(std::string_view target, std::string_view host = "example.org",
                Scheme scheme = Scheme::http, verb method = verb::get) {
    CacheKey result;
    const auto error = result.assign(scheme, method, target, host);
    return error == TargetError::none ? std::string(result.uri())
                                      : "error: " + std::string(to_string(error));
}

TargetError error_of(std::string_view target, std::string_view host = "example.org",
                     verb method = verb::get) {
    CacheKey result;
    const auto error = result.assign(Scheme::http, method, target, host);
    EXPECT_EQ(result.uri().empty(), error != TargetError::none);
    return error;
}

TEST(CacheKey, IsTheTargetUri) {  // RFC 9110 §7.1
    EXPECT_EQ(key("/a/b?c=d"), "http://example.org/a/b?c=d");
    EXPECT_EQ(key("/", "example.org", Scheme::https), "https://example.org/");
}

TEST(CacheKey, IsTheSameInBothForms) {  // RFC 9112 §3.2
    EXPECT_EQ(key("http://example.org/a?b"), key("/a?b"));
    EXPECT_EQ(key("http://example.org:8080/a?b"), key("/a?b", "example.org:8080"));
    EXPECT_EQ(key("HTTPS://Example.Org:443/"), key("/", "example.org", Scheme::https));
}

TEST(CacheKey, PrefersAbsoluteFormToHost) {  // RFC 9112 §3.2.2
    EXPECT_EQ(key("http://a.example/x", "b.example"), "http://a.example/x");
    EXPECT_EQ(key("http://a.example/x", ""), "http://a.example/x");
    EXPECT_EQ(key("https://a.example/x", "a.example", Scheme::http), "https://a.example/x");
}

TEST(CacheKey, LowersTheHostAndNothingElse) {  // RFC 9110 §4.2.3
    EXPECT_EQ(key("/A%2fB?C", "EXAMPLE.Org"), "http://example.org/A%2fB?C");
    EXPECT_EQ(key("HTTP://EXAMPLE.ORG/Q"), "http://example.org/Q");
}

TEST(CacheKey, DropsADefaultOrEmptyPort) {  // RFC 9110 §4.2.3
    EXPECT_EQ(key("/", "example.org:80"), "http://example.org/");
    EXPECT_EQ(key("/", "example.org:0080"), "http://example.org/");
    EXPECT_EQ(key("/", "example.org:"), "http://example.org/");
    EXPECT_EQ(key("http://example.org:/x"), "http://example.org/x");
    EXPECT_EQ(key("/", "example.org:443"), "http://example.org:443/");
    EXPECT_EQ(key("/", "example.org:80", Scheme::https), "https://example.org:80/");
}

TEST(CacheKey, GivesAnEmptyPathASlash) {  // RFC 9110 §4.2.3
    EXPECT_EQ(key("http://example.org"), "http://example.org/");
    EXPECT_EQ(key("http://example.org?a=/b"), "http://example.org/?a=/b");
}

TEST(CacheKey, TakesPathAndQueryByteForByte) {  // behaviour 1
    for (const char* target :
         {"/a//b/../c/./d", "/%7Euser", "/~user", "/a;b=c", "/a|b\\c^d`e{f}\"g<h>i[j]", "/?", "//x",
          "/caf\xc3\xa9", "/\xff\x80", "/a#b", "/a?b?c", "/http://other.example/", "/*", "/@:"}) {
        EXPECT_EQ(key(target), std::string("http://example.org") + target);
    }
}

TEST(CacheKey, SeparatesDifferentQueries) {  // behaviour 1
    EXPECT_NE(key("/a?x=1&y=2"), key("/a?y=2&x=1"));
    EXPECT_NE(key("/a"), key("/a?"));
    EXPECT_NE(key("/a/"), key("/a"));
}

TEST(CacheKey, KeepsOptionsOfTheServerToItself) {  // RFC 9112 §3.2.4
    EXPECT_EQ(key("*", "example.org", Scheme::http, verb::options), "http://example.org*");
    EXPECT_EQ(error_of("*"), TargetError::bad_form);
    // RFC 9112 §3.2.4: without path and query, in absolute-form, too.
    EXPECT_EQ(key("http://Example.org:8001", "", Scheme::http, verb::options),
              "http://example.org:8001*");
    EXPECT_EQ(key("http://example.org/", "", Scheme::http, verb::options), "http://example.org/");
    EXPECT_EQ(key("http://example.org?x", "", Scheme::http, verb::options),
              "http://example.org/?x");
    EXPECT_EQ(key("http://example.org", "", Scheme::http, verb::get), "http://example.org/");
    EXPECT_EQ(error_of("/", "example.org*"), TargetError::bad_host);
}

TEST(CacheKey, ShowsItsPartsForRouting) {
    CacheKey k;
    ASSERT_EQ(k.assign(Scheme::http, verb::get, "http://Example.org:8080?q", "x"),
              TargetError::none);
    EXPECT_EQ(k.host(), "example.org");
    EXPECT_EQ(k.address(), "example.org");
    EXPECT_EQ(k.port(), 8080);
    EXPECT_EQ(k.authority(), "example.org:8080");
    EXPECT_EQ(k.path(), "/?q");
    ASSERT_EQ(k.assign(Scheme::https, verb::get, "/p", "[2001:DB8::1]"), TargetError::none);
    EXPECT_EQ(k.uri(), "https://[2001:db8::1]/p");
    EXPECT_EQ(k.host(), "[2001:db8::1]");
    EXPECT_EQ(k.address(), "2001:db8::1");
    EXPECT_EQ(k.port(), 443);
    EXPECT_EQ(k.authority(), "[2001:db8::1]");
    EXPECT_EQ(k.path(), "/p");
}

TEST(CacheKey, TakesTheHostsOfRealLogs) {
    for (const char* host : {"www_is.cs.example", "a-b.example.", "cs-www.example.facu;ty",
                             "127.0.0.1", "xn--a", "a%20"}) {
        EXPECT_EQ(key("/", host), "http://" + std::string(host) + "/");
    }
}

TEST(CacheKey, RefusesUserInformation) {  // RFC 9110 §4.2.4
    EXPECT_EQ(error_of("http://user@example.org/"), TargetError::userinfo);
    EXPECT_EQ(error_of("http://user:pw@example.org/"), TargetError::userinfo);
    EXPECT_EQ(error_of("/", "user@example.org"), TargetError::userinfo);
    EXPECT_EQ(error_of("http://example.org/a@b"), TargetError::none);
}

TEST(CacheKey, RefusesOtherSchemesAndForms) {
    EXPECT_EQ(error_of("ftp://example.org/"), TargetError::bad_scheme);
    EXPECT_EQ(error_of("gopher://example.org"), TargetError::bad_scheme);
    EXPECT_EQ(error_of("httpx://example.org/"), TargetError::bad_scheme);
    EXPECT_EQ(error_of("://example.org/"), TargetError::bad_scheme);
    EXPECT_EQ(error_of("http:/example.org/"), TargetError::bad_form);
    EXPECT_EQ(error_of("http:example.org"), TargetError::bad_form);
    EXPECT_EQ(error_of("example.org/a:b"), TargetError::bad_form);
    EXPECT_EQ(error_of("?a"), TargetError::bad_form);
    EXPECT_EQ(error_of(""), TargetError::empty_target);
}

TEST(CacheKey, RefusesBytesThatWouldEndALine) {
    for (const std::string& target :
         {std::string("/a b"), std::string("/a\tb"), std::string("/a\r\nb"),
          std::string("/a\0b", 4), std::string("/\x7f")}) {
        EXPECT_EQ(error_of(target), TargetError::bad_byte) << target;
    }
}

TEST(CacheKey, RefusesBrokenHosts) {  // RFC 9112 §3.2
    EXPECT_EQ(error_of("/", ""), TargetError::empty_host);
    EXPECT_EQ(error_of("http:///a"), TargetError::empty_host);
    EXPECT_EQ(error_of("http://:80/a"), TargetError::empty_host);
    for (const char* host : {"a b", "a/b", "a\\b", "a?b", "a#b", "[::1", "[]", "[x]", "[::1]x",
                             "::1", "a<b", "a\"b", "caf\xc3\xa9", "a%", "a%2", "a%zz"}) {
        EXPECT_NE(error_of("/", host), TargetError::none) << host;
    }
}

TEST(CacheKey, RefusesBrokenPorts) {
    for (const char* host : {"a:x", "a:-1", "a:+1", "a:65536", "a:99999999999", "a:0", "a:80:80",
                             "[::1]:x", "a: 80"}) {
        EXPECT_EQ(error_of("/", host), TargetError::bad_port) << host;
    }
}

TEST(CacheKey, IsEmptyAgainAfterAnError) {
    CacheKey k;
    ASSERT_EQ(k.assign(Scheme::http, verb::get, "/a", "h:81"), TargetError::none);
    ASSERT_NE(k.assign(Scheme::http, verb::get, "/a", "h h"), TargetError::none);
    EXPECT_EQ(k.uri(), "");
    EXPECT_EQ(k.host(), "");
    EXPECT_EQ(k.path(), "");
    EXPECT_EQ(k.port(), 0);
}

TEST(ConnectTarget, NeedsHostAndPort) {  // RFC 9112 §3.2.3
    Authority out;
    ASSERT_EQ(parse_connect_target("example.org:443", out), TargetError::none);
    EXPECT_EQ(out.host, "example.org");
    EXPECT_EQ(out.port, 443);
    ASSERT_EQ(parse_connect_target("[::1]:443", out), TargetError::none);
    EXPECT_EQ(out.host, "[::1]");
    EXPECT_EQ(parse_connect_target("example.org", out), TargetError::bad_port);
    EXPECT_EQ(parse_connect_target("example.org:", out), TargetError::bad_port);
    EXPECT_EQ(parse_connect_target("a@b:443", out), TargetError::userinfo);
    EXPECT_EQ(parse_connect_target("http://a:443", out), TargetError::bad_port);
    EXPECT_EQ(parse_connect_target(":443", out), TargetError::empty_host);
}

}  // namespace cache_key_test
}  // namespace proxy
