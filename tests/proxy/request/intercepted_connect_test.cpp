#include "proxy/request/intercepted_connect.hpp"

#include <gtest/gtest.h>

#include "proxy/access/intercepted.hpp"

namespace proxy {
namespace intercepted_connect_test {

using boost::beast::http::verb;

ForwardConfig intercepting(std::vector<std::string> hosts) {
    ForwardConfig forward;
    forward.enabled = true;
    forward.intercept.emplace();
    for (auto& each : hosts) forward.intercept->hosts.push_back({each, Glob(each), 0});
    return forward;
}

TEST(Intercepted, AreTheListedHostsInAnySpelling) {
    const auto forward = intercepting({"pypi.org", "*.crates.io"});
    for (const auto* host : {"pypi.org", "PyPI.Org", "pypi.org.", "p%79pi.org"})
        EXPECT_EQ(intercepted_name(forward, host, 443), "pypi.org") << host;
    EXPECT_EQ(intercepted_name(forward, "static.crates.io", 443), "static.crates.io");
    for (const auto* host : {"crates.io", "evil-pypi.org", "pypi.org.example", "a b.crates.io"})
        EXPECT_FALSE(intercepted_name(forward, host, 443)) << host;
    EXPECT_FALSE(intercepted_name(forward, "pypi.org", 8443));
}

TEST(Intercepted, AreNeverAddresses) {
    const auto forward = intercepting({"*"});
    EXPECT_TRUE(intercepted_name(forward, "pypi.org", 443));
    for (const auto* host : {"192.0.2.1", "[2001:db8::1]", "[::ffff:192.0.2.1]"})
        EXPECT_FALSE(intercepted_name(forward, host, 443)) << host;
}

TEST(Intercepted, AreNoneWithoutForwardProxyOrSetting) {
    auto forward = intercepting({"pypi.org"});
    forward.enabled = false;
    EXPECT_FALSE(intercepted_name(forward, "pypi.org", 443));
    forward.enabled = true;
    forward.intercept.reset();
    EXPECT_FALSE(intercepted_name(forward, "pypi.org", 443));
}

CacheKey key_of(std::string_view target, std::string_view host, Scheme scheme = Scheme::https) {
    CacheKey key;
    EXPECT_EQ(key.assign(scheme, verb::get, target, host), TargetError::none);
    return key;
}

InterceptedConnect inside_of(std::uint16_t port = 443) {
    InterceptedConnect inside;
    inside.name = "pypi.org";
    inside.port = port;
    return inside;
}

TEST(RequestsInside, AreForTheHostOfTheirConnect) {
    const auto judge = [](std::string_view target, std::string_view host) {
        return judge_intercepted(inside_of(), key_of(target, host), true);
    };
    for (const auto* host : {"pypi.org", "PYPI.ORG", "pypi.org:443", "pypi.org."})
        EXPECT_EQ(judge("/a", host), InterceptMismatch::none) << host;
    EXPECT_EQ(judge("https://pypi.org/a", "else.example"),
              InterceptMismatch::none);  // RFC 9112 §3.2.2
    for (const auto* host : {"crates.io", "pypi.org:8443", "www.pypi.org", "pypi.org.example"})
        EXPECT_EQ(judge("/a", host), InterceptMismatch::other_target) << host;
    EXPECT_EQ(judge("https://crates.io/a", "pypi.org"), InterceptMismatch::other_target);
    EXPECT_EQ(judge("http://pypi.org:443/a", "pypi.org"), InterceptMismatch::other_target);
}

TEST(RequestsInside, NameThePortUnlessItIsTheUsualOne) {
    EXPECT_EQ(judge_intercepted(inside_of(8443), key_of("/a", "pypi.org:8443"), true),
              InterceptMismatch::none);
    EXPECT_EQ(judge_intercepted(inside_of(8443), key_of("/a", "pypi.org"), true),
              InterceptMismatch::other_target);
    EXPECT_EQ(inside_of(8443).authority(), "pypi.org:8443");
    EXPECT_EQ(inside_of().authority(), "pypi.org");
}

TEST(RequestsInside, AreRefusedAfterAHandshakeForAnotherHostOrAChangedList) {
    auto inside = inside_of();
    const auto key = key_of("/a", "pypi.org");
    EXPECT_EQ(judge_intercepted(inside, key, false), InterceptMismatch::ended);
    inside.asked_by_name = false;
    EXPECT_EQ(judge_intercepted(inside, key, true), InterceptMismatch::other_name);
    for (const auto fault :
         {InterceptMismatch::ended, InterceptMismatch::other_name, InterceptMismatch::other_target})
        EXPECT_NE(explain(fault, inside, key).find("pypi.org"), std::string::npos);
}

}  // namespace intercepted_connect_test
}  // namespace proxy
