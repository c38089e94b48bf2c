#include <future>
#include <mutex>

#include "proxy/upstream/round_trip.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace peer_race_test {

using namespace std::chrono_literals;

/// Nodes a and b, with a scripted stand-in where b looks for a's objects: the order of the
/// requests, and the answer that counts.
class PeerRequestPlan : public NodesTest {
protected:
    PeerRequestPlan() { encrypt = false; }
    void start_with(const ScriptedOrigin& stand_in, std::chrono::nanoseconds budget,
                    std::chrono::nanoseconds detour = 1h) {
        auto settings = config("b", 2);
        settings.cluster->peers.front().http = {"127.0.0.1", stand_in.port()};
        set_peer_budget(budget);
        constants.peers.detour = detour;
        start(config("a", 2));
        start(settings);
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    std::future<Answer> begin_get(const std::string& target) {
        return std::async(std::launch::async, [this, target] { return get("b", target); });
    }
    /// A stand-in that has the requested object, and gives it when it may.
    struct HeldPeer {
        Gate may;
        ScriptedOrigin stand_in{[this](Exchange& e) {
            may.wait();
            e.answer(fresh(), "body of the peer");
        }};
    };
    WorkerCounters work() const { return status("b").work; }
    bool books_balance(std::uint64_t given) const {
        const auto peer = seen("b", "a");
        return peer.hits <= given && given <= peer.hits + peer.too_old + peer.failures;
    }
};

TEST_F(PeerRequestPlan, APeersAnswerCountsThoughTheOriginWasAskedMeanwhile) {
    Gate origin_may;
    HeldPeer peer;
    start_with(peer.stand_in, 100ms);
    store("a", "/one");
    const auto asked = origin.requests();
    const auto slow = origin.set([&](Exchange& e) {
        origin_may.wait();
        e.answer(fresh(), "body of the origin");
    });
    auto answer = begin_get("/one");
    ASSERT_TRUE(eventually([&] { return origin.requests() == asked + 1; }));
    peer.may.open();
    const auto got = answer.get();
    EXPECT_EQ(got.body, "body of the peer");
    EXPECT_NE(got.cache_status().find("PEER_a"), std::string::npos);
    const auto counted = work();
    EXPECT_EQ(counted.requests[Outcome::peer_hit], 1u);
    EXPECT_EQ(counted.origin_requests, 1u);
    EXPECT_EQ(counted.origin_hedges, 1u);
    EXPECT_EQ(counted.origin_hedges_outrun, 1u);
    EXPECT_EQ(seen("b", "a").hits, 1u);
    EXPECT_EQ(seen("b", "a").failures, 0u);
    origin_may.open();
    EXPECT_EQ(get("b", "/one").body, "body of the peer");  // what the origin said is not kept
}

TEST_F(PeerRequestPlan, TheOriginsAnswerCountsWhenItIsFirstAndThePeersTimeIsLearntAllTheSame) {
    HeldPeer peer;
    start_with(peer.stand_in, 100ms);
    store("a", "/one");
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(work().requests[Outcome::origin_fetch], 1u);
    EXPECT_EQ(work().origin_hedges, 1u);
    EXPECT_EQ(work().origin_hedges_outrun, 0u);
    EXPECT_EQ(seen("b", "a").failures, 1u);
    EXPECT_EQ(seen("b", "a").round_trip_seconds, 0.0);
    peer.may.open();
    ASSERT_TRUE(eventually([&] { return seen("b", "a").round_trip_seconds > 0; }));
    EXPECT_GE(seen("b", "a").round_trip_seconds, 0.1);
    EXPECT_TRUE(books_balance(1));
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(seen("b", "a").asked, 1u);
}

TEST_F(PeerRequestPlan, APeerRequestThatGetsLostIsRepeatedBeforeTheOriginsTurn) {
    Gate never;
    std::mutex mutex;
    bool lost = false;
    ScriptedOrigin stand_in([&](Exchange& e) {
        if (e.target.ends_with("/lost")) {
            std::unique_lock lock(mutex);
            if (!std::exchange(lost, true)) {
                lock.unlock();
                never.wait();
                e.keep = false;
                return;
            }
        }
        int looks = 0;  // some milliseconds away: nearer peers are not asked twice
        eventually([&] { return ++looks > 5; });
        e.answer(fresh(), "body of the peer");
    });
    start_with(stand_in, 30s);
    const auto first = RoundTrip::kWellKnownAfter;  // so many show how far it is
    for (unsigned i = 0; i < first; ++i) {
        store("a", "/" + std::to_string(i));
        EXPECT_EQ(get("b", "/" + std::to_string(i)).body, "body of the peer");
    }
    store("a", "/lost");
    EXPECT_EQ(get("b", "/lost").body, "body of the peer");
    EXPECT_EQ(work().peer_repeats, 1u);
    EXPECT_EQ(work().peer_requests, first + 2);
    EXPECT_EQ(work().origin_requests, 0u);
    EXPECT_EQ(seen("b", "a").hits, first + 1);
    never.open();
}

TEST_F(PeerRequestPlan, AQuestionThatGoesOutAgainOnANewConnectionStandsInTheBooksTwice) {
    std::atomic<bool> given_once = false;
    ScriptedOrigin stand_in([&](Exchange& e) {  // its first answer to /two gets lost
        if (e.target.ends_with("/two") && !given_once.exchange(true)) {
            e.keep = false;
            return;
        }
        e.answer(fresh(), "body of the peer");
    });
    start_with(stand_in, 30s);
    for (const auto* target : {"/one", "/two"}) {
        store("a", target);
        EXPECT_EQ(get("b", target).body, "body of the peer");
    }
    EXPECT_EQ(seen("b", "a").hits, 2u);
    EXPECT_EQ(seen("b", "a").asked, 3u);
    EXPECT_EQ(seen("b", "a").failures, 1u);
    EXPECT_TRUE(books_balance(3));
}

TEST_F(PeerRequestPlan, NobodyWaitsForAPeerThatIsFartherThanTheOrigin) {
    Gate later;
    ScriptedOrigin stand_in([&](Exchange& e) {
        if (e.target.ends_with("/first"))  // after the budget, as the origin is asked only then
            eventually([&] { return work().requests[Outcome::origin_fetch] == 1; });
        else
            later.wait();
        e.answer(fresh(), "body of the peer");
    });
    start_with(stand_in, 200ms, 0ms);
    for (const auto* target : {"/first", "/second", "/third"}) store("a", target);
    EXPECT_EQ(get("b", "/first").body, "body of /first");
    EXPECT_EQ(work().peers_too_far, 0u);
    ASSERT_TRUE(eventually([&] { return seen("b", "a").round_trip_seconds > 0; }));
    const auto origins = status("b").cluster.origins;
    ASSERT_EQ(origins.size(), 1u);
    ASSERT_LT(origins[0].peer_limit_seconds, seen("b", "a").round_trip_seconds);
    // It is asked beside the origin, as one answer alone tells little.
    EXPECT_EQ(get("b", "/second").body, "body of /second");
    EXPECT_EQ(get("b", "/third").body, "body of /third");
    EXPECT_EQ(work().peers_too_far, 2u);
    EXPECT_EQ(work().origin_hedges, 3u);
    EXPECT_EQ(work().requests[Outcome::origin_fetch], 3u);
    EXPECT_EQ(seen("b", "a").asked, 3u);
    EXPECT_EQ(seen("b", "a").breaker_open_seconds, 0.0);  // that is no failure
    later.open();
}

TEST_F(PeerRequestPlan, APeerIsWaitedForOnWhenTheOriginFails) {
    HeldPeer peer;
    start_with(peer.stand_in, 100ms);
    store("a", "/one");
    const auto asked = origin.requests();
    const auto broken = origin.set([](Exchange& e) {
        e.send("220 smtp\r\n\r\n");
        e.keep = false;
    });
    auto answer = begin_get("/one");
    ASSERT_TRUE(eventually([&] { return origin.requests() == asked + 1; }));
    ASSERT_TRUE(eventually([&] { return work().origin_failures == 1; }));
    peer.may.open();
    EXPECT_EQ(answer.get().body, "body of the peer");
    EXPECT_EQ(work().requests[Outcome::error], 0u);
}

}  // namespace peer_race_test
}  // namespace proxy::test
