#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/cluster/tls_kit.hpp"

namespace proxy::test {
namespace access_test {

using namespace std::string_literals;

/// The rights of clients, the statements that count for them, and the fields by which origins learn
/// of them. The tests' own clients are at 127.0.0.1.
class Access : public NodesTest {
protected:
    std::uint64_t refused(RequestRefusal reason) const { return status("a").work.refusals[reason]; }
    std::string told(std::string_view name) const { return field_of(origin.heads().back(), name); }
};

TEST_F(Access, IsOnlyForThoseWhoMayAsk) {
    auto settings = config("a");
    settings.clients.deny = {"127.0.0.0/8"};
    start(settings);
    for (const auto* method : {"GET", "HEAD", "PURGE", "OPTIONS"}) {
        const auto answer = client().ask(method, "/one");
        EXPECT_EQ(answer.status, 403u) << method;
    }
    EXPECT_TRUE(contains(get("a", "/one").body, "clients.deny"));
    EXPECT_EQ(this->client().ask("CONNECT", "127.0.0.1:443").status, 403u);
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(refused(RequestRefusal::client), 6u);

    settings.node = "b";
    settings.listen.host = settings.admin->listen.host = address("b");
    settings.clients = {};
    settings.clients.allow = {"10.0.0.0/8"};
    start(settings);
    EXPECT_EQ(get("b", "/one").status, 403u);
}

/// Neither an error of the node, nor bytes that it saved.
TEST_F(Access, ARefusalIsAnOutcomeOfItsOwn) {
    auto settings = config("a");
    settings.origins.front().host = "other.test";
    start(settings);
    const auto refusal = get("a", "/one");
    EXPECT_EQ(refusal.status, 404u);
    EXPECT_EQ(refusal.cache_status(), "a; detail=no_route");
    const auto tunnel = client().ask("CONNECT", "other.test:443");
    EXPECT_EQ(tunnel.status, 403u);
    EXPECT_EQ(tunnel.cache_status(), "a; detail=no_route");
    EXPECT_TRUE(eventually([&] { return status("a").work.total() == 2; }));
    const auto work = status("a").work;
    EXPECT_EQ(work.requests[Outcome::refused], 2u);
    EXPECT_EQ(work.bytes_to_clients, 0u) << "the node wrote the texts itself";
}

TEST_F(Access, IsNotHeldByThoseWhoMayNotAsk) {
    auto settings = config("a");
    settings.clients.deny = {"127.0.0.66"};
    settings.limits.connections = 4;
    start(settings);
    std::vector<Client> denied;
    for (int i = 0; i < 20; ++i) {
        denied.push_back(client("a", "127.0.0.66"));
        EXPECT_EQ(denied.back().read().status, 403u) << "without being asked";
        EXPECT_TRUE(denied.back().at_end());
    }
    EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_EQ(refused(RequestRefusal::client), 20u);
    EXPECT_EQ(status("a").work.connections_made_room, 0u);
}

/// A denied address may be a peer's, which proves itself by its first request only.
TEST_F(Access, IsNotHeldInAClusterByThoseWhoMayNotAsk) {
    auto settings = config("a", 2);
    settings.clients.allow = {"127.0.0.1"};
    settings.limits.connections = 100;
    start(settings);
    std::vector<Client> denied;
    for (int i = 0; i < 90; ++i) denied.push_back(client("a", "127.0.0.66"));
    ASSERT_TRUE(eventually([&] { return status("a").work.connections_accepted >= 90; }));
    EXPECT_TRUE(eventually([&] { return status("a").connections <= 64; }))
        << status("a").connections;
    EXPECT_EQ(client("a", "127.0.0.66").get("/one").status, 403u);
    EXPECT_EQ(get("a", "/one").status, 200u);
    EXPECT_GT(status("a").work.connections_made_room, 0u);
}

TEST_F(Access, ToTheForwardProxyIsForItsClients) {
    auto settings = forward_config();
    settings.origins = {{"own.test", {"127.0.0.1", origin.port()}}};
    settings.forward.clients = {"10.0.0.0/8"};
    start(settings);
    const auto answer = get("a", url("/one"));
    EXPECT_EQ(answer.status, 403u);
    EXPECT_TRUE(contains(answer.body, "forward.clients")) << answer.body;
    EXPECT_EQ(client().ask("POST", url("/one"), "", "x").status, 403u);
    const auto connect = client().ask("CONNECT", origin_authority());
    EXPECT_EQ(connect.status, 403u);
    EXPECT_TRUE(contains(connect.body, "forward.clients")) << connect.body;
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(refused(RequestRefusal::forward_client), 3u);
    EXPECT_EQ(get("a", "http://own.test/one").status, 200u) << "the reverse proxy is for everybody";
}

TEST_F(Access, ToWhatTheForwardProxyHasStoredIsForItsClientsToo) {
    auto settings = forward_config();
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    EXPECT_EQ(get("a", url("/one"), "X-Forwarded-For: 10.0.0.1\r\n").status, 200u);
    const auto host = origin_authority();
    auto stranger = client();
    stranger.host = host;
    EXPECT_EQ(stranger.get("/one", "X-Forwarded-For: 8.8.8.8\r\n").status, 403u) << "origin-form";
    EXPECT_EQ(stranger.get(url("/one"), "X-Forwarded-For: 8.8.8.8\r\n").status, 403u);
    EXPECT_EQ(stranger.get(url("/one"), "X-Forwarded-For: 10.0.0.1\r\n").status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Access, OfPeersIsByTheirTokenAlone) {
    auto settings = config("a", 2);
    settings.clients.allow = {"10.0.0.0/8"};  // which the peer is not among
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/one", "X-Forwarded-For: 10.0.0.1\r\n").status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("a", "/one").status, 403u);
    const auto given = get("b", "/one");
    EXPECT_TRUE(contains(given.cache_status(), "PEER_a")) << given.cache_status();
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Access, GoesByWhomATrustedProxyNames) {
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    settings.clients.deny = {"6.6.6.6"};
    start(settings);
    auto proxied = client();
    EXPECT_EQ(proxied.get("/one", "X-Forwarded-For: 6.6.6.6\r\n").status, 403u);
    EXPECT_EQ(proxied.get("/one", "X-Forwarded-For: 6.6.6.6, 1.1.1.1\r\n").status, 200u);
    EXPECT_EQ(proxied.get("/one", "X-Forwarded-For: 1.1.1.1, 6.6.6.6, 127.0.0.1\r\n").status, 403u);
    EXPECT_EQ(proxied.get("/one").status, 200u);
}

// Apache's CVE-2022-31813: a client may not take away a proxy's statement about it.
TEST_F(Access, GoesByWhomATrustedProxyNamesWhateverConnectionNames) {
    auto settings = forward_config();
    settings.origins = {{"origin.test", {"127.0.0.1", origin.port()}}};
    settings.clients.trusted_proxies = {"127.0.0.1"};
    settings.clients.deny = {"6.6.6.6"};
    start(settings);
    const std::string options =
        "Connection: X-Forwarded-For, Forwarded, Via, X-Forwarded-Proto, X-Forwarded-Host\r\n";
    for (const auto* method : {"GET", "POST", "PURGE"})
        EXPECT_EQ(client().ask(method, "/one", options + "X-Forwarded-For: 6.6.6.6\r\n").status,
                  403u)
            << method;
    EXPECT_EQ(origin.requests(), 0u);
    const auto stranger = options + "X-Forwarded-For: 8.8.8.8\r\n";
    EXPECT_EQ(client().ask("PURGE", "/one", stranger).status, 403u);
    EXPECT_EQ(get("a", url("/one"), stranger).status, 403u) << "forward.clients";
    EXPECT_EQ(get("a", url("/one"), options + "Forwarded: for=8.8.8.8\r\n").status, 403u);
    EXPECT_EQ(get("a", "/one", stranger + "X-Forwarded-Proto: https\r\n").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "8.8.8.8, 127.0.0.1");
    EXPECT_EQ(told("X-Forwarded-Proto"), "https");
}

TEST_F(Access, IsNotGivenWhereATrustedProxyNamesNobodyThatCanBeRead) {
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    settings.clients.deny = {"10.0.0.1"};
    start(settings);
    ASSERT_EQ(get("a", "/one").status, 200u);
    auto proxied = client();
    for (const std::string name : {"\"10.0.0.1\"", "10.0.0.01", "10.0.0.1, unknown"}) {
        const auto answer = proxied.get("/one", "X-Forwarded-For: " + name + "\r\n");
        EXPECT_EQ(answer.status, 403u) << name;
        EXPECT_TRUE(contains(answer.body, "does not name")) << answer.body;
    }
    EXPECT_EQ(proxied.get("/one", "X-Forwarded-For: 10.0.0.2\r\n").status, 200u);
}

TEST_F(Access, ToPurgeIsNotGivenOnTheWordOfAnUnknownProxy) {
    start(config("a"));
    for (const auto* line :
         {"Via: 1.1 x\r\n", "X-Forwarded-For: 127.0.0.1\r\n", "Forwarded: for=127.0.0.1\r\n"})
        for (const auto* options : {"", "Connection: Via, X-Forwarded-For, Forwarded\r\n"})
            EXPECT_EQ(client().ask("PURGE", "/one", std::string(options) + line).status, 403u)
                << options << line;
    EXPECT_EQ(client().ask("PURGE", "/one").status, 200u);
    EXPECT_EQ(refused(RequestRefusal::forbidden), 6u);
}

TEST_F(Access, IsToldToOriginsByAddress) {
    start(config("a"));
    get("a", "/one",
        "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n"
        "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.test\r\n");
    EXPECT_EQ(told("X-Forwarded-For"), "127.0.0.1");
    EXPECT_EQ(told("Forwarded"), "for=127.0.0.1;host=origin.test;proto=http");
    EXPECT_EQ(told("X-Forwarded-Proto"), "http");
    EXPECT_EQ(told("X-Forwarded-Host"), "origin.test");
    EXPECT_FALSE(contains(origin.heads().back(), "6.6.6.6"));
    client().ask("POST", "/two", "Connection: X-Forwarded-For\r\n", "x");
    EXPECT_EQ(told("X-Forwarded-For"), "127.0.0.1") << "a client cannot take it away";
    EXPECT_EQ(get("a", "/one").cache_status().substr(0, 6), "a; hit") << "the key is the same";
}

TEST_F(Access, IsNotToldToTargetsOfTheForwardProxy) {
    start(forward_config());
    get("a", url("/one"), "X-Forwarded-Host: evil.test\r\n");
    for (const auto* name :
         {"X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Forwarded-Host"})
        EXPECT_EQ(told(name), "") << name;
    auto settings = forward_config();
    settings.node = "b";
    settings.listen.host = settings.admin->listen.host = address("b");
    settings.forwarded.forward = ForwardedMode::append;
    start(settings);
    get("b", url("/two"));
    EXPECT_EQ(told("X-Forwarded-For"), "127.0.0.1");
}

TEST_F(Access, KeepsApartWhatAnOriginVariesByTheClient) {
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh("Vary: X-Forwarded-For\r\n"), "for " + e.field("X-Forwarded-For"));
    });
    for (int again = 0; again < 2; ++again)
        for (const auto* who : {"1.1.1.1", "2.2.2.2"}) {
            const auto line = std::string("X-Forwarded-For: ") + who + "\r\n";
            EXPECT_EQ(get("a", "/one", line).body, std::string("for ") + who + ", 127.0.0.1");
        }
    EXPECT_EQ(origin.requests(), 2u);
}

/// Nodes behind a trusted proxy, which states the requests of its clients.
class Stated : public Access {
protected:
    Config behind_a_proxy(Config settings) const {
        settings.clients.trusted_proxies = {"127.0.0.1"};
        return settings;
    }
    static std::string https(std::string_view more = {}) {
        return "X-Forwarded-Proto: https\r\n" + std::string(more);
    }
    static std::string host(const std::string& name) {
        return "X-Forwarded-Host: " + name + "\r\n";
    }
};

TEST_F(Stated, SchemesAreKeptApart) {
    start(behind_a_proxy(config("a")));
    const auto scripted = origin.set([](Exchange& e) {
        if (e.field("X-Forwarded-Proto") == "https") return e.answer(fresh(), "page");
        e.answer(fresh("Location: https://origin.test" + e.target + "\r\n"), "",
                 "301 Moved Permanently");
    });
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(get("a", "/one").status, 301u);
        EXPECT_EQ(get("a", "/one", "X-Forwarded-Proto: http\r\n").status, 301u);
        EXPECT_EQ(get("a", "/one", https()).body, "page");
        EXPECT_EQ(get("a", "/one", "Forwarded: for=1.1.1.1;proto=https\r\n").body, "page");
        EXPECT_EQ(get("a", "/one", "X-Forwarded-Proto: HTTPS, http\r\n").body, "page");
    }
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(client().ask("PURGE", "/one", https()).status, 200u);
    EXPECT_EQ(get("a", "/one").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(get("a", "/one", https()).body, "page");
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Stated, HostsAreKeptApart) {
    start(behind_a_proxy(config("a")));
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh(), e.field("Host") + " " + e.field("X-Forwarded-Host"));
    });
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(get("a", "/one", host("one.test")).body, "one.test one.test");
        EXPECT_EQ(get("a", "/one", host("Two.test:80")).body, "two.test two.test");
        EXPECT_EQ(get("a", "/one", host("two.test:81")).body, "two.test:81 two.test:81");
        EXPECT_EQ(get("a", "/one", "Forwarded: host=\"two.test:81\"\r\n").body,
                  "two.test:81 two.test:81");
        EXPECT_EQ(get("a", "/one", host("not a host")).body, "origin.test origin.test");
    }
    EXPECT_EQ(origin.requests(), 4u);
}

TEST_F(Stated, HostsCountWhereAnEntryMatchesThem) {
    auto settings = behind_a_proxy(config("a"));
    settings.origins = {{"origin.test", {"127.0.0.1", origin.port()}},
                        {"one.test", {"127.0.0.1", origin.port()}}};
    start(settings);
    get("a", "/one", host("one.test"));
    EXPECT_EQ(told("Host"), "one.test");
    get("a", "/one", host("evil.test"));
    EXPECT_EQ(told("Host"), "origin.test");
    EXPECT_EQ(told("X-Forwarded-Host"), "origin.test");
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Stated, TargetsAreNotForTheUntrustedNorForTheForwardProxy) {
    auto settings = forward_config();
    settings.origins = {{"origin.test", {"127.0.0.1", origin.port()}}};
    start(settings);
    const auto both = https(host("one.test"));
    get("a", "/one", both);
    EXPECT_EQ(told("X-Forwarded-Proto"), "http");
    EXPECT_EQ(told("X-Forwarded-Host"), "origin.test");
    EXPECT_EQ(get("a", "/one").cache_status().substr(0, 6), "a; hit");
    settings = behind_a_proxy(settings);
    settings.node = "b";
    settings.listen.host = settings.admin->listen.host = address("b");
    start(settings);
    get("b", url("/two"), both + "X-Forwarded-For: 10.0.0.1\r\n");
    EXPECT_EQ(told("X-Forwarded-Proto"), "");
    EXPECT_EQ(told("X-Forwarded-Host"), "");
    EXPECT_EQ(get("b", url("/two")).cache_status().substr(0, 6), "b; hit");
}

TEST_F(Stated, TargetsAreTheSameForAllNodes) {
    start(behind_a_proxy(config("a", 2)));
    start(behind_a_proxy(config("b", 2)));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto both = https(host("one.test"));
    EXPECT_EQ(get("a", "/one", both).status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_TRUE(contains(get("b", "/one", both).cache_status(), "PEER_a"));
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_FALSE(contains(get("b", "/one").cache_status(), "PEER_a"));
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Stated, TargetsAreSaidAnewWhereTheNodeIsTo) {
    auto settings = behind_a_proxy(config("a"));
    settings.forwarded.origins = ForwardedMode::replace;
    start(settings);
    get("a", "/one", https(host("one.test")));
    EXPECT_EQ(told("X-Forwarded-Proto"), "http");
    EXPECT_EQ(told("Host"), "origin.test");
    EXPECT_EQ(get("a", "/one").cache_status().substr(0, 6), "a; hit");
}

/// Fields by which origins choose content that nobody has requested from this node.
class Overrides : public Access {
protected:
    const std::string all_ =
        "X-Forwarded-Port: 8443\r\nx-forwarded-prefix: /evil\r\nX-Original-URL: /evil\r\n"
        "X-Rewrite-URL: /evil\r\nX-HTTP-Method-Override: PUT\r\nX-Other: kept\r\n";
    std::size_t overrides() const {
        std::size_t count = 0;
        for (const auto* name : {"X-Forwarded-Port", "X-Forwarded-Prefix", "X-Original-URL",
                                 "X-Rewrite-URL", "X-HTTP-Method-Override"})
            count += told(name).empty() ? 0 : 1;
        return count;
    }
};

TEST_F(Overrides, DoNotReachOriginsWhereOthersGetTheAnswer) {
    start(config("a"));
    get("a", "/one", all_);
    EXPECT_EQ(overrides(), 0u) << origin.heads().back();
    EXPECT_EQ(told("X-Other"), "kept");
    client().ask("HEAD", "/two", all_);
    EXPECT_EQ(overrides(), 0u) << origin.heads().back();
    client().ask("POST", "/one", all_, "x");
    EXPECT_EQ(overrides(), 5u) << "that is between this client and its origin";
}

// nginx and HAProxy pass on the fields that they do not know, from any sender.
TEST_F(Overrides, DoNotPassThroughATrustedProxyEither) {
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    get("a", "/one", all_);
    EXPECT_EQ(overrides(), 0u) << origin.heads().back();
    settings.forwarded.drop = {"X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override"};
    start(settings);
    get("a", "/two", all_);
    EXPECT_EQ(overrides(), 2u) << "the operator knows that the proxy sets these";
    EXPECT_EQ(told("X-Forwarded-Port"), "8443");
}

TEST_F(Overrides, PassWhereTheSettingLetsThem) {
    auto settings = forward_config();
    settings.origins = {{"origin.test", {"127.0.0.1", origin.port()}}};
    settings.forwarded.drop = {"X-Other"};
    start(settings);
    get("a", "/one", all_);
    EXPECT_EQ(overrides(), 5u) << origin.heads().back();
    EXPECT_EQ(told("X-Other"), "");
    get("a", url("/two"), all_);
    EXPECT_EQ(overrides(), 5u) << "the forward proxy does not act for that origin";
    EXPECT_EQ(told("X-Other"), "kept");
}

TEST_F(Access, IsNotToldToPeers) {
    start_cluster(2);
    store("a", "/one");
    const auto answer = get("b", "/one", "X-Forwarded-For: 6.6.6.6\r\n");
    EXPECT_TRUE(contains(answer.cache_status(), "PEER_a")) << answer.cache_status();
    EXPECT_EQ(origin.requests(), 1u);
}

const auto kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

std::string proxy_header(const std::string& v4) {
    return kSignature + "\x21\x11\0\x0c"s + v4 + "\x7f\0\0\x01\x30\x39\0\x50"s;
}

class ProxyProtocol : public Access {
protected:
    Config settings() const {
        auto result = config("a");
        result.clients.trusted_proxies = {"127.0.0.1"};
        result.clients.proxy_protocol = true;
        result.clients.deny = {"6.6.6.6"};
        return result;
    }
};

TEST_F(ProxyProtocol, SaysWhoTheClientIs) {
    start(settings());
    auto good = client();
    good.socket.send(proxy_header("\x01\x02\x03\x04"s));
    EXPECT_EQ(good.get("/one").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "1.2.3.4");
    EXPECT_EQ(good.get("/two", "X-Forwarded-For: 6.6.6.6\r\n").status, 200u)
        << "the client itself is no trusted proxy";
    EXPECT_EQ(told("X-Forwarded-For"), "1.2.3.4");
    auto denied = client();
    denied.socket.send(proxy_header("\x06\x06\x06\x06"s));
    EXPECT_EQ(denied.get("/one").status, 403u);
    auto check = client();
    check.socket.send(kSignature + "\x20\x00\x00\x00"s);
    EXPECT_EQ(check.get("/three").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "127.0.0.1");
}

TEST_F(ProxyProtocol, OfVersion1SaysTheSame) {
    start(settings());
    auto good = client();
    good.socket.send(
        "PROXY TCP4 1.2.3.4 127.0.0.1 12345 80\r\nGET /one HTTP/1.1\r\nHost: origin.test\r\n\r\n");
    EXPECT_EQ(good.read().status, 200u) << "bytes behind the line in the same packet";
    EXPECT_EQ(told("X-Forwarded-For"), "1.2.3.4");
    auto slow = client();
    for (const char byte : "PROXY TCP6 2001:db8::9 ::1 1 2\r\n"s) slow.socket.send({&byte, 1});
    EXPECT_EQ(slow.get("/two").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "2001:db8::9");
    auto denied = client();
    denied.socket.send("PROXY TCP4 6.6.6.6 127.0.0.1 12345 80\r\n");
    EXPECT_EQ(denied.get("/one").status, 403u);
    auto check = client();
    check.socket.send("PROXY UNKNOWN\r\n");
    EXPECT_EQ(check.get("/three").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "127.0.0.1");
    EXPECT_EQ(refused(RequestRefusal::proxy_header), 0u);
}

class LoggedProxyProtocol : protected LogCapture, public ProxyProtocol {
protected:
    LoggedProxyProtocol() { spdlog::set_level(spdlog::level::info); }
    ~LoggedProxyProtocol() override { kill("a"); }
};

TEST_F(LoggedProxyProtocol, SaysOnceWhatIsNoHeader) {
    start(settings());
    { auto look = client(); }  // whether the port is open
    EXPECT_TRUE(eventually([&] { return refused(RequestRefusal::proxy_header) == 1; }));
    EXPECT_EQ(logged("PROXY header").size(), 0u);
    for (const auto& bytes :
         {"GET /one HTTP/1.1\r\n\r\n"s, "PROXY TCP4 1.2.3.4\r\n"s,
          "PROXY TCP4 "s + std::string(200, '1'), kSignature + "\x11\x11\0\0"s}) {
        auto bad = client();
        bad.socket.send(bytes);
        EXPECT_EQ(bad.read().status, 0u) << bytes;
    }
    EXPECT_TRUE(eventually([&] { return refused(RequestRefusal::proxy_header) == 5; }));
    const auto lines = logged("PROXY header");
    ASSERT_EQ(lines.size(), 1u) << "few lines for one proxy";
    EXPECT_TRUE(contains(lines[0], "127.0.0.1 sends no PROXY header")) << lines[0];
    EXPECT_TRUE(contains(lines[0], "clients.proxy_protocol")) << lines[0];
}

TEST_F(ProxyProtocol, MayComeInPieces) {
    start(settings());
    auto slow = client();
    for (const char byte : proxy_header("\x01\x02\x03\x04"s)) slow.socket.send({&byte, 1});
    EXPECT_EQ(slow.get("/one").status, 200u);
    EXPECT_EQ(told("X-Forwarded-For"), "1.2.3.4");
}

TEST_F(ProxyProtocol, ThatIsMissingOrMalformedClosesTheConnection) {
    auto config = settings();
    config.timeouts.client_head = std::chrono::milliseconds(200);
    start(config);
    auto missing = client();
    EXPECT_EQ(missing.get("/one").status, 0u);
    auto large = client();
    large.socket.send(kSignature + "\x21\x11\xff\xff"s);
    EXPECT_TRUE(large.at_end());
    auto late = client();
    late.socket.send(kSignature.substr(0, 5));
    EXPECT_TRUE(late.at_end());
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(refused(RequestRefusal::proxy_header), 3u);
}

TEST_F(ProxyProtocol, IsNotAskedOfPeersThatComeFromWhereTheProxiesAre) {
    for (const auto* node : {"a", "b"}) {
        auto both = config(node, 2);
        both.clients = settings().clients;  // 127.0.0.1, from where all connections come here
        start(both);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    auto first = client("a");
    first.socket.send(proxy_header("\x01\x02\x03\x04"s));
    EXPECT_EQ(first.get("/one").status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    auto second = client("b");
    second.socket.send(proxy_header("\x01\x02\x03\x04"s));
    const auto answer = second.get("/one");
    EXPECT_TRUE(contains(answer.cache_status(), "PEER_a")) << answer.cache_status();
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::proxy_header], 0u);
    // Nobody else is answered without the header, under any name.
    for (const std::string& fields :
         {std::string(), "Hearsay-Peer: b " + std::string(32, '0') + "\r\n"}) {
        auto missing = client("a");
        EXPECT_EQ(missing.get("/one", fields).status, 0u);
        EXPECT_TRUE(missing.at_end());
    }
    auto garbled = client("a");
    garbled.socket.send("GET /one HTTP/1.1\r\nno field\r\n\r\n");
    EXPECT_TRUE(garbled.at_end());
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::proxy_header], 3u);
}

TEST_F(ProxyProtocol, IsNotForThoseWhoAreNotTrusted) {
    auto config = settings();
    config.clients.trusted_proxies = {"10.0.0.1"};
    start(config);
    EXPECT_EQ(get("a", "/one").status, 200u);
    auto pretender = client();
    pretender.socket.send(proxy_header("\x01\x02\x03\x04"s));
    EXPECT_EQ(pretender.get("/one").status, 400u);
}

TEST_F(ProxyProtocol, ComesBeforeTheHandshakeOfTLS) {
    Certificates certificates;
    const auto files = certificates.issue("DNS:node.test");
    auto config = settings();
    config.tls = TlsConfig{{address("a"), 3443}, files.certificate, files.key};
    start(config);
    auto target = "/one"s;
    for (const auto& header :
         {proxy_header("\x01\x02\x03\x04"s), "PROXY TCP4 1.2.3.4 127.0.0.1 12345 443\r\n"s}) {
        TlsClientEnd client(address("a"), 3443, certificates.ca(), "node.test", 0, header);
        ASSERT_TRUE(client.end.open());
        EXPECT_EQ(client.get(target).status, 200u);
        EXPECT_EQ(told("X-Forwarded-For"), "1.2.3.4");
        EXPECT_EQ(told("X-Forwarded-Proto"), "https");
        target.append("/two");
    }
}

}  // namespace access_test
}  // namespace proxy::test
