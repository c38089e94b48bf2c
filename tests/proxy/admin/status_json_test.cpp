#include "proxy/admin/status_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace proxy {
namespace status_json_test {

using nlohmann::json;

NodeStatus status() {
    NodeStatus s;
    s.node = "a";
    s.uptime_seconds = 12.5;
    s.ready = true;
    s.work.requests[Outcome::local_hit] = 5;
    s.work.requests[Outcome::peer_hit] = 4;
    s.work.requests[Outcome::origin_fetch] = 3;
    s.work.requests[Outcome::uncacheable] = 2;
    s.work.requests[Outcome::error] = 1;
    s.work.origin_requests = 8;
    s.work.origins_down = 2;
    s.work.origin_down_requests = 5;
    s.work.peer_requests = 6;
    s.work.bytes_to_clients = 100;
    s.cache.objects = 7;
    s.cache.evictions = 2;
    s.cache.disk_evictions = 1;
    PeerStatus peer;
    peer.node = "b";
    peer.state = protocol::PeerState::in_sync;
    peer.asked = 6;
    peer.hits = 4;
    peer.false_hits = 2;
    peer.lag_seconds = 0.2;
    peer.breaker_open_seconds = 1.5;
    peer.round_trip_seconds = 0.02;
    s.cluster.peers.push_back(peer);
    s.cluster.origins.push_back({"o.example:80", 0.08, 0.004, 0.04, 0.12});
    s.work.origin_hedges = 7;
    s.work.origin_hedges_outrun = 3;
    s.work.peer_repeats = 4;
    s.work.peers_too_far = 9;
    return s;
}

TEST(StatusJson, HasEveryNameOfTheInterface) {
    const auto expected =
        json::parse(R"({ "node": "", "instance": "", "uptime_seconds": 0, "ready": true,
      "requests": { "total": 0, "local_hit": 0, "peer_hit": 0, "origin_fetch": 0, "uncacheable": 0, "error": 0, "refused": 0 },
      "upstream": { "origin_requests": 0, "peer_requests": 0 },
      "bytes":    { "to_clients": 0, "from_peers": 0, "from_origins": 0 },
      "cache":    { "objects": 0, "memory_bytes": 0, "disk_bytes": 0, "evictions": 0 },
      "summary":  { "kind": "", "objects": 0, "bits": 0, "hashes": 0, "fill": 0.0, "expected_false_hit": 0.0 },
      "cluster":  { "announcements_sent": 0, "announcements_received": 0, "heartbeats_sent": 0, "bytes_sent": 0, "bytes_received": 0,
        "peers": [ { "node": "", "epoch": 0, "state": "", "asked": 0, "hits": 0, "false_hits": 0, "stale_hits": 0, "refused": 0,
                     "failures": 0, "given": 0, "lag_seconds": 0.2, "left_alone_seconds": 1.5,
                     "objects": 0 } ] } })")
            .flatten();
    const auto shown = json::parse(status_json(status())).flatten();
    for (const auto& [pointer, value] : expected.items()) {
        ASSERT_TRUE(shown.contains(pointer)) << pointer;
        EXPECT_EQ(shown[pointer].is_string(), value.is_string()) << pointer;
        EXPECT_EQ(shown[pointer].is_number(), value.is_number()) << pointer;
    }
}

TEST(StatusJson, ShowsTheNumbersAndTheirSum) {
    const auto shown = json::parse(status_json(status()));
    EXPECT_EQ(shown["node"], "a");
    EXPECT_EQ(shown["uptime_seconds"], 12.5);
    EXPECT_EQ(shown["requests"]["total"], 15);
    EXPECT_EQ(shown["requests"]["peer_hit"], 4);
    EXPECT_EQ(shown["upstream"]["origin_requests"], 8);
    EXPECT_EQ(shown["upstream"]["origins_down"], 2);
    EXPECT_EQ(shown["upstream"]["origin_down_requests"], 5);
    EXPECT_EQ(shown["upstream"]["peer_requests"], 6);
    EXPECT_EQ(shown["cache"]["evictions"], 3);
    EXPECT_EQ(shown["cluster"]["peers"][0]["false_hits"], 2);
    EXPECT_EQ(shown["cluster"]["peers"][0]["state"], "in_step");
    EXPECT_EQ(shown["cluster"]["peers"][0]["round_trip_seconds"], 0.02);
    EXPECT_EQ(shown["cluster"]["origins"][0]["origin"], "o.example:80");
    EXPECT_EQ(shown["cluster"]["origins"][0]["peer_budget_seconds"], 0.04);
    EXPECT_EQ(shown["upstream"]["origin_hedges"], 7);
    EXPECT_EQ(shown["upstream"]["peers_too_far"], 9);
}

TEST(StatusJson, ShowsEachDirectoryOfTheDisk) {
    auto s = status();
    EXPECT_EQ(json::parse(status_json(s))["cache"]["disk"], json::array());
    DiskStatus disk;
    disk.path = "/var/cache/a";
    disk.state = DiskStatus::State::paused;
    disk.last_error = "No space left on device";
    disk.last_error_seconds = 90;
    disk.last_error_is_full = true;
    disk.bytes = 5;
    disk.loading_seconds = 0.5;
    s.disk = {disk, {}};
    s.store_disk.disk_objects = 4;
    const auto cache = json::parse(status_json(s))["cache"];
    EXPECT_EQ(cache["disk_objects"], 4);
    ASSERT_EQ(cache["disk"].size(), 2u);
    EXPECT_EQ(cache["disk"][0]["path"], "/var/cache/a");
    EXPECT_EQ(cache["disk"][0]["state"], "paused");
    EXPECT_EQ(cache["disk"][0]["last_error"], "No space left on device");
    EXPECT_EQ(cache["disk"][0]["last_error_seconds"], 90);
    EXPECT_EQ(cache["disk"][0]["last_error_is_full"], true);
    EXPECT_EQ(cache["disk"][0]["bytes"], 5);
    EXPECT_EQ(cache["disk"][0]["loading_seconds"], 0.5);
    EXPECT_EQ(cache["disk"][1]["state"], "loading");
}

TEST(StatusJson, ListsTheSitesWhoseOriginHasMostTrouble) {
    auto s = status();
    for (int i = 0; i < 100; ++i)
        s.answers.push_back({{"o:80", {500, 0, 0}, {static_cast<std::uint64_t>(i), 0, 0}},
                             "s" + std::to_string(i)});
    s.answers[3].recent = {50, 18, 1};
    const auto answers = json::parse(status_json(s))["upstream"]["answers"];
    ASSERT_EQ(answers.size(), 64u);
    EXPECT_EQ(answers[0]["site"], "s3");
    EXPECT_EQ(answers[0]["origin"], "o:80");
    EXPECT_EQ(answers[0]["answers"], 500);
    EXPECT_EQ(answers[0]["last_5m"],
              json({{"answers", 50}, {"server_errors", 18}, {"too_many_requests", 1}}));
    EXPECT_EQ(answers[1]["site"], "s99");
}

TEST(StatusJson, ListsRedirectsThatLeaveTheMirrors) {
    auto s = status();
    EXPECT_EQ(json::parse(status_json(s))["upstream"]["leaving_redirects"], json::array());
    s.leaving.last_hour = {{"a.test", "cdn.test", 12}};
    EXPECT_EQ(json::parse(status_json(s))["upstream"]["leaving_redirects"],
              json::array({{{"site", "a.test"}, {"host", "cdn.test"}, {"last_hour", 12}}}));
}

TEST(StatusJson, ListsOnlyReasonsThatOccurred) {
    auto s = status();
    s.work.verdicts[StorageVerdict::no_store] = 3;
    s.work.refusals[RequestRefusal::malformed] = 2;
    s.cluster.link_refusals["wrong_key"] = 1;
    const auto shown = json::parse(status_json(s));
    EXPECT_EQ(shown["storage"], json({{"no_store", 3}}));
    EXPECT_EQ(shown["refusals"], json({{"malformed", 2}}));
    EXPECT_EQ(shown["cluster"]["link_refusals"], json({{"wrong_key", 1}}));
}

TEST(StatusJson, StaysValidForAnyTextOfPeers) {
    auto s = status();
    s.cluster.peers[0].last_error = "bad \xff \"frame\"\n";
    EXPECT_TRUE(json::accept(status_json(s)));
}

TEST(WorkerCounters, AddUp) {
    auto sum = status().work;
    sum += status().work;
    EXPECT_EQ(sum.total(), 30u);
    EXPECT_EQ(sum.origin_requests, 16u);
    EXPECT_EQ(sum.origins_down, 4u);
    EXPECT_EQ(sum.origin_down_requests, 10u);
    EXPECT_EQ(sum.origin_hedges, 14u);
    EXPECT_EQ(sum.origin_hedges_outrun, 6u);
    EXPECT_EQ(sum.peer_repeats, 8u);
    EXPECT_EQ(sum.peers_too_far, 18u);
    EXPECT_EQ(sum.bytes_to_clients, 200u);
}

TEST(WorkerCounters, NameEveryRefusal) {
    EXPECT_EQ(to_string(RequestRefusal::malformed), "malformed");
    EXPECT_EQ(to_string(RequestRefusal::timeout), "timeout");
}

}  // namespace status_json_test
}  // namespace proxy
