#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"

namespace proxy::test {
namespace client_limits_test {

using namespace std::chrono_literals;

/// How much one client may use of a node, and the places that a forward proxy lets through.
class ClientLimitsOfANode : public NodesTest {
protected:
    Config forward_config() const {
        auto settings = NodesTest::forward_config();
        settings.forward.connect_ports = {443, origin.port()};
        return settings;
    }
    std::uint64_t refused(RequestRefusal reason) const { return status("a").work.refusals[reason]; }
    std::uint64_t waits() const { return status("a").work.bandwidth_waits; }
};

TEST_F(ClientLimitsOfANode, RefuseRequestsAboveARate) {
    auto settings = config("a");
    settings.clients.limits.per_address.requests = 1;
    settings.clients.limits.per_address.burst = 3;
    start(settings);
    auto connection = client();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.get("/one").status, 200u) << i;
    Answer last;
    for (int i = 0; i < 3; ++i) last = connection.get("/one");
    EXPECT_EQ(last.status, 429u);
    EXPECT_EQ(last.field("Retry-After"), "1");
    EXPECT_TRUE(contains(last.body, "clients.limits.per_address.requests")) << last.body;
    EXPECT_EQ(last.cache_status(), "a; detail=over_rate");
    EXPECT_GE(refused(RequestRefusal::over_rate), 2u);
    EXPECT_EQ(client().ask("POST", "/one", "", "body").status, 429u) << "a body is no obstacle";
    EXPECT_EQ(client("a", "127.0.0.2").get("/one").status, 200u) << "another address";
    EXPECT_TRUE(eventually([&] { return connection.get("/one").status == 200; })) << "it refills";
}

TEST_F(ClientLimitsOfANode, AreOfTheClientThatATrustedProxyNames) {
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    settings.clients.limits.per_address.requests = 1;
    start(settings);
    auto connection = client();
    EXPECT_EQ(connection.get("/one", "X-Forwarded-For: 10.0.0.1\r\n").status, 200u);
    EXPECT_EQ(connection.get("/one", "X-Forwarded-For: 10.0.0.1\r\n").status, 429u);
    EXPECT_EQ(connection.get("/one", "X-Forwarded-For: 10.0.0.2\r\n").status, 200u);
    EXPECT_EQ(connection.get("/one", "X-Forwarded-For: 2001:db8::1\r\n").status, 200u);
    EXPECT_EQ(connection.get("/one", "X-Forwarded-For: 2001:db8::2\r\n").status, 429u) << "one /64";
    for (int i = 0; i < 5; ++i) EXPECT_EQ(connection.get("/one").status, 200u) << "the proxy";
}

TEST_F(ClientLimitsOfANode, RefuseSingleHttp2Streams) {
    auto settings = config("a");
    settings.clients.limits.per_address.requests = 1;
    settings.clients.limits.per_address.burst = 2;
    start(settings);
    Http2Client client(Socket::connect(address("a"), kProxyPort));
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).status, 200u);
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).status, 200u);
    const auto refusal = client.fetch(Http2Client::get("/x"));
    EXPECT_EQ(refusal.status, 429u);
    EXPECT_EQ(refusal.field("retry-after"), "1");
    EXPECT_FALSE(client.closed);
    EXPECT_TRUE(eventually([&] { return client.fetch(Http2Client::get("/x")).status == 200; }));
}

TEST_F(ClientLimitsOfANode, RefuseRequestsBesideTooManyInProgress) {
    auto settings = forward_config();
    settings.clients.limits.per_address.connections = 2;
    start(settings);
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        if (exchange.target == "/slow") gate.wait();
        exchange.answer(fresh(), "x");
    });
    auto slow = client(), tunnel = client(), idle = client();
    EXPECT_EQ(idle.get(url("/one")).status, 200u);
    slow.begin("GET", url("/slow"));
    ASSERT_TRUE(gate.wait_for(1));
    tunnel.begin("CONNECT", origin_authority());
    std::string head;
    while (!head.ends_with("\r\n\r\n") && tunnel.socket.receive(head, 1)) continue;
    const auto refusal = idle.get(url("/one"));
    EXPECT_EQ(refusal.status, 429u);
    EXPECT_EQ(refusal.field("Retry-After"), "1");
    EXPECT_EQ(refusal.cache_status(), "a; detail=over_connections");
    EXPECT_EQ(client("a", "127.0.0.2").get(url("/one")).status, 200u);
    tunnel = client();  // ends the tunnel
    EXPECT_TRUE(eventually([&] { return idle.get(url("/one")).status == 200; }));
    gate.open();
    EXPECT_EQ(slow.read().status, 200u);
}

TEST_F(ClientLimitsOfANode, SlowDownWhatTheClientGets) {
    auto settings = config("a");
    settings.clients.limits.per_address.bandwidth = 1 << 20;
    start(settings);
    const std::string body(1280 * 1024, 'x');
    const auto scripted = origin.set(
        [&](auto& exchange) { exchange.answer(exchange.method == "GET" ? fresh() : "", body); });
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(get("a", "/one").body.size(), body.size());
    // A second's worth was there at the begin, and the last eighth is paid for later.
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 100ms);
    EXPECT_GT(waits(), 0u);
    const auto before = waits();
    auto connection = client();
    EXPECT_EQ(connection.get("/one").body.size(), body.size()) << "a hit";
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 1300ms);
    EXPECT_GT(waits(), before);
    EXPECT_EQ(connection.ask("POST", "/relayed", "", "x").body.size(), body.size());
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 2500ms);
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    EXPECT_EQ(http2.fetch(Http2Client::get("/one")).body.size(), body.size());
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 3700ms);
}

TEST_F(ClientLimitsOfANode, SlowDownTunnels) {
    auto settings = forward_config();
    settings.clients.limits.per_address.bandwidth = 1 << 20;
    start(settings);
    const std::string body(1280 * 1024, 'x');
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(), body); });
    auto tunnel = client();
    tunnel.begin("CONNECT", origin_authority());
    std::string head;
    while (!head.ends_with("\r\n\r\n") && tunnel.socket.receive(head, 1)) continue;
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(tunnel.get("/one").body.size(), body.size());
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 100ms);
    EXPECT_GT(waits(), 0u);
}

TEST_F(ClientLimitsOfANode, CutNoClientThatTheyHaveSlowedDown) {
    auto settings = config("a");
    settings.clients.limits.per_address.bandwidth = 256 << 10;
    settings.timeouts.body_idle = 100ms;
    settings.limits.client_rate_min = 1 << 20;  // four times as much as the client may have
    start(settings);
    const std::string body(384 * 1024, 'x');
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(), body); });
    const auto answer = get("a", "/one");
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body.size(), body.size());
}

TEST_F(ClientLimitsOfANode, AreNotForPeers) {
    const std::string body(512 * 1024, 'x');
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(), body); });
    auto settings = config("a", 2);
    settings.clients.limits.per_address.requests = 1;
    settings.clients.limits.per_address.bandwidth = 1024;
    start(settings);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(client("a").get("/small", "Range: bytes=0-9\r\n").status, 206u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(get("b", "/" + std::to_string(i)).status, 200u);
    EXPECT_EQ(refused(RequestRefusal::over_rate), 0u);
}

TEST_F(ClientLimitsOfANode, LeaveDestinationsOutThatAreDenied) {
    auto settings = forward_config();
    settings.forward.destinations.deny = {{"*.bad.test", Glob("*.bad.test"), 0}};
    settings.forward.destinations.allow = {{"127.0.0.1", Glob("127.0.0.1"), origin.port()},
                                           {"*.test", Glob("*.test"), 0}};
    start(settings);
    EXPECT_EQ(get("a", url("/one")).status, 200u);
    const auto refusal = get("a", "http://www.BAD.test/");
    EXPECT_EQ(refusal.status, 403u);
    EXPECT_EQ(refusal.body,
              "This proxy does not let requests through to www.bad.test (forward.destinations, "
              "deny: *.bad.test).\n");
    EXPECT_EQ(refusal.cache_status(), "a; detail=destination_denied");
    for (const auto* target :
         {"http://www.bad.test./", "https://www.bad.test/", "http://www.b%61d.test/",
          "http://other.example/", "http://127.0.0.1:1/"})
        EXPECT_EQ(get("a", target).status, 403u) << target;
    EXPECT_EQ(client().ask("CONNECT", "www.BAD.test:443").status, 403u);
    EXPECT_EQ(client().ask("CONNECT", "other.example:443").status, 403u);
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    EXPECT_EQ(http2.fetch({{":method", "CONNECT"}, {":authority", "www.bad.test:443"}}).status,
              403u);
    EXPECT_EQ(refused(RequestRefusal::destination_denied), 9u);
    EXPECT_EQ(origin.requests(), 1u);
    const auto explain = [&](const std::string& encoded) {
        return nlohmann::json::parse(admin("a", "/api/v1/explain?url=" + encoded).body);
    };
    EXPECT_EQ(explain("http%3A%2F%2Fwww.bad.test%2F")["destination_denied"], "deny: *.bad.test");
    EXPECT_EQ(explain("http%3A%2F%2Fwww.bad.test%2F")["refused"], "403 (forward.destinations)");
    EXPECT_TRUE(explain("http%3A%2F%2Fgood.test%2F")["destination_denied"].is_null());
}

}  // namespace client_limits_test
}  // namespace proxy::test
