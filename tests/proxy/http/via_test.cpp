#include "proxy/http/via.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace via_test {

using test::Head;

TEST(ViaPseudonym, StandsForOneNode) {
    EXPECT_EQ(via_pseudonym("edge-1"), via_pseudonym("edge-1"));
    EXPECT_NE(via_pseudonym("edge-1"), via_pseudonym("edge-2"));
    EXPECT_EQ(via_pseudonym("edge-1").find("edge"), std::string::npos);
    EXPECT_TRUE(
        via_names(Head(("Via: 1.1 " + via_pseudonym("edge-1")).c_str()), via_pseudonym("edge-1")));
}

TEST(Hops, FindsItsNameInAnyMemberOfAnyViaLine) {  // RFC 9110 §7.6.3
    EXPECT_TRUE(via_names(Head("Via: 1.1 edge-1"), "edge-1"));
    EXPECT_TRUE(via_names(Head("Via: 1.0 x, 1.1 edge-1 (hearsay)"), "edge-1"));
    EXPECT_TRUE(via_names(Head("Via: 1.1 x\nAge: 1\nVia: HTTP/1.1 \t EDGE-1"), "edge-1"));
    EXPECT_TRUE(via_names(Head("Via: 1.1 x (a, (b\\), 1.1 c) d),,1.1 edge-1(e)"), "edge-1"));
}

TEST(Hops, TakesNothingElseInViaForItsName) {
    EXPECT_FALSE(via_names(Head("Age: 1"), "a"));
    EXPECT_FALSE(via_names(Head("Via: "), "a"));
    EXPECT_FALSE(via_names(Head("Via: a"), "a"));
    EXPECT_FALSE(via_names(Head("Via: a b"), "a"));
    EXPECT_FALSE(via_names(Head("Via: 1.1 ab, 1.1 a:80, 1.1 b a"), "a"));
    EXPECT_FALSE(via_names(Head("Via: 1.1 b (to, 1.1 a)"), "a"));
    EXPECT_FALSE(via_names(Head("Via: 1.1 b (never ends, 1.1 a"), "a"));
    EXPECT_FALSE(via_names(Head("X-Via: 1.1 a"), "a"));
}

TEST(Hops, ReadsMaxForwards) {  // RFC 9110 §7.6.2
    using State = MaxForwards::State;
    EXPECT_EQ(max_forwards(Head("Age: 1")).state, State::absent);
    for (const auto& [text, hops] :
         {std::pair("Max-Forwards: 0", 0u),
          {"Max-Forwards: 007", 7u},
          {"Max-Forwards: 12", 12u},
          {"Max-Forwards: 99999999999999999999999999", MaxForwards::kMost}}) {
        EXPECT_EQ(max_forwards(Head(text)).state, State::present) << text;
        EXPECT_EQ(max_forwards(Head(text)).hops, hops) << text;
    }
    for (const auto* text : {"Max-Forwards: ", "Max-Forwards: -1", "Max-Forwards: 1, 1",
                             "Max-Forwards: 1.0", "Max-Forwards: one"})
        EXPECT_EQ(max_forwards(Head(text)).state, State::malformed) << text;
    EXPECT_EQ(max_forwards(Head("Max-Forwards: 1\nMax-Forwards: 1")).state, State::malformed);
}

}  // namespace via_test
}  // namespace proxy
