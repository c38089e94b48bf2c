#include "proxy/upstream/hedged_fetch.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace hedged_fetch_test {

using namespace std::chrono_literals;

/// Requests to two peers and the origin. No connection is available, so each fails when it runs.
class HedgedFetchTest : public ::testing::Test, protected test::IdleCache {
protected:
    HedgedFetchTest() {
        auto peers = std::make_shared<protocol::PeerView>();
        peers->peers.resize(2);
        peers->peers.set(0, {"b", {"127.0.0.1", 80}, "token", true, {}, 0, true});
        peers->peers.set(1, {"c", {"127.0.0.1", 81}, "token", true, {}, 0, true});
        upstream.set_peers(peers);
        view = std::move(peers);
    }

    std::shared_ptr<PeerAttempt> peer(std::size_t number) {
        return std::make_shared<PeerAttempt>(upstream, PeerOfView{view, number},
                                             PeerPatience{50ms, 2s}, true);
    }
    std::shared_ptr<OriginAttempt> origin() {
        return std::make_shared<OriginAttempt>(upstream, job->wanted.request, false);
    }

    std::shared_ptr<const protocol::PeerView> view;
    HedgedFetch race{upstream, std::make_shared<base::Wakeup>(io.get_executor())};
};

TEST_F(HedgedFetchTest, GivesEachPeerThatHasEndedOnce) {
    const auto first = peer(0), second = peer(1);
    ASSERT_TRUE(race.start(first, "GET"));
    ASSERT_TRUE(race.start(second, "GET"));
    EXPECT_EQ(race.peers_open(), 2u);
    EXPECT_EQ(race.take_ended(), nullptr);
    io.poll();
    EXPECT_EQ(race.peers_open(), 0u);
    EXPECT_EQ(race.take_ended(), first.get());
    EXPECT_EQ(race.take_ended(), second.get());
    EXPECT_EQ(race.take_ended(), nullptr);
    EXPECT_EQ(first->verdict, PeerVerdict::failure);
}

TEST_F(HedgedFetchTest, MakesLosersOfAllButTheWinner) {
    const auto winner = peer(0), loser = peer(1);
    race.start(winner, "GET");
    race.start(loser, "GET");
    race.won_by(winner.get());
    EXPECT_FALSE(winner->lost);
    EXPECT_TRUE(loser->lost);
}

TEST_F(HedgedFetchTest, CountsAnOriginRequestBesidePeersAndItsLoss) {
    const auto runner = origin();
    ASSERT_TRUE(race.start(runner));
    EXPECT_EQ(counters.origin_hedges, 1u);
    runner->lose();
    EXPECT_EQ(counters.origin_hedges_outrun, 1u);
    runner->lose();
    EXPECT_EQ(counters.origin_hedges_outrun, 1u);
    io.poll();
    EXPECT_EQ(runner->result, FetchError::busy);
}

TEST_F(HedgedFetchTest, AnOriginRequestThatWasTakenIsNotLost) {
    const auto runner = origin();
    race.start(runner);
    io.poll();
    runner->take();
    runner->lose();
    EXPECT_FALSE(runner->lost);
    EXPECT_EQ(counters.origin_hedges_outrun, 0u);
}

TEST_F(HedgedFetchTest, StartsNothingInAWorkerThatStops) {
    upstream.fetches.close();
    EXPECT_FALSE(race.start(peer(0), "GET"));
    const auto runner = origin();
    EXPECT_FALSE(race.start(runner));
    EXPECT_FALSE(runner->under_way);
    EXPECT_EQ(counters.origin_hedges, 0u);
}

}  // namespace hedged_fetch_test
}  // namespace proxy
