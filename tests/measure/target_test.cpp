#include "measure/trace/target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace measure {
namespace target_test {

TEST(TargetCheck, SendsWhatRealLogsHold) {
    TargetCheck check;
    for (const auto* url :
         {"http://a/", "http://a", "http://A.Example:8080/x?y=z", "HTTP://a/", "http://a?q",
          "http://a/x|y{z}\\w\"'^`<>", "http://a/%zz", "http://a/\xe4\xff", "http://[::1]:80/",
          "http://a//..//b", "http://a/x#part", "http://a_b.example/"}) {
        EXPECT_EQ(check.refuse(url), std::nullopt) << url;
    }
}

TEST(TargetCheck, RefusesWhatNoProxyUnderstands) {
    TargetCheck check;
    for (const auto* url :
         {"", "a.example/x", "/x", "ftp://a/", "https://a/", "http://", "http:///x",
          "http://u:p@a/", "http://a b/", "http://a/b c", "http://a/b\tc", "http://a/b\x7f",
          "http://a:99999/", "http://a:x/", "*"}) {
        EXPECT_NE(check.refuse(url), std::nullopt) << url;
    }
}

TEST(TargetCheck, KnowsTheLimitOfLength) {
    TargetCheck check;
    const std::string begin = "http://a/";
    EXPECT_EQ(check.refuse(begin + std::string(kMaxUrlBytes - begin.size(), 'x')), std::nullopt);
    EXPECT_EQ(check.refuse(begin + std::string(kMaxUrlBytes - begin.size() + 1, 'x')),
              "URL too long");
}

TEST(SplitUrl, CutsAfterTheAuthority) {
    const auto parts = [](std::string_view url) {
        const auto split = split_url(url);
        return std::pair(std::string(split.authority), std::string(split.path));
    };
    using Pair = std::pair<std::string, std::string>;
    EXPECT_EQ(parts("http://A:80/x?y"), Pair("A:80", "/x?y"));
    EXPECT_EQ(parts("http://a"), Pair("a", ""));
    EXPECT_EQ(parts("http://a?q/r"), Pair("a", "?q/r"));
    EXPECT_EQ(parts("http://[::1]:8/"), Pair("[::1]:8", "/"));
}

}  // namespace target_test
}  // namespace measure
