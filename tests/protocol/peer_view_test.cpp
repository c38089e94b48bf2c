#include "protocol/membership/peer_view.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace peer_view_test {

PeerView view() {
    PeerView view;
    PeerView::Peer a, b, c;
    a.node = "a";
    a.accepted = {"new of a", "old of a"};
    b.node = "b";
    b.accepted = {"new of b", ""};
    c.node = "c";
    c.token = "of c for us";
    view.peers.resize(3);
    view.peers.set(0, a);
    view.peers.set(1, b);
    view.peers.set(2, c);
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

}  // namespace peer_view_test
}  // namespace protocol::test
