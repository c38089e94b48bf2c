#include "proxy/http/reference.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace reference_test {

using boost::beast::http::verb;

std::string resolve(std::string_view reference, std::string_view base = "http://a.test/b/c/d;p?q") {
    CacheKey from, to;
    EXPECT_EQ(from.assign(Scheme::http, verb::get, base, {}), TargetError::none);
    return resolve_same_origin(from, reference, to) ? std::string(to.uri()) : "none";
}

TEST(Reference, IsResolvedAgainstTheTarget) {  // RFC 3986 §5.4, fragments dropped
    const std::pair<const char*, const char*> cases[] = {
        {"g", "/b/c/g"},
        {"./g", "/b/c/g"},
        {"g/", "/b/c/g/"},
        {"/g", "/g"},
        {"?y", "/b/c/d;p?y"},
        {"g?y", "/b/c/g?y"},
        {"#s", "/b/c/d;p?q"},
        {"g?y#s", "/b/c/g?y"},
        {";x", "/b/c/;x"},
        {"", "/b/c/d;p?q"},
        {".", "/b/c/"},
        {"./", "/b/c/"},
        {"..", "/b/"},
        {"../g", "/b/g"},
        {"../..", "/"},
        {"../../g", "/g"},
        {"../../../../g", "/g"},
        {"/./g", "/g"},
        {"/../g", "/g"},
        {"g.", "/b/c/g."},
        {"..g", "/b/c/..g"},
        {"./g/.", "/b/c/g/"},
        {"g/../h", "/b/c/h"},
        {"g;x=1/../y", "/b/c/y"},
        {"g?y/../x", "/b/c/g?y/../x"},
        {"//", "none"},
        {"g:h", "none"},
        {"http:g", "none"},
        {"//a.test/g//h", "/g//h"},
        {"http://a.test", "/"},
        {"http://a.test?x", "/?x"},
        {"a b/c d?e f", "/b/c/a%20b/c%20d?e%20f"},
        {"http://a .test/", "none"},
    };
    for (const auto& [reference, path] : cases)
        EXPECT_EQ(resolve(reference), path[0] == '/' ? "http://a.test" + std::string(path) : path)
            << reference;
}

TEST(Reference, KeepsToItsOrigin) {  // RFC 9111 §4.4
    for (const auto* own : {"http://a.test/x", "HTTP://A.TEST:80/x", "//a.test:80/x", "/x"})
        EXPECT_EQ(resolve(own), "http://a.test/x") << own;
    for (const auto* other : {"https://a.test/x", "http://a.test:81/x", "http://b.test/x",
                              "//b.test/x", "http://a.test.b.test/x", "http://u@a.test/x",
                              "http://a.test@b.test/x", "ftp://a.test/x", "http:///x", "/\x01"})
        EXPECT_EQ(resolve(other), "none") << other;
    EXPECT_EQ(resolve("/x", "http://[::1]:8080/y"), "http://[::1]:8080/x");
}

}  // namespace reference_test
}  // namespace proxy
