#include "protocol/peer_view.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace {

PeerView view() {
    PeerView view;
    view.peers.resize(3);
    view.peers[0].node = "a";
    view.peers[0].accepted = {"new of a", "old of a"};
    view.peers[1].node = "b";
    view.peers[1].accepted = {"new of b", ""};
    view.peers[2].node = "c";
    view.peers[2].token = "of c for us";
    return view;
}

TEST(PeerView, KnowsAPeerByEitherOfItsTokens) {
    EXPECT_EQ(view().authenticate("a", "new of a"), 0U);
    EXPECT_EQ(view().authenticate("a", "old of a"), 0U);
    EXPECT_EQ(view().authenticate("b", "new of b"), 1U);
}

TEST(PeerView, ATokenProvesOnlyThePeerItWasGivenTo) {
    EXPECT_EQ(view().authenticate("b", "new of a"), std::nullopt);
    EXPECT_EQ(view().authenticate("a", "new of b"), std::nullopt);
    EXPECT_EQ(view().authenticate("x", "new of a"), std::nullopt);
    EXPECT_EQ(view().authenticate("", "new of a"), std::nullopt);
}

TEST(PeerView, AnEmptyTokenProvesNothing) {
    EXPECT_EQ(view().authenticate("b", ""), std::nullopt);  // though its second place is empty
    EXPECT_EQ(view().authenticate("c", ""), std::nullopt);
}

TEST(PeerView, TheTokenWeSendIsNotOneWeAccept) {
    EXPECT_EQ(view().authenticate("c", "of c for us"), std::nullopt);
}

TEST(PeerView, PartOfATokenOrMoreThanItProvesNothing) {
    EXPECT_EQ(view().authenticate("a", "new of "), std::nullopt);
    EXPECT_EQ(view().authenticate("a", "new of a "), std::nullopt);
}

}  // namespace
}  // namespace protocol::test
