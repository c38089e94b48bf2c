#include "protocol/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>

#include "protocol/wire/heartbeat.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/fake_peer.hpp"

namespace protocol::test {
namespace cluster_test {

TEST_F(ClusterTest, TwoNodesSeeWhatEachOtherStoresAndRemoves) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/1"); }));
    EXPECT_FALSE(a.sees("b", "http://x/1"));
    EXPECT_FALSE(b.sees("a", "http://x/2"));
    a.remove("http://x/1");
    EXPECT_TRUE(run_until([&] { return !b.sees("a", "http://x/1"); }));
}

TEST_F(ClusterTest, TheFirstSnapshotHasKeysFromBeforeTheStart) {
    auto& a = add(config("a"));
    a.store("http://x/1");
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return b.in_sync_with("a"); }));
    EXPECT_TRUE(run_until([&] { return b.sees("a", "http://x/1"); }));
    EXPECT_TRUE(run_until([&] { return b.status_of("a").objects == 1; }));
}

TEST_F(ClusterTest, ChangesOfOneTurnOfTheLoopGoOutAsOneAnnouncement) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto before = a.status_of("b").announcements_sent;
    for (int i = 0; i < 200; ++i) a.store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/199"); }));
    EXPECT_EQ(a.status_of("b").announcements_sent, before + 1);
}

TEST_F(ClusterTest, FewChangesAmongManyWaitForTheDelay) {
    auto slow = config("a");
    slow.summary.announce.changed = 0.5;
    slow.summary.announce.delay = 100ms;
    auto& a = add(slow);
    auto& b = add(config("b"));
    for (int i = 0; i < 100; ++i) a.store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return all_in_sync() && b.sees("a", "http://x/99"); }));
    const auto told_at = std::chrono::steady_clock::now();
    a.store("http://x/one more");
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/one more"); }));
    EXPECT_GE(std::chrono::steady_clock::now() - told_at, 100ms);
}

TEST_F(ClusterTest, ThreeNodesDistinguishThePeers) {
    auto& a = add(config("a", 3));
    auto& b = add(config("b", 3));
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    a.store("only a");
    b.store("a or b, says c");
    a.store("a or b, says c");
    ASSERT_TRUE(run_until([&] {
        return c.sees("a", "only a") && c.sees("b", "a or b, says c") &&
               c.sees("a", "a or b, says c") && b.sees("a", "only a");
    }));
    EXPECT_FALSE(c.sees("b", "only a"));
    EXPECT_FALSE(a.sees("c", "only a"));
}

TEST_F(ClusterTest, TokensOfALinkAreAcceptedByThePublisherOnly) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto token = b.peer("a").token;  // b asks a
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(a.view->authenticate("b", token), a.index("b"));
    EXPECT_EQ(b.view->authenticate("a", token), std::nullopt);
    EXPECT_EQ(a.view->authenticate("a", token), std::nullopt);
    EXPECT_EQ(a.view->authenticate("b", ""), std::nullopt);
    EXPECT_EQ(a.view->authenticate("b", a.peer("b").token), std::nullopt);
}

TEST_F(ClusterTest, TheTokenOfTheLinkBeforeStaysGood) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto first = b.peer("a").token;
    b.restart();
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    EXPECT_TRUE(a.view->authenticate("b", first));
    b.restart();
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    EXPECT_FALSE(a.view->authenticate("b", first));
    EXPECT_TRUE(a.view->authenticate("b", b.peer("a").token));
}

TEST_F(ClusterTest, TooManyFalseHitsMakeTheOwnSummaryLessWrongWithoutAFalseMiss) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    for (int i = 0; i < 5000; ++i) a.store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/4999"); }));
    const auto bits = b.status_of("a").bits;
    const auto misses = 1'000'000u;
    const auto allowed = static_cast<std::uint64_t>(a.config.summary.false_hit_budget * misses);
    a.cluster->note_false_hits({misses, allowed});
    EXPECT_FALSE(run_until([&] { return b.status_of("a").bits != bits; }, 200ms))
        << "as many as the budget says";
    // One step may find room in the shape that is there; all of them do not.
    for (unsigned i = 1; i <= summary::ErrorControl::kMaxHalvings; ++i)
        a.cluster->note_false_hits({(1 + i) * misses, allowed + i * 3 * allowed});
    bool all_seen = true;
    EXPECT_TRUE(run_until([&] {
        all_seen = all_seen && b.sees("a", "http://x/0") && b.sees("a", "http://x/4999");
        return b.status_of("a").bits > bits;
    }));
    EXPECT_TRUE(all_seen);
}

TEST_F(ClusterTest, AShapeOutgrownIsANewEpochThatPeersFollow) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto epoch = b.status_of("a").epoch;
    const auto bits = b.status_of("a").bits;
    for (int i = 0; i < 5000; ++i) a.store("http://x/" + std::to_string(i));
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/4999"); }));
    EXPECT_GT(b.status_of("a").epoch, epoch);
    EXPECT_GT(b.status_of("a").bits, bits);
    for (int i = 0; i < 5000; ++i) ASSERT_TRUE(b.sees("a", "http://x/" + std::to_string(i)));
    EXPECT_TRUE(b.in_sync_with("a"));
}

TEST_F(ClusterTest, NodesWithSummariesOfSeveralKindsAreInStep) {
    std::vector<TestNode*> nodes;
    for (const auto kind : summary::kKinds) {
        auto configured = config(std::string(1, static_cast<char>('a' + nodes.size())), 3);
        configured.summary.kind = kind;
        nodes.push_back(&add(configured));
    }
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto url = [](std::size_t node, int i) {
        return "http://" + std::to_string(node) + '/' + std::to_string(i);
    };
    const auto name = [](std::size_t node) {
        return std::string(1, static_cast<char>('a' + node));
    };
    const auto all_see = [&](int i) {
        return run_until([&] {
            for (std::size_t of = 0; of < nodes.size(); ++of) {
                for (std::size_t by = 0; by < nodes.size(); ++by) {
                    if (by != of && !nodes[by]->sees(name(of), url(of, i))) return false;
                }
            }
            return true;
        });
    };
    // Enough for another size of each.
    for (int i = 0; i < 6000; ++i) {
        for (std::size_t of = 0; of < nodes.size(); ++of) nodes[of]->store(url(of, i));
    }
    ASSERT_TRUE(all_see(5999));
    for (int i = 0; i < 6000; i += 2) {
        for (std::size_t of = 0; of < nodes.size(); ++of) nodes[of]->remove(url(of, i));
    }
    for (std::size_t of = 0; of < nodes.size(); ++of) nodes[of]->store(url(of, 6000));
    ASSERT_TRUE(all_see(6000));
    EXPECT_TRUE(all_in_sync());
    for (std::size_t of = 0; of < nodes.size(); ++of) {
        auto& by = *nodes[(of + 1) % nodes.size()];
        EXPECT_EQ(nodes[of]->cluster->status().own.kind, summary::name(summary::kKinds[of]));
        int gone_but_seen = 0;
        for (int i = 0; i < 6000; ++i) {
            const bool seen = by.sees(name(of), url(of, i));
            ASSERT_TRUE(seen || i % 2 == 0) << name(of) << i;
            if (seen && i % 2 == 0) ++gone_but_seen;
        }
        EXPECT_LT(gone_but_seen, 60) << name(of);
        EXPECT_EQ(by.status_of(name(of)).check_failures, 0U);
    }
}

TEST_F(ClusterTest, AWithdrawnSummaryNoLongerCountsButPeersAreStillHeard) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    a.store("mine");
    b.store("theirs");
    ASSERT_TRUE(run_until([&] { return b.sees("a", "mine") && a.sees("b", "theirs"); }));
    a.cluster->withdraw();
    ASSERT_TRUE(run_until([&] { return !b.sees("a", "mine"); }));
    EXPECT_EQ(b.status_of("a").state, PeerState::withdrawn);
    EXPECT_EQ(b.status_of("a").last_end.reason(), "goodbye");
    b.store("later");
    EXPECT_TRUE(run_until([&] { return a.sees("b", "later"); }));
}

TEST_F(ClusterTest, ANodeThatComesWhileAPeerDrainsLearnsThatThePeerHasLeft) {
    auto& a = add(impatient(config("a")));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    b.cluster->withdraw();
    ASSERT_TRUE(run_until([&] { return a.status_of("b").state == PeerState::withdrawn; }));
    a.restart();  // it has not heard the goodbye, and b dials nobody any more
    ASSERT_TRUE(run_until([&] { return a.status_of("b").state == PeerState::withdrawn; }));
    EXPECT_TRUE(a.status_of("b").publishing);
    EXPECT_EQ(a.status_of("b").cause, "");
}

TEST_F(ClusterTest, ALeavingNodeLearnsWhenItsPeersHaveReadTheGoodbye) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    bool known = false;
    auto wait = [](Cluster& cluster, bool& done) -> base::awaitable<void> {
        co_await cluster.wait_withdrawn(base::Clock::time_point::max());
        done = true;
    };
    a.cluster->withdraw();
    boost::asio::co_spawn(*a.io, wait(*a.cluster, known), boost::asio::detached);
    for (int i = 0; i < 100; ++i) {  // b is stopped
        a.io->restart();
        a.io->poll();
    }
    EXPECT_FALSE(known);
    ASSERT_TRUE(run_until([&] { return known; }));
    EXPECT_EQ(b.status_of("a").state, PeerState::withdrawn);
}

TEST_F(ClusterTest, ManyWhoTakeConnectionsAndAreSilentKeepNobodyWaiting) {
    const boost::asio::ip::tcp::endpoint stopped(boost::asio::ip::make_address(address(200)), 3129);
    const boost::asio::ip::tcp::acceptor kernel(helpers_, stopped);  // which takes connections
    auto hopeful = config("a");
    hopeful.timings.hello = 10min;
    for (int i = 0; i < 60; ++i) {
        auto peer = peer_config("b");
        peer.node = "stopped-" + std::to_string(i);
        peer.link.host = address(200);
        hopeful.peers.push_back(peer);
    }
    auto& a = add(hopeful);
    auto& b = add(config("b"));
    a.store("mine");
    EXPECT_TRUE(run_until([&] { return b.sees("a", "mine"); }));
}

TEST_F(ClusterTest, AnAnnouncementDoesNotWaitForAHeartbeat) {
    auto first = config("a");
    auto second = config("b");
    first.timings.heartbeat = second.timings.heartbeat = 1min;
    first.timings.gone_after = second.timings.gone_after = 5min;
    auto& a = add(first);
    auto& b = add(second);
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    a.store("mine");
    EXPECT_TRUE(run_until([&] { return b.sees("a", "mine"); }));
    a.cluster->withdraw();
    EXPECT_TRUE(run_until([&] { return b.status_of("a").state == PeerState::withdrawn; }));
}

TEST_F(ClusterTest, ANodeOfManyPeersBeatsSeldomIsNotTakenForGoneAndAnnouncesAtOnce) {
    auto many = config("a");
    many.timings.heartbeat = 100ms;
    many.summary.announce.delay = 1ms;
    many.max_peers = kMaxPeers;
    many.timings.reconnect_min = many.timings.reconnect_max = 10min;  // nobody is there
    while (many.peers.size() < 640) {
        auto absent = peer_config("c");
        absent.node = "absent-" + std::to_string(many.peers.size());
        many.peers.push_back(absent);
    }
    auto hurried = config("b");
    hurried.timings.heartbeat = 100ms;
    hurried.timings.gone_after = 300ms;
    auto& a = add(many);
    auto& b = add(hurried);
    ASSERT_TRUE(run_until([&] { return b.in_sync_with("a"); }));
    const auto beats = [&] { return b.status_of("a").heartbeats_received; };
    bool lost = false;
    const auto hears = [&](std::uint64_t more) {
        const auto until = beats() + more;
        return run_until([&] {
            lost = lost || !b.in_sync_with("a");
            return beats() >= until;
        });
    };
    ASSERT_TRUE(hears(1));
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(hears(2));
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_GE(took, beat_interval(100ms, 640)) << "the first one may come a turn sooner";
    EXPECT_FALSE(lost);
    ASSERT_TRUE(hears(1));
    const auto heard = beats();
    a.store("mine");
    EXPECT_TRUE(run_until([&] { return b.sees("a", "mine"); }));
    EXPECT_EQ(beats(), heard);
    EXPECT_FALSE(lost);
}

TEST_F(ClusterTest, StatusReportsTheCountersOfBothSides) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return b.sees("a", "http://x/1"); }));
    ASSERT_TRUE(run_until([&] { return b.status_of("a").heartbeats_received >= 2; }));
    const auto sent = a.status_of("b");
    const auto received = b.status_of("a");
    EXPECT_EQ(received.state, PeerState::in_sync);
    EXPECT_TRUE(sent.publishing);
    EXPECT_EQ(sent.announcements_sent, received.announcements_received);
    EXPECT_EQ(sent.snapshots_sent, received.snapshots_received);
    EXPECT_EQ(received.epoch, a.cluster->status().own.epoch);
    EXPECT_EQ(received.generation, a.cluster->status().own.generation);
    EXPECT_EQ(a.cluster->status().announcement_bytes_sent,
              b.cluster->status().announcement_bytes_received);
    EXPECT_LT(received.lag_seconds, 1.0);
    EXPECT_GT(a.cluster->status().bytes_sent, 0U);
}

TEST_F(ClusterTest, AnnouncementBytesAreThoseOfDeltasAndSnapshotsOnALink) {
    FakePeer b{helpers_, "b", kKey};
    b.listen(address_of("b"));
    auto& a = add(config("a"));
    ASSERT_TRUE(run_until([&] { return b.heard<SnapshotPart>() == 1; }));
    a.store("http://x/1");  // of so few objects a snapshot may be shorter than a delta
    ASSERT_TRUE(run_until([&] { return b.heard<Delta>() + b.heard<SnapshotPart>() == 2; }));
    a.invalidate("http://x/2");
    ASSERT_TRUE(run_until([&] { return b.heard<Invalidate>() == 1 && b.heard<Heartbeat>() > 0; }));
    const auto sent = a.cluster->status();
    EXPECT_EQ(sent.announcements_sent, 2U);
    EXPECT_GT(b.announcement_bytes(), 0U);
    EXPECT_EQ(sent.announcement_bytes_sent, b.announcement_bytes());
    EXPECT_GT(sent.bytes_sent, sent.announcement_bytes_sent);
    EXPECT_EQ(sent.announcement_bytes_received, 0U);
}

TEST_F(ClusterTest, WorksWithoutPeersAndWithoutAKey) {
    PeeringConfig alone;
    alone.node = "a";
    auto& a = add(alone);
    EXPECT_TRUE(a.view->peers.empty());
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return a.cluster->status().own.generation == 1; }));
    EXPECT_EQ(a.cluster->status().own.objects, 1U);
    EXPECT_GT(a.cluster->status().own.fill_ratio, 0);
    a.cluster->stop();
    a.io->restart();
    a.io->run();  // runs out of work
}

TEST_F(ClusterTest, StopLetsTheLoopRunOutOfWork) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    for (auto* node : {&a, &b}) {
        node->cluster->stop();
        node->cluster->stop();
        node->io->restart();
        node->io->run();
    }
    EXPECT_EQ(a.cluster->status().peers.size(), 1U);  // may still be asked
}

TEST_F(ClusterTest, StopBeforeTheLoopHasTurnedEndsWhatHasNotBegun) {
    boost::asio::io_context io;
    const auto cluster = std::make_shared<Cluster>(io, config("a"), ClusterHooks{});
    boost::asio::post(io, [&] { cluster->stop(); });
    cluster->start();
    EXPECT_NO_THROW(io.run());
}

TEST_F(ClusterTest, AListenAddressInUseIsNamedInTheError) {
    add(config("a"));
    boost::asio::io_context io;
    Cluster second(io, config("a"), ClusterHooks{});
    try {
        second.start();
        FAIL() << "started";
    } catch (const boost::system::system_error& error) {
        EXPECT_EQ(error.code(), boost::asio::error::address_in_use);
        EXPECT_NE(std::string(error.what()).find(address_of("a") + ":3129"), std::string::npos);
    }
}

TEST_F(ClusterTest, ConfigurationsThatCannotWorkAreRefused) {
    boost::asio::io_context io;
    const auto refused = [&](PeeringConfig bad) {
        EXPECT_THROW(Cluster(io, std::move(bad), ClusterHooks{}), std::invalid_argument);
    };
    auto bad = config("a");
    bad.security.keys = {"short"};
    refused(bad);
    bad = config("a");
    bad.security.keys = {kKey, kOtherKey, kKey};
    refused(bad);
    bad = config("a");
    bad.security.keys.clear();
    refused(bad);
    bad = config("a");
    bad.peers.push_back(peer_config("b"));
    refused(bad);
    bad = config("a");
    bad.node.clear();
    refused(bad);
    bad = config("a");
    bad.timings.gone_after = bad.timings.heartbeat;
    refused(bad);
}

TEST_F(ClusterTest, GoesOnUnderAnotherConfigurationAtTheSamePort) {
    auto& a = add(config("a"));
    auto& b = add(config("b"));
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return all_in_sync() && b.sees("a", "http://x/1"); }));
    a.config = config("a", 3);
    a.config.security.keys = {kOtherKey, kKey};
    auto next = std::make_shared<Cluster>(*a.io, a.config,
                                          ClusterHooks{[&a](auto view) { a.view = view; }, {}, {}});
    next->start_in_place_of(*a.cluster);
    a.cluster = std::move(next);
    EXPECT_EQ(a.cluster->link_port(), 3129);
    EXPECT_EQ(a.view->peers.size(), 2u);
    EXPECT_FALSE(a.in_sync_with("b"));
    a.store("http://x/2");
    auto& c = add([this] {
        auto third = config("c", 3);
        third.security.keys = {kOtherKey, kKey};
        return third;
    }());
    ASSERT_TRUE(run_until([&] {
        return b.sees("a", "http://x/2") && c.sees("a", "http://x/1") && a.in_sync_with("b") &&
               a.in_sync_with("c");
    }));
    EXPECT_TRUE(b.sees("a", "http://x/1"));
    EXPECT_EQ(b.refusals("duplicate_id"), 0u);  // it is the same instance
    EXPECT_EQ(a.cluster->status().own.objects, 2u);
}

/// The next cluster takes over after each number of handlers since the one before, so at every
/// step of a hello, of a snapshot and of a heartbeat.
TEST_F(ClusterTest, AReplacedClusterTouchesNothingThatItHasHandedOver) {
    auto settings = config("a");
    settings.timings.heartbeat = settings.timings.check_hash = 1ms;
    auto& a = add(settings);
    auto& b = add(config("b"));
    a.store("http://x/1");
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    for (int handlers = 0; handlers < 200; ++handlers) {
        a.store("http://x/" + std::to_string(handlers));
        const auto latest = base::Clock::now() + 20ms;
        for (int left = handlers; left > 0 && base::Clock::now() < latest;) {
            turn(*b.io);
            a.io->restart();
            if (a.io->poll_one() > 0) --left;
        }
        bool reloaded = false;
        boost::asio::post(*a.io, [&] {
            a.reload();
            reloaded = true;
        });
        ASSERT_TRUE(run_until([&] { return reloaded; }));
    }
    ASSERT_TRUE(run_until([&] {
        return all_in_sync() && a.status_of("b").publishing && b.sees("a", "http://x/199");
    }));
    EXPECT_EQ(a.cluster->status().own.objects, 200U);
    EXPECT_EQ(b.refusals("duplicate_id"), 0U);
}

TEST_F(ClusterTest, PeersAreFoundByName) {
    auto by_name = config("b");
    by_name.listen->host = "localhost";
    by_name.listen->port = 0;
    auto& b = add(by_name);
    auto dialler = config("a");
    dialler.peers[0].link.host = "localhost";
    dialler.peers[0].link.port = b.cluster->link_port();
    auto& a = add(dialler);
    a.store("http://x/1");
    EXPECT_TRUE(run_until([&] { return b.sees("a", "http://x/1"); }));
}

}  // namespace cluster_test
}  // namespace protocol::test
