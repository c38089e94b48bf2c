#include "proxy/access/judge_destination.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/config/parse_config.hpp"

namespace proxy {
namespace judge_destination_test {

using testing::ElementsAre;
using testing::HasSubstr;

DestinationRules rules(const std::string& json) {
    const auto result = parse_config(
        R"({"node": "a", "listen": "a:1", "forward": {"enabled": true, "destinations": )" + json +
            "}}",
        {});
    EXPECT_EQ(describe(result.errors), "");
    return result.config ? result.config->forward.destinations : DestinationRules();
}

TEST(JudgeDestination, LetsAllThroughWithoutRules) {
    EXPECT_EQ(why_not_destination({}, "any.test", 80), "");
}

TEST(JudgeDestination, DenyWinsOverAllow) {
    const auto some = rules(R"({"allow": ["*.a.test", "a.test"], "deny": ["x.a.test"]})");
    EXPECT_EQ(why_not_destination(some, "a.test", 80), "");
    EXPECT_EQ(why_not_destination(some, "y.a.test", 443), "");
    EXPECT_EQ(why_not_destination(some, "x.a.test", 80), "deny: x.a.test");
    EXPECT_EQ(why_not_destination(some, "b.test", 80), "it is not in allow");
    const auto denied = rules(R"({"deny": ["*.bad"]})");
    EXPECT_EQ(why_not_destination(denied, "good", 80), "");
    EXPECT_EQ(why_not_destination(denied, "bad", 80), "") << "the star stands behind a dot";
    EXPECT_EQ(why_not_destination(denied, "x.y.bad", 80), "deny: *.bad");
}

TEST(JudgeDestination, ComparesEverySpellingAlike) {
    const auto some = rules(
        R"({"deny": ["Bad.TEST.", "[2001:DB8:0::1]", "10.0.0.1", "xn--mller-kva.test", "a*:8080"]})");
    for (const auto* host :
         {"bad.test", "BAD.test", "bad.test.", "b%61d.test", "[2001:db8::1]", "[2001:0db8:0:0::1]",
          "10.0.0.1", "[::ffff:10.0.0.1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::a00:1]",
          "[64:ff9b:1:a00:0:100::]", "[2002:a00:1::]", "[2001:0:808:808::f5ff:fffe]", "10.1",
          "0xa000001", "167772161", "012.0.0.1", "m\xc3\xbcller.test", "M\xc3\x9cLLER.test"})
        EXPECT_NE(why_not_destination(some, host, 80), "") << host;
    EXPECT_EQ(why_not_destination(some, "abc", 8080), "deny: a*:8080");
    EXPECT_EQ(why_not_destination(some, "abc", 80), "");
    EXPECT_EQ(why_not_destination(some, "[2001:db8::2]", 80), "");
}

TEST(JudgeDestination, HasPatternsThatAreHosts) {
    const auto fault = [](const std::string& pattern) {
        const auto result = parse_config(
            R"({"node": "a", "listen": "a:1", "forward": {"enabled": true, "destinations": {"deny": [")" +
                pattern + R"("]}}})",
            {});
        return describe(result.errors);
    };
    for (const auto* good : {"*", "a", "*.a:1", "[::1]:443", "[::*]", "1.2.3.4", "*:25"})
        EXPECT_EQ(fault(good), "") << good;
    for (const auto* bad : {"", ":80", "http://a", "a/b", "a:0", "a:65536", "a:x", "::1", "u@a",
                            "a b", "m\xc3\xbcller", "[::1", "a%20", "a?"})
        EXPECT_THAT(fault(bad), HasSubstr("$.forward.destinations.deny[0]: must be a host")) << bad;
}

}  // namespace judge_destination_test
}  // namespace proxy
