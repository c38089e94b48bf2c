// CONNECT that the node answers itself (forward.intercept).
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/config/config_json.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/cluster/tls_kit.hpp"
#include "tests/cluster/tls_over.hpp"
#include "tests/proxy/tls/intercept_kit.hpp"

namespace proxy::test {
namespace intercept_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;
using AnswerOptions = TlsOver::AnswerOptions;

constexpr std::uint16_t kTlsPort = 3130;
constexpr std::string_view kHttp2 = "\x02h2\x08http/1.1";
/// The hash of "secret", by bcrypt at its lowest cost; and `Basic` of ann:secret.
constexpr auto kSecret = "$2y$04$ewgWxtsM1mFu1GPGRjf9ruXIHQ9gYpUPKW9GSZJHuQ8db9HoVtbRC";
constexpr auto kAnn = "Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n";

Certificates& certificates() {
    static Certificates made;
    return made;
}
AuthorityFiles& authority() {
    static AuthorityFiles made({"localhost", "pypi.test", "files.test"});
    return made;
}
std::string ca() {
    return authority().files().certificate;
}

/// A tunnel that the node has opened, and the client in it.
class Tunnelled {
public:
    Tunnelled(Client outer, const std::string& authority, const std::string& fields = {},
              std::string_view early = {})
        : outer_(std::make_shared<Client>(std::move(outer))) {
        outer_->socket.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" +
                            fields + "\r\n" + std::string(early));
        while (!head.ends_with("\r\n\r\n") && outer_->socket.receive(head, 1)) continue;
    }
    bool opened() const { return head.starts_with("HTTP/1.1 200"); }
    TlsOver::Line line() const {
        return {[socket = outer_](std::string_view bytes) { return socket->socket.send(bytes); },
                [socket = outer_](std::string& into) { return socket->socket.receive(into); }};
    }
    Socket& socket() { return outer_->socket; }

    std::string head;

private:
    std::shared_ptr<Client> outer_;
};

class Interception : protected LogCapture, public NodesTest {
protected:
    Interception() { spdlog::set_level(spdlog::level::info); }
    ~Interception() override { kill("a"); }

    /// All hosts lead to the scripted origin, in the clear.
    Config intercepting(const std::string& node = "a", unsigned nodes = 1) const {
        auto settings = nodes > 1 ? config(node, nodes) : config(node);
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.intercept = InterceptConfig{};
        auto& intercept = *settings.forward.intercept;
        for (const auto* host : {"localhost", "pypi.test", "files.test"})
            intercept.hosts.push_back({host, Glob(host), 0});
        intercept.ca = authority().files();
        return settings;
    }
    /// A client inside a CONNECT to `host`, which verifies that.
    TlsOver inside(const std::string& host = "pypi.test", const AnswerOptions& wishes = {},
                   const std::string& node = "a") const {
        TlsOver tls(ca(), host, wishes);
        Tunnelled tunnel(client(node), host + ":443");
        EXPECT_TRUE(tunnel.opened()) << tunnel.head;
        tls.connect(tunnel.line());
        return tls;
    }
    /// The proxy port in TLS, for clients that name it `https://proxy.test`.
    static void with_tls(Config& settings) {
        const auto files = certificates().issue("DNS:proxy.test");
        settings.tls = TlsConfig{{address("a"), kTlsPort}, files.certificate, files.key};
    }
    std::uint64_t refused(RequestRefusal reason) const { return status("a").work.refusals[reason]; }
    bool failed(InterceptFailure why) const {
        return eventually([&] { return status("a").work.intercept_failures[why] > 0; });
    }
};

TEST_F(Interception, ServesTheRequestsInsideFromTheStore) {
    start(intercepting());
    auto client = inside();
    ASSERT_TRUE(client.open());
    EXPECT_EQ(client.certificate(), "pypi.test");
    const auto first = client.get("/simple/");
    EXPECT_EQ(first.status, 200u);
    EXPECT_EQ(first.body, "body of /simple/");
    EXPECT_EQ(client.get("/simple/").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(inside().get("/simple/").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(origin.requests(), 1u);
    const auto work = status("a").work;
    EXPECT_EQ(work.intercepted_connections, 2u);
    EXPECT_EQ(work.intercepted_requests, 3u);
    EXPECT_EQ(work.requests[Outcome::local_hit], 2u);
    EXPECT_EQ(work.requests[Outcome::origin_fetch], 1u);
    EXPECT_EQ(work.total(), 3u) << "the CONNECT requests have no outcome";
    EXPECT_EQ(status("a").tls.leaves.minted, 1u);
    EXPECT_EQ(status("a").tls.leaves.cached, 1u);
}

TEST_F(Interception, SharesKeysWithRequestsForTheSameUrl) {
    auto settings = intercepting();
    settings.clients.trusted_proxies = {"127.0.0.1"};  // who may ask for https in the clear
    start(settings);
    EXPECT_EQ(inside().get("/one").status, 200u);
    const auto same = get("a", "https://pypi.test/one");
    EXPECT_EQ(same.cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(get("a", "http://pypi.test/one").cache_status().substr(0, 6), "a; fwd");
}

TEST_F(Interception, AsksPeersForContentOfHttpsUrls) {
    for (const auto* node : {"a", "b"}) start(intercepting(node, 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(inside("pypi.test", {}, "a").get("/one").status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    const auto got = inside("pypi.test", {}, "b").get("/one");
    EXPECT_THAT(got.cache_status(), HasSubstr("detail=PEER_a"));
    EXPECT_EQ(origin.requests(), 1u);
    kill("b");
}

TEST_F(Interception, LeavesOtherHostsAndPortsUntouched) {
    TlsOrigin server(certificates().issue("DNS:localhost"), [](const auto&, const auto&) {
        return std::string("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nits");
    });
    auto settings = intercepting();
    settings.forward.connect_ports = {443, server.port()};
    start(settings);
    TlsOver tls(certificates().ca(), "localhost");
    Tunnelled tunnel(client(), "localhost:" + std::to_string(server.port()));
    ASSERT_TRUE(tunnel.opened());
    EXPECT_TRUE(tls.connect(tunnel.line())) << "the certificate is that of the origin";
    EXPECT_EQ(tls.get("/").body, "its");
    EXPECT_EQ(status("a").work.intercepted_connections, 0u);
    EXPECT_EQ(status("a").tls.leaves.minted, 0u);
}

TEST_F(Interception, TakesAHelloThatComesWithTheConnect) {
    start(intercepting());
    TlsOver tls(ca(), "pypi.test");
    Tunnelled tunnel(client(), "pypi.test:443", {}, tls.hello());
    ASSERT_TRUE(tunnel.opened());
    ASSERT_TRUE(tls.connect(tunnel.line()));
    EXPECT_EQ(tls.get("/one").status, 200u);
}

TEST_F(Interception, VerifiesTheOrigin) {
    const auto answer = [](const auto&, const auto&) {
        return std::string("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nits");
    };
    TlsOrigin good(certificates().issue("DNS:localhost"), answer);
    TlsOrigin named(certificates().issue("DNS:other.test"), answer);
    TlsOrigin expired(
        certificates().issue("DNS:localhost", -std::chrono::days(9), -std::chrono::days(1)),
        answer);
    Certificates strangers;
    TlsOrigin strange(strangers.issue("DNS:localhost"), answer);
    ::setenv("SSL_CERT_FILE", certificates().ca().c_str(), 1);
    auto settings = intercepting();
    settings.origins.clear();
    auto& ports = settings.forward.intercept->ports;
    ports = {good.port(), named.port(), expired.port(), strange.port()};
    settings.forward.connect_ports = ports;
    start(settings);
    const auto fetch = [&](const TlsOrigin& server) {
        const auto place = "localhost:" + std::to_string(server.port());
        TlsOver tls(ca(), "localhost");
        Tunnelled tunnel(client(), place);
        EXPECT_TRUE(tls.connect(tunnel.line()));
        tls.host = place;
        return tls.get("/one");
    };
    EXPECT_EQ(fetch(good).body, "its");
    for (const auto& [server, why] : {std::pair<TlsOrigin*, const char*>{&named, "mismatch"},
                                      {&expired, "expired"},
                                      {&strange, "signature"}}) {
        const auto got = fetch(*server);
        EXPECT_EQ(got.status, 502u) << why;
        EXPECT_THAT(got.body, HasSubstr("tls_failed"));
        EXPECT_THAT(got.body, HasSubstr(why));
        EXPECT_EQ(server->requests, 0u);
    }
    ::unsetenv("SSL_CERT_FILE");
}

TEST_F(Interception, GivesNothingOfOtherHosts) {
    auto settings = intercepting();
    settings.clients.trusted_proxies = {"127.0.0.1"};  // who may ask for https in the clear
    start(settings);
    EXPECT_EQ(get("a", "https://files.test/one").status, 200u);
    auto client = inside();
    for (const auto* other : {"files.test", "pypi.test:8443", "www.pypi.test", "127.0.0.1"}) {
        client.host = other;
        const auto got = client.get("/one");
        EXPECT_EQ(got.status, 421u) << other;
        EXPECT_THAT(got.cache_status(), HasSubstr("detail=misdirected"));
    }
    client.host = "pypi.test:443";
    EXPECT_EQ(client.get("/one").status, 200u) << "the connection goes on";
    client.host = "pypi.test";
    EXPECT_EQ(client.get("https://files.test/one").status, 421u);
    EXPECT_EQ(client.get("http://pypi.test/one").status, 421u) << "a downgrade";
    EXPECT_EQ(client.get("https://pypi.test/one").status, 200u);
    EXPECT_EQ(refused(RequestRefusal::misdirected), 6u);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Interception, GivesNothingAfterAHandshakeForAnotherHost) {
    start(intercepting());
    AnswerOptions wishes;
    wishes.server_name = "files.test";
    wishes.verify = false;
    auto client = inside("pypi.test", wishes);
    ASSERT_TRUE(client.open());
    EXPECT_EQ(client.certificate(), "pypi.test");
    EXPECT_EQ(client.get("/one").status, 421u);
    EXPECT_TRUE(client.was_told_the_end());
    wishes.server_name = "-";
    auto unnamed = inside("pypi.test", wishes);
    EXPECT_EQ(unnamed.get("/one").status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Interception, ResumesSessionsForTheSameHostAlone) {
    start(intercepting());
    for (const auto version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        AnswerOptions wishes;
        wishes.highest_version = version;
        auto first = inside("pypi.test", wishes);
        ASSERT_EQ(first.get("/one").status, 200u);
        wishes.session = first.session();
        auto again = inside("pypi.test", wishes);
        EXPECT_TRUE(again.resumed());
        EXPECT_EQ(again.get("/one").status, 200u);
        wishes.verify = false;
        wishes.server_name = "pypi.test";
        EXPECT_FALSE(inside("files.test", wishes).resumed());
    }
}

TEST_F(Interception, OpensNoTunnelsInside) {
    start(intercepting());
    auto client = inside();
    EXPECT_EQ(client.ask("CONNECT", "pypi.test:443").status, 403u);
    EXPECT_TRUE(client.was_told_the_end());
}

TEST_F(Interception, SpeaksHttp2Inside) {
    start(intercepting());
    const auto context = std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(kHttp2.data()),
                            static_cast<unsigned>(kHttp2.size()));
    Tunnelled tunnel(client(), "pypi.test:443");
    ASSERT_TRUE(tunnel.opened());
    TlsEnd end(context.get(), std::move(tunnel.socket()), false, "pypi.test");
    ASSERT_TRUE(end.open());
    Http2Client http2(std::move(end));
    const auto lines = [](const char* method, const char* authority, const char* path,
                          const char* scheme = "https") {
        return Http2Client::Lines{
            {":method", method}, {":scheme", scheme}, {":authority", authority}, {":path", path}};
    };
    EXPECT_EQ(http2.fetch(lines("GET", "pypi.test", "/one")).body, "body of /one");
    EXPECT_EQ(http2.fetch(lines("GET", "pypi.test", "/one")).status, 200u);
    EXPECT_EQ(http2.fetch(lines("GET", "files.test", "/one")).status, 421u) << "coalescing";
    EXPECT_EQ(http2.fetch(lines("GET", "pypi.test", "/one", "http")).status, 421u);
    EXPECT_EQ(http2.fetch({{":method", "CONNECT"}, {":authority", "pypi.test:443"}}).status, 403u);
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(status("a").work.intercepted_requests, 5u);
}

TEST_F(Interception, AnswersAConnectInAStreamOfHttp2) {
    start(intercepting());
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    const auto stream =
        http2.begin({{":method", "CONNECT"}, {":authority", "pypi.test:443"}}, false);
    while (http2.streams[stream].status == 0 && http2.read_frame()) continue;
    ASSERT_EQ(http2.streams[stream].status, 200u);
    TlsOver tls(ca(), "pypi.test");
    ASSERT_TRUE(tls.connect({[&](std::string_view bytes) {
                                 http2.send_data(stream, bytes, false);
                                 return !http2.closed;
                             },
                             [&](std::string& into) {
                                 auto& body = http2.streams[stream].body;
                                 while (body.empty() && !http2.streams[stream].ended)
                                     if (!http2.read_frame()) return false;
                                 into.append(std::exchange(body, {}));
                                 return !into.empty();
                             }}));
    EXPECT_EQ(tls.get("/one").body, "body of /one");
    EXPECT_EQ(tls.get("/one").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(status("a").connections, 3u) << "the two ends of the one inside count";
    http2.send_data(stream, {}, true);
    EXPECT_TRUE(http2.response(stream).ended);
    EXPECT_TRUE(eventually([&] { return status("a").connections == 1; }));
    const auto work = status("a").work;
    EXPECT_EQ(work.bytes_to_clients, 2 * std::string("body of /one").size()) << "counted once";
    EXPECT_EQ(work.bytes_from_origins, std::string("body of /one").size());
}

TEST_F(Interception, GivesBackItsPlacesInAStreamThatTheClientDoesNotEnd) {
    auto settings = intercepting();
    settings.limits.connections_per_address = 3;
    start(settings);
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    for (int turn = 0; turn < 3; ++turn) {
        const auto stream =
            http2.begin({{":method", "CONNECT"}, {":authority", "pypi.test:443"}}, false);
        while (http2.streams[stream].status == 0 && http2.read_frame()) continue;
        ASSERT_EQ(http2.streams[stream].status, 200u) << "turn " << turn;
        http2.send_data(stream, "GET /one HTTP/1.1\r\n\r\n", false);  // no TLS: the inside ends
        EXPECT_TRUE(http2.response(stream).ended);
        EXPECT_TRUE(eventually([&] { return status("a").connections == 1; })) << "turn " << turn;
    }
}

TEST_F(Interception, TakesNoMoreConnectionsInStreamsThanOneClientMayHave) {
    auto settings = intercepting();
    settings.limits.connections_per_address = 4;
    start(settings);
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    const Http2Client::Lines connect{{":method", "CONNECT"}, {":authority", "pypi.test:443"}};
    const auto first = http2.begin(connect, false);
    while (http2.streams[first].status == 0 && http2.read_frame()) continue;
    EXPECT_EQ(http2.streams[first].status, 200u);
    EXPECT_EQ(http2.fetch(connect).status, 503u);
    EXPECT_EQ(refused(RequestRefusal::too_many_connections), 1u);
}

TEST_F(Interception, CountsTheRequestsInsideAndNotTheConnectThatCarriesThem) {
    auto settings = intercepting();
    settings.clients.limits.per_address.connections = 1;
    settings.limits.connections_per_address = 64;
    with_tls(settings);
    start(settings);
    std::vector<std::unique_ptr<TlsClientEnd>> outers;
    std::vector<std::unique_ptr<TlsOver>> inners;
    for (int i = 0; i < 3; ++i) {
        auto& outer = *outers.emplace_back(std::make_unique<TlsClientEnd>(
            address("a"), kTlsPort, certificates().ca(), "proxy.test"));
        outer.end.send("CONNECT pypi.test:443 HTTP/1.1\r\nHost: pypi.test:443\r\n\r\n");
        std::string head;
        while (!head.ends_with("\r\n\r\n")) ASSERT_TRUE(outer.end.receive(head));
        ASSERT_THAT(head, HasSubstr("200")) << i;
        auto& tls = *inners.emplace_back(std::make_unique<TlsOver>(ca(), "pypi.test"));
        ASSERT_TRUE(tls.connect({[&outer](std::string_view bytes) { return outer.end.send(bytes); },
                                 [&outer](std::string& into) { return outer.end.receive(into); }}));
    }
    for (auto& tls : inners) EXPECT_EQ(tls->get("/one").status, 200u);
    EXPECT_EQ(refused(RequestRefusal::over_connections), 0u);
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        gate.wait();
        exchange.answer(fresh(), "x");
    });
    auto slow = client();
    slow.begin("GET", "http://pypi.test/slow");
    ASSERT_TRUE(gate.wait_for(1));
    EXPECT_EQ(inners[0]->get("/one").status, 429u) << "the requests inside count";
    gate.open();
    EXPECT_EQ(slow.read().status, 200u);
}

TEST_F(Interception, AnswersAConnectInsideTls) {
    auto settings = intercepting();
    with_tls(settings);
    start(settings);
    TlsClientEnd outer(address("a"), kTlsPort, certificates().ca(), "proxy.test");
    outer.end.send("CONNECT pypi.test:443 HTTP/1.1\r\nHost: pypi.test:443\r\n\r\n");
    std::string head;
    while (!head.ends_with("\r\n\r\n")) ASSERT_TRUE(outer.end.receive(head));
    ASSERT_THAT(head, HasSubstr("200"));
    TlsOver tls(ca(), "pypi.test");
    ASSERT_TRUE(tls.connect({[&](std::string_view bytes) { return outer.end.send(bytes); },
                             [&](std::string& into) { return outer.end.receive(into); }}));
    EXPECT_EQ(tls.get("/one").body, "body of /one");
}

TEST_F(Interception, PassesWebSockets) {
    const auto scripted = origin.set([](Exchange& e) {
        e.keep = false;
        e.send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "\r\n");
        for (std::string got; e.socket.receive(got); got.clear()) e.send(got);
    });
    start(intercepting());
    auto client = inside();
    client.send(
        "GET /chat HTTP/1.1\r\nHost: pypi.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    EXPECT_EQ(client.read().status, 101u);
    client.send("hello");
    std::string got;
    while (got.size() < 5) ASSERT_TRUE(client.receive(got));
    EXPECT_EQ(got, "hello");
}

TEST_F(Interception, PassesUploads) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer({}, std::to_string(e.body.size())); });
    start(intercepting());
    EXPECT_EQ(inside().ask("POST", "/one", {}, std::string(300'000, 'p')).body, "300000");
}

TEST_F(Interception, TellsAClientThatSpeaksPlainHttp) {
    start(intercepting());
    Tunnelled tunnel(client(), "pypi.test:443");
    tunnel.socket().send("GET / HTTP/1.1\r\nHost: pypi.test\r\n\r\n");
    std::string got;
    while (tunnel.socket().receive(got)) continue;
    EXPECT_THAT(got, HasSubstr("HTTP/1.1 400"));
    EXPECT_THAT(got, HasSubstr("forward.intercept"));
    EXPECT_TRUE(failed(InterceptFailure::no_tls));
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(Interception, EndsOtherProtocolsAndOldVersionsAndSilence) {
    auto settings = intercepting();
    start(settings);
    Tunnelled ssh(client(), "pypi.test:443");
    ssh.socket().send("SSH-2.0-OpenSSH_9.2p1\r\n");
    std::string got;
    while (ssh.socket().receive(got)) continue;
    EXPECT_TRUE(failed(InterceptFailure::no_tls));
    AnswerOptions old;
    old.highest_version = TLS1_1_VERSION;
    EXPECT_FALSE(inside("pypi.test", old).open());
    EXPECT_TRUE(failed(InterceptFailure::version));
    settings.timeouts.client_head = 100ms;
    start(settings);
    Tunnelled silent(client(), "pypi.test:443");
    while (silent.socket().receive(got)) continue;
    EXPECT_TRUE(failed(InterceptFailure::timeout));
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
}

TEST_F(Interception, SaysWhatToDoForAClientThatDoesNotTrustTheCa) {
    start(intercepting());
    for (int i = 0; i < 3; ++i) {
        TlsOver tls(certificates().ca(), "pypi.test");
        Tunnelled tunnel(client(), "pypi.test:443");
        EXPECT_FALSE(tls.connect(tunnel.line()));
    }
    EXPECT_TRUE(eventually(
        [&] { return status("a").work.intercept_failures[InterceptFailure::untrusted] == 3; }));
    const auto lines = logged("does not trust the certificate for pypi.test");
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_THAT(lines[0], HasSubstr(ca()));
}

TEST_F(Interception, HoldsTheUserOfTheConnectInside) {
    TemporaryDirectory folder;
    const auto users = (folder.path() / "users").string();
    const auto write = [&](const std::string& text) {
        std::ofstream(users + ".new") << text;
        std::filesystem::rename(users + ".new", users);
    };
    write(std::string("ann:") + kSecret + "\n");
    auto settings = intercepting();
    settings.origins.clear();
    settings.origins.push_back({"files.test", {"127.0.0.1", origin.port()}});
    settings.forward.authentication = AuthenticationConfig{users};
    TlsOrigin server(
        certificates().issue("DNS:localhost"), [](const std::string& head, const auto&) {
            const auto text = field_of(head, "Proxy-Authorization");
            return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) +
                   "\r\n\r\n" + text;
        });
    ::setenv("SSL_CERT_FILE", certificates().ca().c_str(), 1);
    const auto place = "localhost:" + std::to_string(server.port());
    settings.forward.connect_ports = settings.forward.intercept->ports = {server.port()};
    start(settings);
    EXPECT_THAT(Tunnelled(client(), place).head, HasSubstr("407"));
    TlsOver tls(ca(), "localhost");
    Tunnelled tunnel(client(), place, kAnn);
    ASSERT_TRUE(tls.connect(tunnel.line()));
    tls.host = place;
    EXPECT_EQ(tls.get("/one").status, 200u);
    EXPECT_EQ(tls.get("/two", kAnn).body, "") << "a password inside stays at the node";
    write("bob:" + std::string(kSecret) + "\n");
    ASSERT_TRUE(eventually([&] { return !Tunnelled(client(), place, kAnn).opened(); }));
    EXPECT_EQ(tls.get("/three").status, 403u);
    EXPECT_TRUE(tls.was_told_the_end());
    EXPECT_EQ(server.requests, 2u);
    ::unsetenv("SSL_CERT_FILE");
}

TEST_F(Interception, EndsWhereAReloadTakesTheHostOut) {
    TemporaryDirectory folder;
    auto settings = intercepting();
    const auto file = folder.path() / "node.json";
    std::ofstream(file) << effective_config(settings);
    auto& node = start(settings, file);
    auto client = inside();
    ASSERT_EQ(client.get("/one").status, 200u);
    auto& hosts = settings.forward.intercept->hosts;
    std::erase_if(hosts, [](const auto& each) { return each.text == "pypi.test"; });
    std::ofstream(file, std::ios::trunc) << effective_config(settings);
    node.reload();
    ASSERT_TRUE(eventually([&] {
        return admin_client().get("/api/v1/config").body.find("pypi.test") == std::string::npos;
    }));
    const auto last = client.get("/one");
    EXPECT_EQ(last.status, 421u);
    EXPECT_TRUE(client.was_told_the_end());
    EXPECT_EQ(inside("files.test").get("/one").status, 200u);
}

TEST_F(Interception, UsesARenewedCa) {
    const AuthorityFiles own({"pypi.test", "files.test", "localhost"});
    auto settings = intercepting();
    settings.forward.intercept->ca = own.files();
    start(settings);
    EXPECT_EQ(status("a").tls.certificates.size(), 1u);
    const auto trusts = [&] {
        TlsOver tls(own.files().certificate, "pypi.test");
        Tunnelled tunnel(client(), "pypi.test:443");
        return tls.connect(tunnel.line());
    };
    EXPECT_TRUE(trusts());
    own.write(make_authority(
        {{"pypi.test", "files.test", "localhost"}, "next", std::chrono::days(9)}, wall_now()));
    EXPECT_TRUE(eventually(trusts));
    EXPECT_EQ(status("a").tls.leaves.minted, 2u);
}

TEST_F(Interception, LeavesInPeaceWhenTheNodeDrains) {
    auto& node = start(intercepting());
    auto client = inside();
    EXPECT_EQ(client.get("/one").status, 200u);
    node.drain();
    EXPECT_TRUE(client.was_told_the_end());
    node.join();
}

TEST_F(Interception, KnowsTheClientBehindATrustedProxy) {
    auto settings = intercepting();
    settings.clients.trusted_proxies = PrefixList{"127.0.0.1"};
    settings.clients.deny = PrefixList{"192.0.2.66"};
    start(settings);
    Tunnelled denied(client(), "pypi.test:443", "X-Forwarded-For: 192.0.2.66\r\n");
    EXPECT_THAT(denied.head, HasSubstr("403"));
    TlsOver tls(ca(), "pypi.test");
    Tunnelled tunnel(client(), "pypi.test:443", "X-Forwarded-For: 10.1.1.1\r\n");
    ASSERT_TRUE(tunnel.opened());
    ASSERT_TRUE(tls.connect(tunnel.line()));
    // Inside the client speaks, so its own statement counts for nothing.
    EXPECT_EQ(tls.get("/one", "X-Forwarded-For: 192.0.2.66\r\n").status, 200u);
    EXPECT_EQ(field_of(origin.heads().back(), "X-Forwarded-For"), "10.1.1.1");
}

TEST_F(Interception, ShowsInExplainAndTheAccessLog) {
    TemporaryDirectory folder;
    auto settings = intercepting();
    settings.log.access = (folder.path() / "access.log").string();
    start(settings);
    const auto explained =
        nlohmann::json::parse(admin("a", "/api/v1/explain?url=https%3A%2F%2Fpypi.test%2Fx").body);
    EXPECT_EQ(explained.value("intercepted", ""), "pypi.test");
    EXPECT_EQ(inside().get("/one").status, 200u);
    kill("a");
    std::ifstream in(settings.log.access);
    const std::string log{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(log, HasSubstr(R"("method":"CONNECT","url":"pypi.test:443")"));
    EXPECT_THAT(log, HasSubstr(R"("url":"https://pypi.test/one")"));
    EXPECT_THAT(log, HasSubstr(R"("intercepted":true)"));
}

}  // namespace intercept_test
}  // namespace proxy::test
