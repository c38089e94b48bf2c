#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace fetch_once_test {

using namespace std::chrono_literals;
using nlohmann::json;

/// A key that no node has, and that several nodes want at the same time.
class FetchOnceTest : public NodesTest {
protected:
    static constexpr std::string_view kAll = "abcd";

    FetchOnceTest() { constants.meets = true; }

    /// One client at each of `nodes`, which asks for `target`.
    std::vector<Client> ask(std::string_view nodes, std::string_view target = "/cold",
                            std::string_view fields = {}) const {
        std::vector<Client> clients;
        for (const auto node : nodes) {
            clients.push_back(client(std::string(1, node)));
            clients.back().begin("GET", target, fields);
        }
        return clients;
    }
    std::uint64_t followed() const {
        std::uint64_t sum = 0;
        for (const auto node : kAll) sum += status(std::string(1, node)).work.fetches_followed;
        return sum;
    }
    /// Peer requests that are under way at a node other than `fetcher`.
    bool all_wait(std::size_t others) const {
        return eventually([&] {
            std::uint64_t waiting = 0;
            for (const auto node : kAll) {
                for (const auto& peer : status(std::string(1, node)).cluster.peers)
                    waiting += peer.asked - peer.hits - peer.refused - peer.failures -
                               peer.false_hits - peer.stale_hits;
            }
            return waiting == others;
        });
    }
};

TEST_F(FetchOnceTest, IsAskedOfTheOriginByOneNode) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "the body");
    });
    start_cluster(4);
    auto clients = ask(kAll);
    ASSERT_TRUE(gate.wait_for(1));
    ASSERT_TRUE(all_wait(3));
    EXPECT_EQ(origin.requests(), 1u);
    const auto explain = "/api/v1/explain?url=http%3A%2F%2Forigin.test%2Fcold";
    const auto point = json::parse(admin("a", explain).body).at("meeting_point");
    const auto known = json::parse(admin(point.get<std::string>(), explain).body);
    EXPECT_EQ(known.at("meeting_point"), point) << "all agree";
    EXPECT_TRUE(known.at("fetched_by").is_string()) << known;
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "the body");
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_TRUE(eventually([&] { return followed() == 3; }));
}

TEST_F(FetchOnceTest, IsSentOnWhileItComes) {
    Gate rest;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n" + fresh() + "\r\nfour");
        rest.wait();
        e.send("more");
    });
    start_cluster(4);
    auto first = ask("a");
    ASSERT_TRUE(rest.wait_for(1));
    auto others = ask("bcd");
    for (auto& each : others) EXPECT_TRUE(each.read_at_least(4));
    rest.open();
    EXPECT_EQ(first.front().read().body, "fourmore");
    for (auto& each : others) EXPECT_EQ(each.read().body, "fourmore");
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(FetchOnceTest, ReleasesAllAtOnceFromAnAnswerForOneClient) {
    Gate gate;
    std::atomic<int> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (asked++ == 0) gate.wait();
        e.answer("Cache-Control: private\r\n", "for one");
    });
    start_cluster(4);
    auto clients = ask(kAll);
    ASSERT_TRUE(gate.wait_for(1));
    ASSERT_TRUE(all_wait(3));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "for one");
    EXPECT_EQ(origin.requests(), 4u);
    EXPECT_EQ(followed(), 0u);
}

TEST_F(FetchOnceTest, IsFetchedOnceMoreWhenTheNodeThatFetchesIsKilled) {
    Gate gate;
    std::atomic<int> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (asked++ == 0) gate.wait();
        e.answer(fresh(), "the body");
    });
    start_cluster(4);
    auto first = ask("d");
    ASSERT_TRUE(gate.wait_for(1));
    auto others = ask("abc");
    ASSERT_TRUE(all_wait(3));
    kill("d");
    for (auto& each : others) EXPECT_EQ(each.read().body, "the body");
    EXPECT_EQ(origin.requests(), 2u);
    gate.open();
}

TEST_F(FetchOnceTest, IsFetchedByEachNodeWhereARuleSaysNever) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "the body");
    });
    for (const auto node : kAll) {
        auto settings = config(std::string(1, node), 4);
        Rule rule;
        rule.name = "each";
        rule.fetch_once = FetchOnce::never;
        settings.rules = RuleTable({rule});
        start(settings);
    }
    ASSERT_TRUE(
        eventually([&] { return in_sync("a") && in_sync("b") && in_sync("c") && in_sync("d"); }));
    auto clients = ask(kAll);
    ASSERT_TRUE(gate.wait_for(4));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "the body");
    EXPECT_EQ(followed(), 0u);
}

TEST_F(FetchOnceTest, IsFetchedAnewAfterAPurgeMeanwhile) {
    Gate gate;
    std::atomic<int> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto number = ++asked;
        if (number == 1) gate.wait();
        e.answer(fresh(), number == 1 ? "old" : "new");
    });
    start_cluster(4);
    auto first = ask("a");
    ASSERT_TRUE(gate.wait_for(1));
    auto purge = client("b");
    purge.begin("PURGE", "/cold");
    EXPECT_EQ(purge.read().status, 200);
    ASSERT_TRUE(eventually([&] { return get("c", "/cold").body == "new"; }));
    gate.open();
    EXPECT_EQ(first.front().read().body, "old") << "it was asked for before the purge";
    for (const auto* node : {"a", "b", "c", "d"}) EXPECT_EQ(get(node, "/cold").body, "new");
}

}  // namespace fetch_once_test
}  // namespace proxy::test
