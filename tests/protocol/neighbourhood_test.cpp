#include "protocol/membership/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/summary/bloom.hpp"

namespace protocol::test {
namespace neighbourhood_test {

using summary::test::asked;
using summary::test::key;

constexpr summary::Shape kShape{4096, 4};
constexpr summary::Shape kLarger{8192, 4};

summary::Filter filter_with(summary::KeyHash k, summary::Shape shape = kShape) {
    summary::BloomFilter filter(shape);
    filter.insert(k);
    return filter;
}

summary::Replica replica_with(summary::KeyHash k, summary::Shape shape = kShape) {
    summary::Replica replica;
    replica.apply_snapshot(1, 0, filter_with(k, shape));
    return replica;
}

class NeighbourhoodTest : public ::testing::Test {
protected:
    NeighbourhoodTest() {
        for (unsigned i = 0; i < 3; ++i) {
            neighbours.add_peer(i, std::string(1, char('a' + i)));
            neighbours.place(i, {"127.0.0." + std::to_string(i), 3128});
        }
    }
    Neighbourhood neighbours;
};

TEST_F(NeighbourhoodTest, APeerIsForgottenWhenAnotherGetsItsNumber) {
    auto replica = replica_with(key(1));
    neighbours.accept(1, "token");
    neighbours.begin_feed(1, {"token", 7});
    neighbours.load(1, replica);
    neighbours.set_in_sync(1, true);
    ASSERT_TRUE(neighbours.take_view()->peers[1].in_sync);
    neighbours.end_feed(1);
    neighbours.remove_peer(1);
    auto view = neighbours.take_view();
    EXPECT_EQ(view->peers[1].node, "");
    EXPECT_EQ(view->authenticate("", "token"), std::nullopt);
    EXPECT_EQ(neighbours.index_of("b"), std::nullopt);
    neighbours.add_peer(1, "d");
    view = neighbours.take_view();
    EXPECT_EQ(neighbours.index_of("d"), 1U);
    EXPECT_EQ(view->authenticate("d", "token"), std::nullopt);
    EXPECT_FALSE(view->peers[1].in_sync);
    EXPECT_EQ(view->peers[1].http.host, "");
}

TEST_F(NeighbourhoodTest, APeerWithAnUnknownProxyDoesNotCount) {
    neighbours.add_peer(3, "d");
    auto replica = replica_with(key(1));
    neighbours.load(3, replica);
    neighbours.set_in_sync(3, true);
    EXPECT_FALSE(neighbours.take_view()->peers[3].in_sync);
    neighbours.place(3, {"127.0.0.9", 3128});
    EXPECT_TRUE(neighbours.take_view()->peers[3].in_sync);
}

TEST_F(NeighbourhoodTest, TheFirstViewHasThePeersOfTheConfigurationAndNoSummaries) {
    const auto view = neighbours.take_view();
    ASSERT_TRUE(view);
    ASSERT_EQ(view->peers.size(), 3U);
    EXPECT_EQ(view->peers[1].node, "b");
    EXPECT_EQ(view->peers[1].http.host, "127.0.0.1");
    EXPECT_EQ(view->peers[1].http.port, 3128);
    EXPECT_FALSE(view->peers[1].in_sync);
    EXPECT_EQ(view->directory, nullptr);
}

TEST_F(NeighbourhoodTest, AViewIsHandedOutOnlyWhenSomethingChanged) {
    ASSERT_TRUE(neighbours.take_view());
    EXPECT_FALSE(neighbours.take_view());
    auto replica = replica_with(key(1));
    neighbours.load(0, replica);
    ASSERT_TRUE(neighbours.take_view());
    neighbours.set_in_sync(0, false);  // as it was
    EXPECT_FALSE(neighbours.take_view());
    neighbours.set_in_sync(0, true);
    EXPECT_TRUE(neighbours.take_view());
}

TEST_F(NeighbourhoodTest, FindsPeersByName) {
    EXPECT_EQ(neighbours.index_of("c"), 2U);
    EXPECT_EQ(neighbours.index_of("d"), std::nullopt);
    EXPECT_EQ(neighbours.index_of(""), std::nullopt);
}

TEST_F(NeighbourhoodTest, TheTokenBeforeTheLastStaysGood) {
    neighbours.accept(1, "first");
    neighbours.accept(1, "second");
    auto view = neighbours.take_view();
    EXPECT_EQ(view->authenticate("b", "first"), 1U);
    EXPECT_EQ(view->authenticate("b", "second"), 1U);
    neighbours.accept(1, "third");
    view = neighbours.take_view();
    EXPECT_EQ(view->authenticate("b", "first"), std::nullopt);
    EXPECT_EQ(view->authenticate("b", "second"), 1U);
}

TEST_F(NeighbourhoodTest, ALoadedSummaryAnswersUnderThePeersNumber) {
    auto replica = replica_with(key(1));
    neighbours.begin_feed(2, {"token", 7});
    neighbours.load(2, replica);
    const auto view = neighbours.take_view();
    ASSERT_TRUE(view && view->directory);
    EXPECT_EQ(view->peers[2].token, "token");
    EXPECT_EQ(view->directory->candidates(asked(key(1))), (summary::PeerSet{2}));
    EXPECT_TRUE(view->directory->candidates(asked(key(2))).empty());
}

TEST_F(NeighbourhoodTest, ChangesReachViewsAlreadyHandedOut) {
    auto replica = replica_with(key(1));
    neighbours.load(0, replica);
    const auto view = neighbours.take_view();
    summary::Delta delta;
    const auto positions = summary::positions(key(2), kShape);
    delta.set.assign(positions.begin(), positions.end());
    neighbours.change(0, delta);
    EXPECT_FALSE(neighbours.take_view());
    EXPECT_EQ(view->directory->candidates(asked(key(2))), (summary::PeerSet{0}));
}

TEST_F(NeighbourhoodTest, AnotherSnapshotOfTheSameShapeNeedsNoNewDirectory) {
    auto replica = replica_with(key(1));
    neighbours.load(0, replica);
    const auto view = neighbours.take_view();
    replica.apply_snapshot(1, 1, filter_with(key(2)));
    neighbours.load(0, replica);
    EXPECT_FALSE(neighbours.take_view());
    EXPECT_TRUE(view->directory->candidates(asked(key(1))).empty());
    EXPECT_EQ(view->directory->candidates(asked(key(2))), (summary::PeerSet{0}));
}

TEST_F(NeighbourhoodTest, AnotherShapeIsANewDirectoryThatKeepsTheOthers) {
    auto first = replica_with(key(1));
    auto second = replica_with(key(1));
    neighbours.load(0, first);
    neighbours.load(1, second);
    const auto before = neighbours.take_view();
    EXPECT_EQ(before->directory->candidates(asked(key(1))), (summary::PeerSet{0, 1}));
    first.apply_snapshot(2, 0, filter_with(key(2), kLarger));
    neighbours.load(0, first);
    const auto after = neighbours.take_view();
    ASSERT_TRUE(after);
    EXPECT_NE(after->directory, before->directory);
    EXPECT_EQ(after->directory->candidates(asked(key(1))), (summary::PeerSet{1}));
    EXPECT_EQ(after->directory->candidates(asked(key(2))), (summary::PeerSet{0}));
    EXPECT_EQ(before->directory->candidates(asked(key(1))),
              (summary::PeerSet{0, 1}));  // readers of it are not disturbed
}

TEST_F(NeighbourhoodTest, ANewcomerTakesASpareLaneInsteadOfANewDirectory) {
    constexpr std::size_t kPeers = 5;
    Neighbourhood many;
    std::vector<summary::Replica> replicas;
    for (std::size_t i = 0; i < kPeers; ++i) {
        many.add_peer(i, std::string(1, static_cast<char>('a' + i)));
        many.place(i, {"127.0.0.1", 3128});
        replicas.push_back(replica_with(key(i)));
    }
    std::set<const summary::Directory*> seen;
    std::shared_ptr<const PeerView> view;
    for (std::size_t i = 0; i < kPeers; ++i) {
        many.load(i, replicas[i]);
        many.set_in_sync(i, true);
        if (auto next = many.take_view()) view = std::move(next);
        seen.insert(view->directory.get());
        EXPECT_TRUE(view->peers[i].in_sync);
        EXPECT_TRUE(view->directory->candidates(asked(key(i))).contains(static_cast<unsigned>(i)));
    }
    EXPECT_EQ(seen.size(), 4U) << "of 1, 2, 4 and 8 lanes";
}

TEST_F(NeighbourhoodTest, AFormerPeerCountsInNoView) {
    auto first = replica_with(key(1));
    auto second = replica_with(key(1));
    neighbours.begin_feed(0, {"token", 7});
    neighbours.load(0, first);
    neighbours.load(1, second);
    neighbours.set_in_sync(0, true);
    const auto before = neighbours.take_view();
    neighbours.end_feed(0);
    EXPECT_EQ(before->directory->candidates(asked(key(1))), (summary::PeerSet{1}));
    const auto after = neighbours.take_view();
    ASSERT_TRUE(after);
    EXPECT_FALSE(after->peers[0].in_sync);
    EXPECT_TRUE(after->peers[0].token.empty());
    EXPECT_EQ(after->directory->candidates(asked(key(1))), (summary::PeerSet{1}));
}

TEST_F(NeighbourhoodTest, AReturningPeerCountsAgain) {
    auto replica = replica_with(key(1));
    neighbours.load(0, replica);
    neighbours.end_feed(0);
    neighbours.take_view();
    auto later = replica_with(key(2));
    neighbours.load(0, later);
    neighbours.begin_feed(0, {"token", 7});
    const auto view = neighbours.take_view();
    ASSERT_TRUE(view);
    EXPECT_TRUE(view->directory->candidates(asked(key(1))).empty());
    EXPECT_EQ(view->directory->candidates(asked(key(2))), (summary::PeerSet{0}));
}

TEST_F(NeighbourhoodTest, ARebuiltDirectoryForgetsWhoIsGone) {
    auto first = replica_with(key(1));
    neighbours.load(0, first);
    neighbours.end_feed(0);
    auto second = replica_with(key(1), kLarger);
    neighbours.load(1, second);
    EXPECT_EQ(neighbours.take_view()->directory->candidates(asked(key(1))), (summary::PeerSet{1}));
}

TEST_F(NeighbourhoodTest, ALinkThatEndsBeforeItsSummaryCameIsNoTrouble) {
    neighbours.begin_feed(0, {"token", 7});
    neighbours.end_feed(0);
    neighbours.end_feed(0);
    EXPECT_TRUE(neighbours.take_view()->peers[0].token.empty());
}

/// A feed without a link: it reads a whole summary from time to time, as a reader of Squid's
/// cache digests would.
class DigestReader {
public:
    DigestReader(Neighbourhood& neighbours, std::size_t peer)
        : neighbours_(neighbours), peer_(peer) {
        neighbours_.begin_feed(peer_, {});
    }
    ~DigestReader() { neighbours_.end_feed(peer_); }
    void read(summary::Filter digest) {
        replica_.apply_snapshot(++reads_, 0, std::move(digest));
        neighbours_.load(peer_, replica_);
        neighbours_.set_in_sync(peer_, true);
    }

private:
    Neighbourhood& neighbours_;
    std::size_t peer_;
    summary::Replica replica_;
    std::uint64_t reads_ = 0;
};

TEST_F(NeighbourhoodTest, ASummaryMayComeFromAFeedWithoutALink) {
    auto linked = replica_with(key(1));
    neighbours.begin_feed(0, {"token", 7});
    neighbours.load(0, linked);
    neighbours.set_in_sync(0, true);
    EXPECT_FALSE(neighbours.can_be_asked(1)) << "no feed yet";
    {
        DigestReader reader(neighbours, 1);
        reader.read(filter_with(key(1)));
        auto view = neighbours.take_view();
        EXPECT_EQ(view->directory->candidates(asked(key(1))), (summary::PeerSet{0, 1}));
        EXPECT_TRUE(view->peers[1].in_sync && view->peers[1].can_be_asked());
        EXPECT_EQ(view->peers[1].token, "") << "such a peer asks for none";
        reader.read(filter_with(key(2), kLarger));
        while (neighbours.busy()) neighbours.work();
        view = neighbours.take_view();
        EXPECT_EQ(view->directory->candidates(asked(key(1))), (summary::PeerSet{0}));
        EXPECT_EQ(view->directory->candidates(asked(key(2))), (summary::PeerSet{1}));
        EXPECT_TRUE(view->peers[1].in_sync);
    }
    const auto view = neighbours.take_view();
    EXPECT_FALSE(view->peers[1].in_sync || view->peers[1].can_be_asked());
    EXPECT_TRUE(view->directory->candidates(asked(key(2))).empty());
    EXPECT_EQ(view->directory->candidates(asked(key(1))), (summary::PeerSet{0}));
}

}  // namespace neighbourhood_test
}  // namespace protocol::test
