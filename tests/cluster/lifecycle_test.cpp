#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cluster/fixture.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace lifecycle_test {

class Lifecycle : public NodesTest {};

TEST_F(Lifecycle, RefusesASecondInstanceOnTheSamePort) {
    auto settings = config("a");
    settings.workers = 2;  // SO_REUSEPORT among its own workers, not among processes
    start(settings);
    auto second = config("b");
    second.listen = settings.listen;
    try {
        Node node{LoadedConfig(second)};
        FAIL() << "a second listener was let in";
    } catch (const std::exception& error) {
        EXPECT_TRUE(contains(error.what(), "in use")) << error.what();
    }
}

TEST_F(Lifecycle, DrainsWithoutCuttingAnybodyOff) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "late");
    });
    auto& node = start(config("a"));
    auto waiting = client(), idle = client();
    waiting.begin("GET", "/one");
    ASSERT_TRUE(gate.wait_for(1));
    std::vector<Client> accepted;  // by the kernel at least, when the drain begins
    for (int i = 0; i < 5; ++i) {
        accepted.push_back(client());
        accepted.back().begin("GET", "/one");
    }
    node.drain();
    EXPECT_TRUE(idle.at_end());
    gate.open();
    const auto answer = waiting.read();
    EXPECT_EQ(answer.body, "late");
    EXPECT_EQ(answer.field("Connection"), "close");
    for (auto& each : accepted) EXPECT_EQ(each.read().body, "late");
    node.join();
    EXPECT_THROW(client(), std::system_error);
}

TEST_F(Lifecycle, StopsAtOnceOnOrder) {
    Gate never;
    const auto scripted = origin.set([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    auto& node = start(config("a"));
    auto waiting = client();
    waiting.begin("GET", "/one");
    ASSERT_TRUE(never.wait_for(1));
    node.stop();
    node.join();
    EXPECT_FALSE(waiting.read().complete);
    never.open();
}

TEST_F(Lifecycle, CutsTheRestWhenTheDrainTimeIsOver) {
    Gate never;
    const auto scripted = origin.set([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    auto settings = config("a");
    settings.timeouts.drain = std::chrono::milliseconds(50);
    auto& node = start(settings);
    auto waiting = client();
    waiting.begin("GET", "/one");
    ASSERT_TRUE(never.wait_for(1));
    node.drain();
    node.join();
    EXPECT_FALSE(waiting.read().complete);
    never.open();
}

TEST_F(Lifecycle, AnswersAHeadThatDoesNotComeWith408) {  // RFC 9110 §15.5.9
    auto settings = config("a");
    settings.timeouts.client_head = std::chrono::milliseconds(50);
    start(settings);
    auto slow = client();
    slow.socket.send("GET / HTTP/1.1\r\nHo");
    EXPECT_EQ(slow.read().status, 408u);
    EXPECT_TRUE(slow.at_end());
}

TEST_F(Lifecycle, ClosesAnIdleConnectionWithoutAWord) {
    auto settings = config("a");
    settings.timeouts.keep_alive = std::chrono::milliseconds(50);
    start(settings);
    auto idle = client();
    EXPECT_EQ(idle.get("/one").status, 200u);
    EXPECT_TRUE(idle.at_end());
}

TEST_F(Lifecycle, Answers504WhenTheOriginIsSilent) {
    Gate never;
    const auto scripted = origin.set([&](Exchange& e) {
        never.wait();
        e.keep = false;
    });
    auto settings = config("a");
    settings.timeouts.origin_head = std::chrono::milliseconds(50);
    start(settings);
    const auto answer = get("a", "/one");
    EXPECT_EQ(answer.status, 504u);
    never.open();
}

TEST_F(Lifecycle, RefusesConnectionsAboveTheLimit) {
    auto settings = config("a");
    settings.limits.connections = 3;
    start(settings);
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/held")) gate.wait();
        e.answer(fresh(), "x");
    });
    std::vector<Client> held;
    for (int i = 0; i < 3; ++i) {
        held.push_back(client());
        held.back().begin("GET", "/held" + std::to_string(i));
    }
    ASSERT_TRUE(eventually([&] { return origin.requests() == 3; })) << "none waits for a request";
    auto refused = client();
    refused.begin("GET", "/one");
    const auto answer = refused.read();
    EXPECT_TRUE(answer.status == 503u || answer.status == 0u) << answer.status;
    gate.open();
    for (auto& each : held) EXPECT_EQ(each.read().status, 200u);
    held.clear();
    EXPECT_TRUE(eventually([&] { return get("a", "/one").status == 200u; }));
}

TEST_F(Lifecycle, OpensNoMoreConnectionsToAnOriginThanAllowed) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "late");
    });
    auto settings = config("a");
    settings.limits.upstream_connections = 2;
    start(settings);
    auto first = client(), second = client();
    first.begin("GET", "/1");
    second.begin("GET", "/2");
    ASSERT_TRUE(gate.wait_for(2));
    const auto refused = get("a", "/3");
    EXPECT_EQ(refused.status, 503u);
    EXPECT_TRUE(contains(refused.cache_status(), "busy")) << refused.cache_status();
    gate.open();
    EXPECT_EQ(first.read().body, "late");
    EXPECT_EQ(second.read().body, "late");
    EXPECT_EQ(get("a", "/3").status, 200u);  // on a connection that is free again
}

TEST_F(Lifecycle, ReusesConnectionsToANewPlace) {
    ScriptedOrigin other([](Exchange& e) { e.answer("Cache-Control: no-store\r\n", "other"); });
    auto settings = config("a");
    settings.limits.upstream_connections = 1;
    settings.origins.insert(settings.origins.begin(), {"other.test", {"127.0.0.1", other.port()}});
    start(settings);
    get("a", "/one");
    auto connection = client();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.get("http://other.test/").body, "other");
    EXPECT_EQ(other.requests(), 3u);
    EXPECT_EQ(other.connections(), 1u);
}

TEST_F(Lifecycle, GivesAnIdleConnectionUpForARequestThatNeedsANewOne) {
    auto settings = config("a");
    settings.limits.upstream_connections = 1;
    start(settings);
    get("a", "/one");  // leaves an idle connection in the only place there is
    EXPECT_EQ(client().ask("POST", "/two", "", "x").status, 200u);
}

TEST_F(Lifecycle, IsNotDrainedOnAWebPagesWord) {
    start(config("a"));
    auto page = admin_client("a");
    EXPECT_EQ(page.ask("POST", "/api/v1/drain", "Origin: http://evil.test\r\n", "x").status, 403u);
    EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_EQ(status("a").draining, false);
}

TEST_F(Lifecycle, WritesAnAccessLogAndReopensIt) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "access.log", moved = folder.path() / "access.log.1";
    auto settings = config("a");
    settings.log.access = file.string();
    auto& node = start(settings);
    const auto lines = [](const std::filesystem::path& path) {
        std::ifstream in(path);
        std::vector<std::string> result;
        for (std::string line; std::getline(in, line);) result.push_back(line);
        return result;
    };
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return lines(file).size() == 1; }));
    const auto line = nlohmann::json::parse(lines(file).front());
    EXPECT_EQ(line.at("outcome"), "origin_fetch");
    EXPECT_EQ(line.at("status"), 200);
    std::filesystem::rename(file, moved);
    node.reopen_logs();
    get("a", "/one");
    EXPECT_TRUE(eventually([&] { return lines(file).size() == 1; }));
    EXPECT_EQ(lines(moved).size(), 1u);
    kill("a");
}

TEST_F(Lifecycle, ShowsItselfAtTheAdminPort) {
    start(config("a"));
    get("a", "/one");
    get("a", "/one");
    EXPECT_EQ(admin("a", "/healthz").status, 200u);
    EXPECT_EQ(admin("a", "/readyz").status, 200u);
    EXPECT_EQ(admin("a", "/nothing").status, 404u);
    const auto json = nlohmann::json::parse(admin("a", "/api/v1/status").body);
    EXPECT_EQ(json.at("node"), "a");
    EXPECT_EQ(json.at("requests").at("total"), 2);
    EXPECT_EQ(json.at("requests").at("local_hit"), 1);
    EXPECT_EQ(json.at("cache").at("objects"), 1);
    const auto metrics = admin("a", "/metrics").body;
    EXPECT_TRUE(contains(metrics, "hearsay_requests_total{outcome=\"local_hit\"} 1\n")) << metrics;
    EXPECT_TRUE(contains(metrics, "hearsay_cache_objects 1\n"));
}

TEST_F(Lifecycle, IsNotReadyBeforeItsPeersAreInStep) {
    start(config("a", 2));  // b is not there
    EXPECT_EQ(admin("a", "/readyz").status, 503u);
    EXPECT_EQ(admin("a", "/healthz").status, 200u);
    start(config("b", 2));
    EXPECT_TRUE(eventually([&] { return admin("a", "/readyz").status == 200u; }));
}

}  // namespace lifecycle_test
}  // namespace proxy::test
