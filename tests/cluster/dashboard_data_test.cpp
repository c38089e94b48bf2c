// The data behind the dashboard, from real nodes.

#include <nlohmann/json.hpp>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace dashboard_data_test {

using nlohmann::json;

constexpr const char* kToken = "0123456789abcdef";

class DashboardDataTest : public NodesTest {
protected:
    json page(const std::string& node, const std::string& target) const {
        const auto answer = admin(node, target);
        EXPECT_EQ(answer.status, 200u) << answer.body;
        EXPECT_EQ(answer.field("Cache-Control"), "no-store");
        return json::parse(answer.body, nullptr, false);
    }
    /// `of` as `node` sees it.
    json seen_node(const std::string& node, const std::string& of) const {
        const auto nodes = page(node, "/api/v1/nodes");
        for (const auto& each : nodes["nodes"])
            if (each["node"] == of) return each;
        return {};
    }
};

TEST_F(DashboardDataTest, EveryNodeShowsAllNodesByTheirReports) {
    start_cluster(3);
    store("a", "/one");
    ASSERT_EQ(get("b", "/one").status, 200u);
    ASSERT_EQ(get("b", "/one").status, 200u);
    // Nodes report every five seconds.
    EXPECT_TRUE(eventually([&] {
        const auto b = seen_node("c", "b");
        return b["state"] == "ready" && b["requests"].value("peer_hit", 0) == 1;
    })) << seen_node("c", "b").dump();
    const auto nodes = page("c", "/api/v1/nodes");
    EXPECT_EQ(nodes["node"], "c");
    ASSERT_EQ(nodes["nodes"].size(), 3u);
    EXPECT_EQ(nodes["nodes"][0]["node"], "c");
    EXPECT_EQ(nodes["nodes"][0]["self"], true);
    const auto b = seen_node("c", "b");
    EXPECT_EQ(b["links"].size(), 2u);
    for (const auto& link : b["links"]) {
        EXPECT_EQ(link["hits"], link["peer"] == "a" ? 1 : 0) << link;
        EXPECT_EQ(link["state"], "in_step");
    }
    EXPECT_EQ(b["version"], nodes["version"]);
    EXPECT_GT(b["memory"]["cap_bytes"], 0);
    EXPECT_LT(b["age_seconds"], 15);
    EXPECT_TRUE(eventually([&] {
        const auto a = seen_node("c", "a");
        for (const auto& link : a["links"])
            if (link["peer"] == "b") return link["given"] == 1;
        return false;
    }));
    EXPECT_EQ(seen_node("b", "b")["requests"]["peer_hit"], 1) << "its own numbers are of now";
}

TEST_F(DashboardDataTest, ANodeThatDiesIsDown) {
    start_cluster(2);
    ASSERT_TRUE(eventually([&] { return seen_node("a", "b")["state"] == "ready"; }));
    kill("b");
    EXPECT_TRUE(eventually([&] { return seen_node("a", "b")["state"] == "down"; }));
    EXPECT_TRUE(seen_node("a", "b").contains("requests")) << "what it last said stays";
    EXPECT_LT(seen_node("a", "b")["state_seconds"], 60);
}

TEST_F(DashboardDataTest, TheHistoryHasTheRequestsOfItsIntervals) {
    start(config("a"));
    get("a", "/one");
    get("a", "/one");
    json points;
    ASSERT_TRUE(eventually([&] {
        points = page("a", "/api/v1/history?span=15m")["points"];
        return !points.empty();
    }));
    EXPECT_EQ(points[0]["requests"]["local_hit"], 1);
    EXPECT_EQ(points[0]["requests"]["origin_fetch"], 1);
    EXPECT_GT(points[0]["p50_ms"]["local_hit"], 0);
    EXPECT_GT(points[0]["p50_ms"]["all"], 0);
    EXPECT_TRUE(points[0]["p50_ms"]["error"].is_null());
    const auto week = page("a", "/api/v1/history?span=7d")["points"];
    ASSERT_EQ(week.size(), 1u) << "the interval under way";
    EXPECT_EQ(week[0]["requests"]["local_hit"], 1);
}

TEST_F(DashboardDataTest, EveryNodeHasTheHistoryOfTheOthersAndTheirSum) {
    start_cluster(2);
    const auto requests = [&](const std::string& of) {
        const auto shown = page("b", "/api/v1/history?span=15m&node=" + of);
        std::uint64_t all = 0;
        for (const auto& point : shown["points"])
            all += point["requests"]["local_hit"].get<std::uint64_t>();
        return all;
    };
    // A report of a without requests is where the counting begins.
    ASSERT_TRUE(eventually([&] { return seen_node("b", "a")["state"] == "ready"; }));
    store("a", "/one");
    EXPECT_TRUE(eventually([&] {
        get("a", "/one");
        return requests("a") > 0 && requests("*") > 0;
    }));
    const auto sum = page("b", "/api/v1/history?span=15m&node=*");
    EXPECT_EQ(sum["node"], "*");
    EXPECT_EQ(sum["interval_seconds"], 10);
    EXPECT_GT(sum["points"].back()["p99_ms"]["all"], 0);
    EXPECT_TRUE(sum["points"].back()["p99_ms"]["local_hit"].is_null());
    EXPECT_EQ(admin("b", "/api/v1/history?span=6h&node=a").status, 400u);
    EXPECT_EQ(admin("b", "/api/v1/history?node=none").status, 404u);
}

TEST_F(DashboardDataTest, SitesAndTopShowWhatWasAsked) {
    auto settings = config("a");
    settings.admin->top_clients = true;
    start(settings);
    for (int i = 0; i < 100; ++i) get("a", "/often?secret=1");
    const auto sites = page("a", "/api/v1/sites");
    ASSERT_EQ(sites["sites"].size(), 1u);
    EXPECT_EQ(sites["sites"][0]["requests"]["local_hit"], 99);
    EXPECT_EQ(sites["sites"][0]["requests"]["origin_fetch"], 1);
    const auto top = page("a", "/api/v1/top");
    ASSERT_EQ(top["urls"].size(), 1u) << top;
    EXPECT_EQ(top["urls"][0]["url"], "http://origin.test/often");
    EXPECT_NEAR(top["urls"][0]["requests"].get<double>(), 100, 80);
    EXPECT_EQ(top["clients"][0]["client"], "127.0.0.1");
}

TEST_F(DashboardDataTest, PagesNeedNoTokenAndDataObeyItsRules) {
    auto settings = config("a");
    settings.admin->token = kToken;
    settings.admin->token_for = TokenFor::all;
    start(settings);
    EXPECT_TRUE(status("a").config.admin_token);
    const auto page = admin("a", "/");
    EXPECT_EQ(page.status, 200u);
    EXPECT_TRUE(contains(page.field("Content-Security-Policy"), "default-src 'none'"));
    const auto head = admin_client("a").ask("HEAD", "/");
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.field("ETag"), page.field("ETag"));
    EXPECT_EQ(head.field("Content-Length"), std::to_string(page.body.size()));
    const auto known = admin_client("a").get("/", "If-None-Match: " + page.field("ETag") + "\r\n");
    EXPECT_EQ(known.status, 304u);
    EXPECT_EQ(admin("a", "/dashboard/none.js").status, 404u);
    Client rebound(address("a"), kAdminPort);
    rebound.host = "rebound.evil.test";
    EXPECT_EQ(rebound.get("/").status, 403u);
    for (const auto* target : {"/api/v1/nodes", "/api/v1/history", "/api/v1/sites", "/api/v1/top",
                               "/api/v1/errors", "/api/v1/settings"}) {
        EXPECT_EQ(admin("a", target).status, 401u) << target;
        const auto token = "Authorization: Bearer " + std::string(kToken) + "\r\n";
        EXPECT_EQ(admin_client("a").get(target, token).status, 200u) << target;
    }
}

TEST_F(DashboardDataTest, ShowsTheLastErrors) {
    const auto lines = std::make_shared<RecentErrors>();
    lines->note(std::chrono::system_clock::now(), true, "disk /a is gone");
    Node node(LoadedConfig(config("a")), {}, {}, lines);
    node.start();
    const auto errors = page("a", "/api/v1/errors");
    ASSERT_EQ(errors["errors"].size(), 1u);
    EXPECT_EQ(errors["errors"][0]["text"], "disk /a is gone");
}

}  // namespace dashboard_data_test
}  // namespace proxy::test
