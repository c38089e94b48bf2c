// Forward traffic through another proxy.
#include <cstdlib>
#include <memory>

#include "proxy/config/upstreams.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/cluster/tls_kit.hpp"

namespace proxy::test {
namespace parents_test {

using namespace std::chrono_literals;

/// A node whose forward targets go through scripted parents, unless `no_proxy` has them.
class Parents : protected LogCapture, public NodesTest {
protected:
    Parents() { spdlog::set_level(spdlog::level::info); }

    static UpstreamServer parent(std::uint16_t port, const std::string& host = "127.0.0.1") {
        UpstreamServer made;
        made.place = {host, port};
        made.mark = mark_of_server(made.place.text());
        return made;
    }
    static std::shared_ptr<const UpstreamGroupConfig> list(std::vector<UpstreamServer> parents) {
        UpstreamGroupConfig made;
        made.name = "forward.parent";
        made.balance = Balance::in_order;
        made.parents = true;
        made.servers = std::move(parents);
        return std::make_shared<const UpstreamGroupConfig>(std::move(made));
    }
    Config forward(const std::string& node = "a") const {
        auto settings = config(node);
        settings.origins.clear();
        settings.forward.enabled = true;
        settings.forward.connect_ports = {443, 4443};
        return settings;
    }
    Config through(std::vector<UpstreamServer> parents) const {
        auto settings = forward();
        settings.forward.parents = list(std::move(parents));
        return settings;
    }
    /// The head of the answer to a CONNECT; the bytes behind it belong to the tunnel.
    static std::string connect(Client& client, const std::string& authority) {
        client.socket.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
        std::string head;
        while (!head.ends_with("\r\n\r\n") && client.socket.receive(head, 1)) {
        }
        return head;
    }
    static ScriptedOrigin::Script named(const std::string& name) {
        return [name](Exchange& e) {
            if (e.method == "CONNECT") return e.send("HTTP/1.1 200 Fine\r\nX: 1\r\n\r\n");
            e.answer(fresh(), name + " of " + e.target);
        };
    }

    ScriptedOrigin one{named("1")}, two{named("2")};
};

TEST_F(Parents, GetTheTargetInAbsoluteForm) {
    start(through({parent(one.port())}));
    const auto answer = get("a", "http://no.such.name.test:81/x?q");
    EXPECT_EQ(answer.body, "1 of http://no.such.name.test:81/x?q") << "nothing was resolved here";
    EXPECT_TRUE(contains(get("a", "http://no.such.name.test:81/x?q").cache_status(), "hit"));
    EXPECT_TRUE(contains(one.heads()[0], "\r\nHost: no.such.name.test:81\r\n")) << one.heads()[0];
    EXPECT_EQ(client().ask("POST", "http://other.test/y", {}, "x").body,
              "1 of http://other.test/y");
    EXPECT_EQ(one.connections(), 1u) << "targets share the connection";
}

TEST_F(Parents, OpenTunnelsForClients) {
    start(through({parent(one.port())}));
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, "no.such.name.test:4443").starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(tunnel.get("/inside").body, "1 of /inside");
    const auto head = one.heads().at(0);
    EXPECT_TRUE(
        head.starts_with("CONNECT no.such.name.test:4443 HTTP/1.1\r\n"
                         "Host: no.such.name.test:4443\r\nVia: 1.1 a\r\n"))
        << head;
}

TEST_F(Parents, AreToldTheirCredentialsAndNobodyElseIs) {
    auto credited = parent(one.port());
    credited.credentials = "dXNlcjpzM2NyZXQ=";  // user:s3cret
    auto settings = through({credited});
    settings.log.access = "off";
    start(settings);
    EXPECT_EQ(get("a", "http://x.test/", "Proxy-Authorization: Basic b3duCg==\r\n").status, 200u);
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, "x.test:443").starts_with("HTTP/1.1 200 "));
    const auto heads = one.heads();
    ASSERT_EQ(heads.size(), 2u);
    for (const auto& head : heads) {
        EXPECT_EQ(field_of(head, "Proxy-Authorization"), "Basic dXNlcjpzM2NyZXQ=") << head;
        EXPECT_FALSE(contains(head, "b3duCg")) << "the client's own were for this node";
    }
    EXPECT_TRUE(tunnel.get("/inside").complete);
    EXPECT_EQ(field_of(one.heads().at(2), "Proxy-Authorization"), "") << "the target's request";
    for (const auto* page : {"/api/v1/config", "/api/v1/status", "/metrics"}) {
        const auto shown = admin("a", page).body;
        EXPECT_FALSE(contains(shown, "s3cret") || contains(shown, "dXNlcjpz")) << page;
    }
    EXPECT_TRUE(contains(admin("a", "/api/v1/config").body, "http://(secret)@127.0.0.1:"));
    EXPECT_TRUE(logged("dXNlcjpz").empty());
}

TEST_F(Parents, AreLeftOutForTargetsOfNoProxy) {
    auto settings = through({parent(one.port())});
    settings.forward.private_destinations = Destinations::allow;
    settings.forward.no_proxy.prefixes.add("127.0.0.0/8");
    settings.forward.no_proxy.hosts.emplace_back("*.direct.test");
    settings.forward.connect_ports = {two.port()};
    start(settings);
    const auto place = "127.0.0.1:" + std::to_string(two.port());
    EXPECT_EQ(get("a", "http://" + place + "/x").body, "2 of /x");
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, place).starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(tunnel.get("/inside").body, "2 of /inside");
    EXPECT_EQ(get("a", "http://a.direct.test/x").status, 502u) << "resolved here, in vain";
    EXPECT_EQ(get("a", "http://direct.test/x").body, "1 of http://direct.test/x");
}

TEST_F(Parents, AreTriedInOrder) {
    start(through({parent(one.port()), parent(two.port())}));
    EXPECT_EQ(get("a", "http://x.test/1").body, "1 of http://x.test/1");
    one.die();
    for (unsigned i = 2; i < 9; ++i) {
        const auto target = "http://x.test/" + std::to_string(i);
        EXPECT_EQ(get("a", target).body, "2 of " + target);
    }
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, "x.test:443").starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(status("a").upstreams.at(0).group, "forward.parent");
    EXPECT_EQ(status("a").upstreams.at(0).state, "down");
    two.die();
    const auto answer = get("a", "http://x.test/all");
    EXPECT_EQ(answer.status, 502u);
    EXPECT_TRUE(contains(answer.cache_status(), "detail=connect_failed")) << answer.head;
    EXPECT_TRUE(contains(answer.body, "The parent proxy for x.test refused the connection"))
        << answer.body;
    auto refused = client();
    EXPECT_TRUE(connect(refused, "x.test:443").starts_with("HTTP/1.1 502 "));
}

TEST_F(Parents, MayRefuseATunnel) {
    const auto scripted = one.set([](Exchange& e) {
        e.answer("", "", e.target.starts_with("denied") ? "407 Who" : "503 Later");
    });
    start(through({parent(one.port()), parent(two.port())}));
    const auto answer = client().ask("CONNECT", "denied.test:443");
    EXPECT_EQ(answer.status, 502u);
    EXPECT_TRUE(contains(answer.cache_status(), "detail=parent_denied")) << answer.head;
    EXPECT_TRUE(contains(answer.body, "forward.parent")) << answer.body;
    EXPECT_FALSE(logged("refused a tunnel to denied.test:443 with 407").empty());
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, "later.test:443").starts_with("HTTP/1.1 200 "))
        << "an error of one parent leads to the next";
    two.die();
    const auto later = client().ask("CONNECT", "later.test:443");
    EXPECT_EQ(later.status, 502u);
}

TEST_F(Parents, MaySendInterimResponsesFirst) {  // RFC 9110 §15.2
    const auto scripted = one.set([](Exchange& e) {
        e.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        if (e.target.starts_with("endless")) {
            for (int i = 0; i < 20'000; ++i) e.send("HTTP/1.1 100 Continue\r\nX: abcdef\r\n\r\n");
            return;
        }
        e.send("HTTP/1.1 200 Connection established\r\n\r\n");
    });
    start(through({parent(one.port())}));
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, "x.test:443").starts_with("HTTP/1.1 200 "));
    auto refused = client();
    EXPECT_TRUE(connect(refused, "endless.test:443").starts_with("HTTP/1.1 502 "));
}

TEST_F(Parents, AskTheNodeForCredentialsAndNotItsClients) {  // RFC 9110 §15.5.8
    const auto scripted = one.set([](Exchange& e) {
        e.answer("Proxy-Authenticate: Basic realm=\"one\"\r\n", "who?",
                 "407 Proxy Authentication Required");
    });
    start(through({parent(one.port())}));
    for (const auto* method : {"GET", "POST"}) {
        const auto answer = client().ask(method, "http://x.test/page");
        EXPECT_EQ(answer.status, 502u) << method;
        EXPECT_TRUE(contains(answer.cache_status(), "detail=parent_denied")) << answer.head;
        EXPECT_FALSE(contains(answer.body, "who?"));
    }
}

TEST_F(Parents, MaySayNothingOfUse) {
    start(through({parent(one.port())}));
    for (const auto* said : {"HTTP/1.1 20 OK\r\n\r\n", "SSH-2.0-x\r\n\r\n"}) {
        const auto scripted = one.set([&](Exchange& e) {
            e.send(said);
            e.keep = false;
        });
        const auto answer = client().ask("CONNECT", "x.test:443");
        EXPECT_EQ(answer.status, 502u);
        EXPECT_TRUE(contains(answer.cache_status(), "detail=malformed")) << answer.head;
    }
    const auto scripted = one.set([](Exchange& e) { e.keep = false; });
    EXPECT_EQ(client().ask("CONNECT", "x.test:443").status, 502u);
    const auto endless = one.set([](Exchange& e) {
        e.keep = false;
        e.send("HTTP/1.1 200 OK\r\nX: ");
        while (e.socket.send(std::string(4096, 'x'))) {
        }
    });
    EXPECT_EQ(client().ask("CONNECT", "x.test:443").status, 502u) << "limits.head bounds it";
}

TEST_F(Parents, AreWaitedForNoLongerThanAConnection) {
    auto settings = through({parent(one.port())});
    settings.timeouts.origin_connect = 100ms;
    Gate gate;
    const auto scripted = one.set([&](Exchange&) { gate.wait(); });
    start(settings);
    const auto answer = client().ask("CONNECT", "x.test:443");
    EXPECT_EQ(answer.status, 504u);
    gate.open();
}

TEST_F(Parents, GetNoTargetOfTheHouse) {
    start(through({parent(one.port())}));
    const auto refused = [this](const std::string& url) {
        const auto answer = get("a", url);
        EXPECT_EQ(answer.status, 403u) << url;
        return answer.cache_status();
    };
    for (const auto* url :
         {"http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/",
          "http://x.LOCALHOST./", "http://127.1/", "http://2130706433/", "http://0x7f.1/",
          "http://127%2e0.0.1/", "http://localhos%74/", "http://localhost../"})
        EXPECT_TRUE(contains(refused(url), "detail=not_allowed")) << url;
    EXPECT_TRUE(contains(refused("http://" + address("a") + ":3128/"), "detail=own_listener"));
    EXPECT_TRUE(contains(refused("http://localhost:3128/"), "detail="));
    EXPECT_EQ(one.requests(), 0u);
}

TEST_F(Parents, CarryHttpsOfForwardTargets) {
    Certificates certificates;
    TlsOrigin server(certificates.issue("DNS:localhost,DNS:secure.test"),
                     [](const auto&, const auto&) {
                         return std::string("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
                     });
    ::setenv("SSL_CERT_FILE", certificates.ca().c_str(), 1);
    // Another node is the parent.
    auto above = forward("b");
    above.forward.private_destinations = Destinations::allow;
    above.forward.connect_ports = {server.port()};
    start(above);
    auto settings = forward();
    settings.forward.private_destinations = Destinations::allow;
    settings.forward.parents = list({parent(kProxyPort, address("b"))});
    start(settings);
    const auto url = "https://localhost:" + std::to_string(server.port());
    EXPECT_EQ(get("a", url + "/one").body, "secret");
    EXPECT_EQ(get("a", url + "/two").body, "secret");
    EXPECT_EQ(server.last_name(), "localhost");
    EXPECT_EQ(server.handshakes, 1u) << "the tunnel is kept";
    kill("a");
    EXPECT_TRUE(eventually([this] { return count("b", Outcome::uncacheable) == 1; }))
        << "one tunnel went through the parent";
    ::unsetenv("SSL_CERT_FILE");
}

/// A node whose parent is another node with TLS.
class SecureParents : public Parents {
protected:
    static constexpr std::uint16_t kTlsPort = 3130;

    SecureParents() { ::setenv("SSL_CERT_FILE", certificates_.ca().c_str(), 1); }
    ~SecureParents() override { ::unsetenv("SSL_CERT_FILE"); }

    /// Starts the parent "b" with a certificate for `names`.
    void start_parent(const std::string& names, std::uint16_t tunnel_port = 443) {
        auto above = forward("b");
        const auto made = certificates_.issue(names);
        above.tls = TlsConfig{{above.listen.host, kTlsPort}, made.certificate, made.key};
        above.forward.private_destinations = Destinations::allow;
        above.forward.connect_ports = {tunnel_port};
        start(above);
    }
    void start_child(std::vector<UpstreamServer> parents) {
        auto settings = through(std::move(parents));
        settings.forward.private_destinations = Destinations::allow;
        start(settings);
    }
    static UpstreamServer secure(std::uint16_t port, const std::string& host = address("b")) {
        auto made = parent(port, host);
        made.tls = true;
        return made;
    }
    TlsOrigin::Script speaking(const std::string& text) const {
        return [text](const auto&, const auto&) {
            return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) +
                   "\r\n\r\n" + text;
        };
    }

    Certificates certificates_;
    std::string ip_of_b_ = "IP:" + address("b");
};

TEST_F(SecureParents, GetPlainRequestsAndTunnelsByTls) {
    start_parent(ip_of_b_, two.port());
    auto settings = through({secure(kTlsPort)});
    settings.forward.private_destinations = Destinations::allow;
    settings.forward.connect_ports = {two.port()};
    start(settings);
    const auto place = "127.0.0.1:" + std::to_string(two.port());
    EXPECT_EQ(get("a", "http://" + place + "/x").body, "2 of /x");
    EXPECT_EQ(client().ask("POST", "http://" + place + "/y", {}, "x").body, "2 of /y");
    auto tunnel = client();
    EXPECT_TRUE(connect(tunnel, place).starts_with("HTTP/1.1 200 "));
    EXPECT_EQ(tunnel.get("/inside").body, "2 of /inside");
}

TEST_F(SecureParents, CarryTlsWithinTls) {
    const std::string long_text(3'000'000, 'x');
    TlsOrigin server(certificates_.issue("DNS:localhost"), speaking(long_text));
    start_parent(ip_of_b_, server.port());
    start_child({secure(kTlsPort)});
    const auto url = "https://localhost:" + std::to_string(server.port());
    EXPECT_TRUE(get("a", url + "/one").body == long_text);
    EXPECT_TRUE(get("a", url + "/two").body == long_text);
    EXPECT_EQ(server.last_name(), "localhost");
    EXPECT_EQ(server.handshakes, 1u) << "the tunnel is kept";
    const std::string upload(2'000'000, 'u');
    EXPECT_TRUE(client().ask("POST", url + "/three", {}, upload).body == long_text);
}

TEST_F(SecureParents, LeaveTheJudgementOfTheTargetToTheNode) {
    TlsOrigin stranger(certificates_.issue("DNS:other.example"), speaking("stolen"));
    start_parent(ip_of_b_, stranger.port());
    start_child({secure(kTlsPort)});
    const auto place = "localhost:" + std::to_string(stranger.port());
    const auto answer = get("a", "https://" + place + "/");
    EXPECT_EQ(answer.status, 502u);
    EXPECT_TRUE(contains(answer.cache_status(), "detail=tls_failed")) << answer.head;
    EXPECT_FALSE(logged("no TLS connection to " + place + ": hostname mismatch").empty());
}

TEST_F(SecureParents, MustProveThemselves) {
    start_parent("DNS:other.example");
    start_child({secure(kTlsPort), parent(one.port())});
    EXPECT_EQ(get("a", "http://x.test/1").body, "1 of http://x.test/1") << "the next one has it";
    EXPECT_FALSE(
        logged("no TLS connection to the parent proxy " + address("b") + ":3130: ").empty());
    one.die();
    auto alone = forward("c");
    alone.forward.parents = list({secure(kTlsPort)});
    start(alone);
    const auto answer = get("c", "http://x.test/2");
    EXPECT_EQ(answer.status, 502u);
    EXPECT_TRUE(contains(answer.cache_status(), "detail=parent_tls_failed")) << answer.head;
    EXPECT_TRUE(contains(answer.body, "the parent proxy for x.test")) << answer.body;
}

TEST_F(SecureParents, MustSpeakTls) {
    auto settings = through({secure(one.port(), "127.0.0.1"), parent(two.port())});
    settings.timeouts.origin_connect = 1s;
    start(settings);
    EXPECT_EQ(get("a", "http://x.test/1").body, "2 of http://x.test/1");
    EXPECT_EQ(one.requests(), 0u) << "nothing went out in the clear";
}

}  // namespace parents_test
}  // namespace proxy::test
