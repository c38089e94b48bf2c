#include "tests/cluster/fixture.hpp"
#include "tests/cluster/tls_kit.hpp"

namespace proxy::test {
namespace upgrade_test {

using namespace std::chrono_literals;

constexpr std::string_view kHandshake =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
constexpr std::string_view kSwitching =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX-Hop: 1\r\n\r\n";

class Upgrades : public NodesTest {
protected:
    /// Agrees, says `first`, and sends its input back.
    static ScriptedOrigin::Script echo(std::string first = {}) {
        return [first](Exchange& e) {
            e.keep = false;
            e.send(std::string(kSwitching) + first);
            for (std::string got; e.socket.receive(got); got.clear()) e.send(got);
        };
    }
    static std::string receive(Socket& from, std::size_t bytes) {
        std::string got;
        while (got.size() < bytes && from.receive(got, bytes - got.size())) {
        }
        return got;
    }
    static std::string receive_head(Socket& from) {
        std::string head;
        while (!head.ends_with("\r\n\r\n") && from.receive(head, 1)) {
        }
        return head;
    }
    bool over(std::uint64_t tunnels = 1) {
        return eventually([&] {
            return status("a").connections == 0 && count("a", Outcome::uncacheable) == tunnels;
        });
    }
};

TEST_F(Upgrades, BecomeATunnelWhenTheOriginAgrees) {  // RFC 9110 §7.8
    start(config("a"));
    const auto scripted = origin.set(echo());
    auto client = this->client();
    client.begin("GET", "/chat", kHandshake);
    const auto head = receive_head(client.socket);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << head;
    EXPECT_EQ(field_of(head, "Upgrade"), "websocket");
    EXPECT_EQ(field_of(head, "Connection"), "Upgrade");
    EXPECT_EQ(field_of(head, "Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(field_of(head, "Content-Length"), "");
    const auto asked = origin.heads().back();
    EXPECT_EQ(field_of(asked, "Upgrade"), "websocket");
    EXPECT_EQ(field_of(asked, "Connection"), "Upgrade");
    EXPECT_EQ(field_of(asked, "Sec-WebSocket-Key"), "dGhlIHNhbXBsZSBub25jZQ==");
    for (const auto* text : {"one", "two", "three"}) {
        client.socket.send(text);
        EXPECT_EQ(receive(client.socket, std::string_view(text).size()), text);
    }
    client.socket.shut_send();
    std::string rest;
    EXPECT_FALSE(client.socket.receive(rest));
    EXPECT_TRUE(over());
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Upgrades, LoseNoByteThatComesRightBehindAHandshake) {
    start(config("a"));
    const std::string first(3'000, 'o'), early(3'000, 'e');
    const auto scripted = origin.set(echo(first));
    auto client = this->client();
    client.begin("GET", "/chat", std::string(kHandshake), {});
    client.socket.send(early);
    receive_head(client.socket);
    EXPECT_EQ(receive(client.socket, first.size() + early.size()), first + early);
}

TEST_F(Upgrades, AreAskedOfTargetsOfTheForwardProxyToo) {
    auto settings = forward_config();
    start(settings);
    const auto scripted = origin.set(echo());
    auto client = this->client();
    client.begin("GET", "http://" + origin_authority() + "/chat", kHandshake);
    EXPECT_TRUE(receive_head(client.socket).starts_with("HTTP/1.1 101 "));
    client.socket.send("ping");
    EXPECT_EQ(receive(client.socket, 4), "ping");
}

TEST_F(Upgrades, PassOnAnyOtherAnswerAsItIs) {
    start(config("a"));
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh(), "not here", "426 Upgrade Required"); });
    auto client = this->client();
    for (int again = 0; again < 2; ++again) {
        const auto answer = client.get("/chat", kHandshake);
        EXPECT_EQ(answer.status, 426u);
        EXPECT_EQ(answer.body, "not here");
    }
    EXPECT_EQ(origin.requests(), 2u) << "nothing is stored";
}

TEST_F(Upgrades, AreRefusedWhenTheyAreSwitchedOff) {
    auto settings = config("a");
    settings.protocols.upgrade.clear();
    start(settings);
    auto client = this->client();
    const auto answer = client.get("/chat", kHandshake);
    EXPECT_EQ(answer.status, 403u);
    EXPECT_TRUE(contains(answer.body, "(upgrade)")) << answer.body;
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::upgrade], 1u);
    EXPECT_EQ(client.get("/one", "Connection: Upgrade\r\nUpgrade: h2c\r\n").status, 200u)
        << "what the request can do without is left out";
    EXPECT_EQ(field_of(origin.heads().back(), "Upgrade"), "");
}

TEST_F(Upgrades, ThatNobodyAskedForAreAnError) {
    start(config("a"));
    {
        const auto scripted = origin.set(echo());
        EXPECT_EQ(get("a", "/one").status, 502u);
        EXPECT_EQ(client().ask("POST", "/one", "", "x").status, 502u);
    }
    const auto scripted = origin.set([](Exchange& e) {
        e.keep = false;
        e.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n");
    });
    EXPECT_EQ(get("a", "/one", kHandshake).status, 502u) << "another protocol";
}

TEST_F(Upgrades, EndWhenNothingMovesForTooLong) {
    auto settings = config("a");
    settings.timeouts.tunnel_idle = 50ms;
    start(settings);
    const auto scripted = origin.set(echo());
    auto client = this->client();
    client.begin("GET", "/chat", kHandshake);
    receive_head(client.socket);
    std::string rest;
    EXPECT_FALSE(client.socket.receive(rest));
    EXPECT_TRUE(over());
}

TEST_F(Upgrades, WorkOverTLSToTheOrigin) {
    Certificates certificates;
    const std::string first(5'000, 'o');  // one record, of which the head's read takes a part
    TlsOrigin server(certificates.issue("IP:127.0.0.1"),
                     [&](const auto&, const auto&) { return std::string(kSwitching) + first; });
    auto settings = config("a");
    settings.origins = {
        {"*", {"127.0.0.1", server.port()}, OriginTlsConfig{true, certificates.ca(), {}}}};
    start(settings);
    auto client = this->client();
    client.begin("GET", "/chat", kHandshake);
    EXPECT_TRUE(receive_head(client.socket).starts_with("HTTP/1.1 101 "));
    EXPECT_EQ(receive(client.socket, first.size()), first);
}

}  // namespace upgrade_test
}  // namespace proxy::test
