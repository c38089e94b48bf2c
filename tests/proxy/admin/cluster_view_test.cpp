#include "proxy/admin/cluster_view.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace proxy {
namespace cluster_view_test {

using namespace std::chrono_literals;
using nlohmann::json;
using protocol::PeerState;

class ClusterViewTest : public ::testing::Test {
protected:
    ClusterViewTest() {
        status.node = "a";
        status.version = "1.0";
    }
    void peer(const std::string& node, PeerState state) {
        auto& added = status.cluster.peers.emplace_back();
        added.node = node;
        added.state = state;
    }
    static NodeReport ready() {
        NodeReport report;
        report.version = "1.0";
        report.numbers.ready = 1;
        report.numbers.local_hits = 7;
        return report;
    }
    void says(const std::string& node, const NodeReport& report, std::chrono::nanoseconds age = 1s,
              std::chrono::nanoseconds interval = 1s) {
        received.push_back({node, encode_report(report), age, interval});
    }
    json page() const {
        return json::parse(nodes_json(view_of(status, ready(), received)), nullptr, false);
    }
    static json node(const json& page, const std::string& name) {
        for (const auto& each : page["nodes"])
            if (each["node"] == name) return each;
        return {};
    }

    NodeStatus status;
    std::vector<protocol::ReceivedReport> received;
};

/// The bytes of a report that left when the clock of its node said `clock` seconds.
protocol::ReceivedReport report_at(const std::string& node, int clock,
                                   std::chrono::nanoseconds age) {
    auto bytes = encode_report(NodeReport());
    bytes.insert(bytes.end(), {std::byte{4}, std::byte{8}});
    const auto clock_ms = static_cast<std::uint64_t>(clock) * 1000;
    for (int shift = 56; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::byte>(clock_ms >> shift & 0xff));
    return {node, bytes, age, 1s};
}

TEST_F(ClusterViewTest, ComparesClocksByTheLastReports) {
    peer("b", PeerState::in_sync);
    peer("c", PeerState::in_sync);
    peer("d", PeerState::gone);
    peer("e", PeerState::in_sync);
    received = {report_at("b", 13600, 3s), report_at("c", 9998, 1500ms), report_at("d", 5, 1s)};
    says("e", ready());
    show_clocks(received, std::chrono::system_clock::time_point(10000s), status);
    const auto& peers = status.cluster.peers;
    EXPECT_EQ(peers[0].clock_ahead_seconds, 3603.0);
    EXPECT_EQ(peers[1].clock_ahead_seconds, -0.5);
    EXPECT_EQ(peers[2].clock_ahead_seconds, std::nullopt) << "its report is old";
    EXPECT_EQ(peers[3].clock_ahead_seconds, std::nullopt) << "an earlier build";
}

TEST_F(ClusterViewTest, AClockIsAheadIfItIsAheadOfAllPeers) {
    EXPECT_EQ(ahead_of_all_peers(status), 0s);
    peer("b", PeerState::in_sync);
    EXPECT_EQ(ahead_of_all_peers(status), 0s) << "nothing is known";
    const auto ahead = [&](std::size_t index, double peers) {
        status.cluster.peers[index].clock_ahead_seconds = peers;
        return ahead_of_all_peers(status);
    };
    EXPECT_EQ(ahead(0, -3600.2), 3600s);
    EXPECT_EQ(ahead(0, -1.9), 0s) << "within the accuracy";
    EXPECT_EQ(ahead(0, 3600), 0s) << "behind";
    peer("c", PeerState::in_sync);
    ahead(0, -3600);
    EXPECT_EQ(ahead(1, 0.1), 0s) << "b is the one that differs";
    EXPECT_EQ(ahead(1, -3590.6), 3591s);
}

TEST_F(ClusterViewTest, TheOwnNodeComesFirstAndPeersFollow) {
    peer("b", PeerState::in_sync);
    says("b", ready());
    const auto shown = page();
    EXPECT_EQ(shown["node"], "a");
    EXPECT_EQ(shown["version"], "1.0");
    EXPECT_GT(shown["now"], 1e9);
    ASSERT_EQ(shown["nodes"].size(), 2u);
    EXPECT_EQ(shown["nodes"][0]["node"], "a");
    EXPECT_EQ(shown["nodes"][0]["self"], true);
    EXPECT_EQ(shown["nodes"][1]["state"], "ready");
    EXPECT_EQ(shown["nodes"][1]["requests"]["local_hit"], 7);
    EXPECT_EQ(shown["nodes"][1]["age_seconds"], 1.0);
}

TEST_F(ClusterViewTest, EveryStateHasItsWord) {
    auto draining = ready();
    draining.numbers.draining = 1;
    auto not_ready = ready();
    not_ready.numbers.ready = 0;
    for (const auto* name : {"ready", "draining", "not_ready", "silent", "no_report"})
        peer(name, PeerState::in_sync);
    peer("gone", PeerState::gone);
    peer("far", PeerState::lagging);
    says("ready", ready());
    says("draining", draining);
    says("not_ready", not_ready);
    says("silent", ready(), 15s + 1ms);
    says("gone", ready());
    says("far", ready(), 40s, 15s);
    peer("other", PeerState::refused);
    const auto shown = page();
    for (const auto* name : {"ready", "draining", "not_ready", "silent", "no_report"})
        EXPECT_EQ(node(shown, name)["state"], name);
    EXPECT_EQ(node(shown, "gone")["state"], "down");
    EXPECT_EQ(node(shown, "other")["state"], "refused") << "it runs, but serves alone";
    EXPECT_EQ(node(shown, "gone")["requests"]["local_hit"], 7) << "what it last said stays";
    EXPECT_EQ(node(shown, "far")["state"], "ready") << "it promises heartbeats seldom";
    EXPECT_TRUE(node(shown, "no_report")["age_seconds"].is_null());
    EXPECT_FALSE(node(shown, "no_report").contains("requests"));
}

TEST_F(ClusterViewTest, SaysForHowLongANodeIsAway) {
    for (const auto* name : {"ready", "silent", "new"}) peer(name, PeerState::in_sync);
    peer("gone", PeerState::gone);
    for (auto& each : status.cluster.peers) each.state_seconds = 40;
    says("ready", ready());
    says("silent", ready(), 20s);
    says("gone", ready(), 50s);
    const auto shown = page();
    EXPECT_EQ(node(shown, "gone")["state_seconds"], 40) << "as its link has it";
    EXPECT_EQ(node(shown, "new")["state_seconds"], 40);
    EXPECT_EQ(node(shown, "silent")["state_seconds"], 20) << "the age of its report";
    EXPECT_FALSE(node(shown, "ready").contains("state_seconds")) << "its uptime says it";
}

TEST_F(ClusterViewTest, AMalformedReportCountsAsNone) {
    peer("b", PeerState::in_sync);
    received.push_back({"b", {std::byte{1}, std::byte{2}, std::byte{9}}, 1s, 1s});
    EXPECT_EQ(node(page(), "b")["state"], "no_report");
}

TEST_F(ClusterViewTest, BytesOfTheOwnStoreAreThoseThatNobodyElseGave) {
    auto own = ready();
    own.numbers.to_clients_bytes = 100;
    own.numbers.from_peers_bytes = 20;
    own.numbers.from_origins_bytes = 30;
    auto few = own;
    few.numbers.to_clients_bytes = 10;  // clients left early
    peer("b", PeerState::in_sync);
    says("b", few);
    const auto shown = json::parse(nodes_json(view_of(status, own, received)), nullptr, false);
    EXPECT_EQ(node(shown, "a")["saved"]["from_memory_bytes"], 50);
    EXPECT_EQ(node(shown, "b")["saved"]["from_memory_bytes"], 0);
}

}  // namespace cluster_view_test
}  // namespace proxy
