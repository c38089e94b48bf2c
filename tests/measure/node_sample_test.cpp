#include "measure/run/node_sample.hpp"

#include <gtest/gtest.h>

#include "proxy/admin/status_json.hpp"
#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace node_sample_test {

using namespace std::chrono_literals;
using Time = CounterTrack::Time;

constexpr const char* kStatus = R"({
  "node": "a", "uptime_seconds": 12.5, "ready": true, "something": ["new"],
  "requests": { "total": 100, "local_hit": 50, "peer_hit": 20, "origin_fetch": 25,
                "uncacheable": 3, "error": 2 },
  "upstream": { "origin_requests": 30, "peer_requests": 22 },
  "bytes": { "to_clients": 1000, "from_peers": 200, "from_origins": 300 },
  "cache": { "objects": 45, "memory_bytes": 9000, "disk_bytes": 0, "evictions": 4 },
  "cluster": { "announcements_sent": 7, "announcements_received": 8, "heartbeats_sent": 9,
    "bytes_sent": 700, "bytes_received": 800,
    "peers": [ { "node": "b", "epoch": 3, "state": "in_step", "asked": 22, "hits": 20,
                 "false_hits": 1, "stale_hits": 2, "refused": 3, "failures": 4, "given": 5,
                 "lag_seconds": 0.25, "objects": 60 },
               { "node": "c", "state": "connecting" } ] } })";

TEST(NodeStatus, GivesWhatReportsAreMadeOf) {
    std::string why;
    const auto n = parse_status(kStatus, why);
    ASSERT_TRUE(n) << why;
    EXPECT_EQ(n->node, "a");
    EXPECT_DOUBLE_EQ(n->uptime_seconds, 12.5);
    EXPECT_TRUE(n->ready);
    EXPECT_EQ(n->total, 100u);
    EXPECT_EQ(n->local_hit, 50u);
    EXPECT_EQ(n->peer_hit, 20u);
    EXPECT_EQ(n->origin_fetch, 25u);
    EXPECT_EQ(n->uncacheable, 3u);
    EXPECT_EQ(n->error, 2u);
    EXPECT_EQ(n->traffic.origin_requests, 30u);
    EXPECT_EQ(n->links.announcements_sent, 7u);
    EXPECT_EQ(n->links.bytes_sent, 700u);
    EXPECT_EQ(n->cache.objects, 45u);
    ASSERT_EQ(n->peers.size(), 2u);
    EXPECT_EQ(n->false_hits(), 1u);
    EXPECT_EQ(n->other_refusals(), 5u);
    EXPECT_EQ(n->failures(), 4u);
    EXPECT_EQ(n->peer("b")->served, 5u);
    EXPECT_EQ(n->peer("x"), nullptr);
}

TEST(NodeStatus, TellsOfRedirectsThatLeaveTheMirrors) {
    proxy::NodeStatus status;
    status.leaving.last_hour = {{"a.test", "cdn.test", 12}};
    std::string why;
    const auto n = parse_status(proxy::status_json(status), why);
    ASSERT_TRUE(n) << why;
    EXPECT_EQ(n->faults,
              std::vector<std::string>{"the origin of a.test redirects clients to cdn.test "
                                       "past the cache: 12 in the last hour"});
}

/// Gives the numbers of a table values of their own, upwards from `first`.
template <class Table, class Of>
void number(const Table& table, Of& counts, std::uint64_t first) {
    for (const auto& each : table) counts.*each.member = first++;
}
template <class Table, class Of>
void expect_same(const Table& table, const Of& one, const Of& other) {
    for (const auto& each : table) EXPECT_EQ(one.*each.member, other.*each.member) << each.path;
}

TEST(NodeStatus, GivesEveryNumberThatANodeDescribes) {
    proxy::NodeStatus status;
    auto& peer = status.cluster.peers.emplace_back();
    peer.node = "b";
    number(proxy::kTrafficCounters, status.work, 1000);
    number(proxy::kCacheCounters, status.cache, 2000);
    number(protocol::kLinkCounters, status.cluster, 3000);
    number(proxy::kPeerCounters, peer, 4000);
    number(proxy::kStoreDiskNumbers, status.store_disk, 5000);
    auto& disk = status.disk.emplace_back();
    disk.path = "/d";
    number(proxy::kDiskNumbers, disk, 6000);
    status.work.requests[proxy::Outcome::peer_hit] = 7;
    std::string why;
    const auto n = parse_status(proxy::status_json(status), why);
    ASSERT_TRUE(n) << why;
    expect_same(proxy::kTrafficCounters, n->traffic, proxy::TrafficCounters(status.work));
    expect_same(proxy::kCacheCounters, n->cache, status.cache);
    expect_same(proxy::kStoreDiskNumbers, n->store_disk, status.store_disk);
    ASSERT_EQ(n->disk.size(), 1u);
    EXPECT_EQ(n->disk[0].path, "/d");
    EXPECT_EQ(n->disk[0].state, "loading");
    expect_same(proxy::kDiskNumbers, proxy::DiskCounters(n->disk[0]), proxy::DiskCounters(disk));
    expect_same(protocol::kLinkCounters, n->links, protocol::LinkCounters(status.cluster));
    ASSERT_EQ(n->peers.size(), 1u);
    expect_same(proxy::kPeerCounters, proxy::PeerCounters(n->peers[0]), proxy::PeerCounters(peer));
    EXPECT_EQ(n->evictions, status.cache.evictions + status.cache.disk_evictions);
    EXPECT_EQ(n->total, 7u);
    EXPECT_EQ(n->peer_hit, 7u);
}

TEST(NodeStatus, TakesWhatIsNotNamedAsZero) {
    std::string why;
    const auto n = parse_status(R"({"requests": {"total": "many"}, "cluster": []})", why);
    ASSERT_TRUE(n);
    EXPECT_EQ(n->total, 0u);
    EXPECT_TRUE(n->peers.empty());
}

TEST(NodeStatus, SaysWhenItIsNone) {
    for (const auto* text : {"", "<html>", "[]", "{}", "{\"requests\":", "7"}) {
        std::string why;
        EXPECT_FALSE(parse_status(text, why)) << text;
        EXPECT_EQ(why, "the answer is not the status of a hearsay node");
    }
}

TEST(NodeStatus, IsFetchedFromTheAdminPort) {
    const ScriptedServer admin([](const Seen& seen) {
        if (seen.target() != "/api/v1/status") return Reply{"HTTP/1.1 404 No\r\n\r\n", true};
        return Reply{std::string("HTTP/1.0 200 OK\r\n\r\n") + kStatus, true};
    });
    std::string why;
    const auto status = fetch_status(admin.address(), 5s, why);
    ASSERT_TRUE(status) << why;
    EXPECT_EQ(status->total, 100u);
    EXPECT_FALSE(fetch_status(nobody(), 5s, why));
    EXPECT_EQ(why, "Connection refused");
}

TEST(NodeStatus, SaysWhatElseWasAnswered) {
    const ScriptedServer other([](const Seen&) { return Reply{"HTTP/1.0 503 No\r\n\r\n", true}; });
    std::string why;
    EXPECT_FALSE(fetch_status(other.address(), 5s, why));
    EXPECT_EQ(why, "status 503");
}

/// A node that has counted so much.
NodeSample at(double uptime, std::uint64_t total, std::uint64_t given_to_b = 0) {
    NodeSample n;
    n.node = "a";
    n.uptime_seconds = uptime;
    n.total = total;
    n.peers.push_back({});
    n.peers[0].node = "b";
    n.peers[0].served = given_to_b;
    return n;
}
Time second(double seconds) {
    return Time(std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds)));
}
/// A track of these samples, each asked and answered at once.
CounterTrack track_of(const std::vector<std::pair<double, NodeSample>>& samples) {
    CounterTrack track;
    for (const auto& [time, counters] : samples) {
        track.sample(counters, second(time), second(time + 0.001));
    }
    return track;
}

TEST(CounterTrack, CountsFromItsFirstSample) {
    EXPECT_FALSE(CounterTrack().sampled());
    EXPECT_EQ(CounterTrack().counted().total, 0u);
    EXPECT_TRUE(track_of({{0, at(100, 1000, 10)}}).sampled());
    EXPECT_EQ(track_of({{0, at(100, 1000, 10)}}).counted().total, 0u);
    const auto track =
        track_of({{0, at(100, 1000, 10)}, {1, at(101, 1500, 12)}, {2, at(102, 1600, 15)}});
    EXPECT_EQ(track.counted().total, 600u);
    EXPECT_EQ(track.counted().peer("b")->served, 5u);
    EXPECT_EQ(track.restarts(), 0u);
}

TEST(CounterTrack, SaysHowLevelsStandNow) {  // which may go down without a restart
    auto before = at(1, 0), after = at(2, 0);
    before.cache.objects = 10;
    before.cache.memory_bytes = 1000;
    before.cache.evictions = 3;
    before.traffic.origins_down = 2;
    after.cache.objects = 4;
    after.cache.memory_bytes = 400;
    after.cache.evictions = 9;
    const auto track = track_of({{0, before}, {1, after}});
    EXPECT_EQ(track.restarts(), 0u);
    EXPECT_EQ(track.objects_before(), 10u);
    EXPECT_EQ(track.counted().cache.objects, 4u);
    EXPECT_EQ(track.counted().cache.memory_bytes, 400u);
    EXPECT_EQ(track.counted().cache.evictions, 6u);
    EXPECT_EQ(track.counted().traffic.origins_down, 0u);
}

TEST(CounterTrack, CountsPeersThatAppearLater) {
    NodeSample alone = at(1, 0);
    alone.peers.clear();
    const auto track = track_of({{0, alone}, {1, at(2, 0, 7)}});
    EXPECT_EQ(track.counted().peer("b")->served, 7u);
}

TEST(CounterTrack, NoticesARestartByCountersThatGoBack) {
    const auto track = track_of({{0, at(100, 1000)}, {1, at(101, 1500)}, {2, at(0.5, 40)}});
    EXPECT_EQ(track.restarts(), 1u);
    EXPECT_EQ(track.counted().total, 540u);
}

TEST(CounterTrack, NoticesARestartByTheUptime) {  // though it has counted more than before already
    const auto track = track_of({{0, at(100, 10)}, {2, at(0.5, 500)}, {3, at(1.5, 510)}});
    EXPECT_EQ(track.restarts(), 1u);
    EXPECT_EQ(track.counted().total, 510u);
}

TEST(CounterTrack, DoesNotTakeALateAnswerForARestart) {
    CounterTrack track;
    track.sample(at(100, 10), second(0), second(0.001));
    track.sample(at(101, 20), second(1), second(3));      // answered at once, read late
    track.sample(at(106, 30), second(4), second(6.001));  // answered late, read at once
    track.sample(at(107, 40), second(7), second(7.001));
    EXPECT_EQ(track.restarts(), 0u);
    EXPECT_EQ(track.counted().total, 30u);
}

NodeSample node(const std::string& name, const std::string& peer, std::uint64_t hits,
                std::uint64_t failures, std::uint64_t given) {
    NodeSample n;
    n.node = name;
    auto& p = n.peers.emplace_back();
    p.node = peer;
    p.hits = hits;
    p.failures = failures;
    p.served = given;
    return n;
}

TEST(Books, CompareWhatBothSidesCounted) {
    const auto books = books_between({node("a", "b", 10, 2, 7), node("b", "a", 7, 0, 12)});
    ASSERT_EQ(books.size(), 2u);
    EXPECT_EQ(books[0].asker + books[0].giver, "ab");
    EXPECT_EQ(books[0].hits, 10u);
    EXPECT_EQ(books[0].served, 12u);
    EXPECT_EQ(books[0].failures, 2u);
    EXPECT_EQ(books[1].asker + books[1].giver, "ba");
    EXPECT_EQ(books[1].served, 7u);
}

TEST(Books, BalanceWhenWhatIsMissingFailed) {  // A.hits(B) <= B.served(A) <= A.hits(B) + failures
    const auto balanced = [](std::uint64_t hits, std::uint64_t given, std::uint64_t failures) {
        return Book{"a", "b", hits, given, failures}.balanced();
    };
    EXPECT_TRUE(balanced(10, 10, 0));
    EXPECT_TRUE(balanced(10, 12, 2));
    EXPECT_TRUE(balanced(10, 10, 5));
    EXPECT_FALSE(balanced(10, 9, 5));
    EXPECT_FALSE(balanced(10, 11, 0));
    EXPECT_FALSE(balanced(10, 13, 2));
}

// A network that was cut off brings the question when it is back.
TEST(Books, BalanceWhenAnEarlierFailureIsAnsweredAfterAll) {
    const auto a = track_of({{1, node("a", "b", 5, 2, 0)}, {2, node("a", "b", 45, 2, 0)}});
    const auto late = track_of({{1, node("b", "a", 0, 0, 6)}, {2, node("b", "a", 0, 0, 47)}});
    EXPECT_TRUE(books_between({a.counted(), late.counted()})[0].balanced());
    const auto never = track_of({{1, node("b", "a", 0, 0, 7)}, {2, node("b", "a", 0, 0, 48)}});
    EXPECT_FALSE(books_between({a.counted(), never.counted()})[0].balanced());
}

TEST(Books, SayWhetherAQuestionIsUnderWay) {
    auto asking = node("a", "b", 5, 2, 0);
    asking.peers[0].asked = 9;
    asking.peers[0].stale_hits = asking.peers[0].refused = 1;
    EXPECT_EQ(asking.under_way(), 0u);
    ++asking.peers[0].asked;
    EXPECT_EQ(asking.under_way(), 1u);
}

TEST(Books, AreOnlyOfThoseWhoKnowEachOther) {
    EXPECT_TRUE(books_between({node("a", "b", 1, 0, 1), node("c", "a", 1, 0, 1)}).empty());
}

}  // namespace node_sample_test
}  // namespace measure
