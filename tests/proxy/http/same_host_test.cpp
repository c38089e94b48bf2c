#include "proxy/http/same_host.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace same_host_test {

TEST(SameHost, IsOneOfTheSameName) {
    EXPECT_TRUE(same_host("h.example", "h.example"));
    EXPECT_FALSE(same_host("h.example", "g.example"));
    EXPECT_FALSE(same_host("h.example", "h.example.org"));
    EXPECT_FALSE(same_host("h.example", ""));
}

TEST(SameHost, IsOneWithADotAtItsEnd) {  // RFC 3986 §3.2.2
    EXPECT_TRUE(same_host("h.example.", "h.example"));
    EXPECT_TRUE(same_host("h.example", "h.example."));
    EXPECT_FALSE(same_host("h.example..", "h.example"));
}

TEST(SameHost, IsOneOfTheSameAddress) {  // RFC 4291 §2.2
    EXPECT_TRUE(same_host("[0:0::1]", "[::1]"));
    EXPECT_TRUE(same_host("[2001:db8:0:0::00ab]", "[2001:db8::ab]"));
    EXPECT_TRUE(same_host("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"));
    EXPECT_FALSE(same_host("[::1]", "[::2]"));
}

TEST(SameHost, IsNotOneOfAnotherForm) {
    EXPECT_FALSE(same_host("[::1]", "::1"));
    EXPECT_FALSE(same_host("[::ffff:127.0.0.1]", "127.0.0.1"));
    EXPECT_FALSE(same_host("[v1.a]", "[v1.b]"));
    EXPECT_FALSE(same_host("[", "[]"));
    EXPECT_FALSE(same_host("[::1", "[::1]"));
}

}  // namespace same_host_test
}  // namespace proxy
