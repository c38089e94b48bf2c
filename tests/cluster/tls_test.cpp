#include <openssl/ssl.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proxy/config/config_json.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"
#include "tests/cluster/tls_kit.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace tls_test {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr std::uint16_t kTlsPort = 3130;

std::string answer(std::string_view body, std::string_view fields = {}) {
    return std::string("HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nContent-Length: ")
        .append(std::to_string(body.size()))
        .append("\r\n")
        .append(fields)
        .append("\r\n")
        .append(body);
}

/// One set of certificates for all tests, because making them takes time.
Certificates& certificates() {
    static Certificates made;
    return made;
}

std::string target_of(const std::string& head) {
    const auto begin = head.find(' ') + 1;
    return head.substr(begin, head.find(' ', begin) - begin);
}

/// A node in front of an origin that speaks TLS.
class TlsOrigins : public NodesTest {
protected:
    static TlsOrigin::Script echo() {
        return [](const std::string& head, const std::string& body) {
            return answer("secret of " + target_of(head) + body);
        };
    }
    static Certificates::Files good() { return certificates().issue("DNS:localhost,IP:127.0.0.1"); }

    OriginConfig entry(const TlsOrigin& server, OriginTlsConfig tls,
                       const std::string& host = "127.0.0.1") const {
        return {"*", {host, server.port()}, std::move(tls)};
    }
    static OriginTlsConfig trusting() { return {true, certificates().ca(), {}}; }

    void start_with(std::vector<OriginConfig> origins) {
        auto settings = config("a");
        settings.origins = std::move(origins);
        start(std::move(settings));
    }
    void expect_refused(std::string_view target) {
        const auto got = get("a", target);
        EXPECT_EQ(got.status, 502u);
        EXPECT_EQ(got.cache_status(), "a; fwd=uri-miss; detail=tls_failed");
        EXPECT_TRUE(contains(got.body, "tls_failed")) << got.body;
    }
};

TEST_F(TlsOrigins, AreFetchedFromAndStored) {
    TlsOrigin server(good(), echo());
    start_with({entry(server, trusting())});
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
    EXPECT_EQ(get("a", "/one").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(server.requests, 1u);
    EXPECT_EQ(server.last_protocol(), "http/1.1");
    EXPECT_EQ(server.last_name(), "");  // RFC 6066 §3: addresses are no server names
}

TEST_F(TlsOrigins, AreAskedByTheNameOfTheUrl) {
    TlsOrigin server(good(), echo());
    start_with({entry(server, trusting(), "localhost")});
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
    EXPECT_EQ(server.last_name(), "localhost");
}

TEST_F(TlsOrigins, AreAskedByAnotherNameWhenOneIsGiven) {
    TlsOrigin server(certificates().issue("DNS:*.origin.example"), echo());
    auto tls = trusting();
    tls.name = "www.origin.example";
    start_with({entry(server, tls)});
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
    EXPECT_EQ(server.last_name(), "www.origin.example");
}

TEST_F(TlsOrigins, MustProveTheirName) {
    TlsOrigin server(certificates().issue("DNS:other.example,IP:127.0.0.2"), echo());
    auto named = entry(server, trusting());
    named.host = "named.test";
    named.tls->name = "an.other.example";
    start_with({named, entry(server, trusting())});
    expect_refused("/one");
    expect_refused("http://named.test/one");
    EXPECT_EQ(server.requests, 0u);
    EXPECT_EQ(status("a").work.origin_failures, 2u);
}

TEST_F(TlsOrigins, MustProveItWithACertificateThatIsValidNow) {
    TlsOrigin expired(certificates().issue("IP:127.0.0.1", -days(2), -days(1)), echo());
    TlsOrigin early(certificates().issue("IP:127.0.0.1", days(1), days(2)), echo());
    auto first = entry(expired, trusting());
    first.host = "expired.test";
    start_with({first, entry(early, trusting())});
    expect_refused("http://expired.test/");
    expect_refused("http://early.test/");
}

TEST_F(TlsOrigins, MustProveItByAnAuthorityThatIsTrusted) {
    TlsOrigin server(good(), echo());
    auto strange = entry(server, {true, certificates().strange_ca(), {}});
    strange.host = "strange.test";
    start_with({strange, entry(server, {})});  // the system's
    expect_refused("http://strange.test/");
    expect_refused("http://unknown.test/");
    EXPECT_EQ(server.requests, 0u);
    const auto why = get("a", "http://unknown.test/").body;
    EXPECT_TRUE(contains(why, "unable to get local issuer certificate")) << why;
    EXPECT_TRUE(contains(why, "An intermediate certificate is missing")) << why;
    EXPECT_TRUE(contains(why, "/CN=")) << "its issuer by name: " << why;
}

// IIS asks so for a certificate of the client, when it sees the path of the request.
TEST_F(TlsOrigins, MayRenegotiateBeforeTls13) {
    TlsOrigin server(good(), echo(), TlsOrigin::Habit::renegotiates);
    start_with({entry(server, trusting())});
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
    const std::string body(100'000, 'x');
    EXPECT_EQ(client().ask("POST", "/two", "", body).body, "secret of /two" + body);
    EXPECT_EQ(server.requests, 2u);
    EXPECT_EQ(server.renegotiations, 2u);
    EXPECT_EQ(server.handshakes, 1u) << "on one connection";
}

TEST_F(TlsOrigins, MayNotRenegotiateWithoutEnd) {
    TlsOrigin server(good(), echo(), TlsOrigin::Habit::renegotiates_for_ever);
    start_with({entry(server, trusting())});
    const auto got = get("a", "/one");
    EXPECT_EQ(got.status, 502u);
    EXPECT_LT(server.renegotiations, 32u);
}

TEST_F(TlsOrigins, NeedNoProofWhenNoneIsAsked) {
    TlsOrigin server(certificates().issue("DNS:other.example", -days(2), -days(1)), echo());
    start_with({entry(server, {false, {}, {}})});
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
}

TEST_F(TlsOrigins, AreNotReachedOverAConnectionThatProvedLess) {
    TlsOrigin server(good(), echo());
    auto careless = entry(server, {false, {}, {}});
    careless.host = "careless.test";
    start_with({careless, entry(server, {true, certificates().strange_ca(), {}})});
    EXPECT_EQ(get("a", "http://careless.test/one").status, 200u);
    expect_refused("http://careful.test/one");
    EXPECT_EQ(get("a", "http://careless.test/two").status, 200u);
    EXPECT_EQ(server.handshakes, 1u);  // while its own connection is used again
}

TEST_F(TlsOrigins, ResumeSessionsOnNewConnections) {
    TlsOrigin server(good(), [](const std::string&, const std::string&) {
        return answer("once", "Connection: close\r\n");
    });
    start_with({entry(server, trusting())});
    for (const auto* target : {"/one", "/two", "/three"}) EXPECT_EQ(get("a", target).body, "once");
    EXPECT_EQ(server.handshakes, 3u);
    EXPECT_EQ(server.resumed, 2u);
}

TEST_F(TlsOrigins, AreAskedOnANewConnectionWhenTheyClosedTheOld) {
    TlsOrigin server(good(), echo());
    start_with({entry(server, trusting())});
    server.hang_up = true;
    for (const auto* target : {"/one", "/two", "/three"})
        EXPECT_EQ(get("a", target).body, "secret of " + std::string(target));
    EXPECT_EQ(server.handshakes, 3u);
}

TEST_F(TlsOrigins, AreAskedAgainWhenTheHandshakeIsCut) {
    TlsOrigin server(good(), echo());
    start_with({entry(server, trusting())});
    server.cuts = 1;  // as one that restarts
    EXPECT_EQ(get("a", "/one").body, "secret of /one");
    EXPECT_EQ(server.handshakes, 1u);
    server.cuts = 100;
    server.hang_up = true;
    EXPECT_EQ(get("a", "/two").body, "secret of /two") << "over the connection at hand";
    const auto cut = get("a", "/three");
    EXPECT_EQ(cut.status, 502u);
    EXPECT_EQ(cut.cache_status(), "a; fwd=uri-miss; detail=reset");
}

TEST_F(TlsOrigins, PassLargeBodiesBothWays) {
    std::string large(5'000'000, 'x');
    for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
    TlsOrigin server(good(), [&](const std::string& head, const std::string& body) {
        return answer(head.starts_with("POST") ? std::to_string(body == large) : large);
    });
    start_with({entry(server, trusting())});
    EXPECT_TRUE(get("a", "/one").body == large);
    EXPECT_TRUE(get("a", "/one").body == large);
    EXPECT_EQ(client().ask("POST", "/one", "", large).body, "1");
    EXPECT_EQ(server.requests, 2u);
}

TEST_F(TlsOrigins, MustAnnounceTheEndOfABodyThatHasNoOther) {  // RFC 9112 §9.8
    TlsOrigin server(good(), [](const std::string&, const std::string&) {
        return std::string("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall that came");
    });
    start_with({entry(server, trusting())});
    const auto whole = get("a", "/whole");
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(whole.body, "all that came");
    server.tell_end = false;
    const auto cut = get("a", "/cut");  // 502, or cut as well when its head was out already
    EXPECT_TRUE(cut.status == 502 || !cut.complete) << cut.head;
}

TEST_F(TlsOrigins, MustSpeakTls) {
    const auto mute = Socket::listen("127.0.0.1", 0);
    auto settings = config("a");
    settings.timeouts.origin_connect = 100ms;
    settings.origins = {{"plain.test", {"127.0.0.1", origin.port()}, trusting()},
                        {"*", {"127.0.0.1", mute.port()}, trusting()}};
    start(std::move(settings));
    // The scripted origin waits for a request's end: it is the handshake that never ends.
    const auto late = get("a", "/one");
    EXPECT_EQ(late.status, 504u);
    EXPECT_EQ(late.cache_status(), "a; fwd=uri-miss; detail=connect_timeout");
    EXPECT_EQ(get("a", "http://plain.test/one").status, 504u);
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(TlsOrigins, AreTheTargetsOfAForwardProxyToo) {
    TlsOrigin server(good(), echo());
    const auto url = "https://localhost:" + std::to_string(server.port());
    auto settings = forward_config();
    ::setenv("SSL_CERT_FILE", certificates().strange_ca().c_str(), 1);  // the system's
    EXPECT_EQ(start(settings).status().node, "a");
    // They are read when somebody asks for such a target, and then once.
    ::setenv("SSL_CERT_FILE", certificates().ca().c_str(), 1);
    EXPECT_EQ(get("a", url + "/one").body, "secret of /one");
    EXPECT_EQ(server.last_name(), "localhost");
    EXPECT_TRUE(contains(get("a", url + "/one").cache_status(), "hit"));
    ::setenv("SSL_CERT_FILE", certificates().strange_ca().c_str(), 1);
    settings.node = "b";
    settings.listen = {address("b"), kProxyPort};
    settings.admin.reset();
    start(settings);
    EXPECT_EQ(get("b", url + "/one").cache_status(), "b; fwd=uri-miss; detail=tls_failed");
    EXPECT_EQ(get("a", url + "/two").body, "secret of /two");
    ::unsetenv("SSL_CERT_FILE");
    settings.forward.private_destinations = Destinations::deny;
    start(settings);
    EXPECT_EQ(get("b", url + "/one").status, 403u);
}

/// Clients that speak TLS to a node.
class TlsClients : public NodesTest {
protected:
    static Certificates::Files files() { return certificates().issue("DNS:proxy.example"); }

    Config tls_config(const std::string& node = "a") const {
        auto settings = config(node);
        add_tls(settings);
        return settings;
    }
    static void add_tls(Config& settings) {
        const auto made = files();
        settings.tls = TlsConfig{{settings.listen.host, kTlsPort}, made.certificate, made.key};
    }
    TlsClientEnd secure(const std::string& node = "a", int highest_version = 0) const {
        return {address(node), kTlsPort, certificates().ca(), "proxy.example", highest_version};
    }
    bool refused_handshakes(std::uint64_t count) {
        return eventually([&] { return status("a").work.refusals[RequestRefusal::tls] == count; });
    }
};

TEST_F(TlsClients, GetAnswersOfTheirOwnScheme) {
    start(tls_config());
    auto client = secure();
    ASSERT_TRUE(client.end.open());
    EXPECT_EQ(client.protocol(), "http/1.1");
    EXPECT_EQ(client.get("/one").body, "body of /one");
    EXPECT_EQ(client.get("/one").cache_status().substr(0, 6), "a; hit");
    // http://origin.test/one is another object than https://origin.test/one.
    EXPECT_TRUE(contains(get("a", "/one").cache_status(), "a; fwd=uri-miss; stored"));
    EXPECT_EQ(origin.requests(), 2u);
}

// RFC 9110 §7.4: in the clear nobody asks for an https resource of a site.
TEST_F(TlsClients, AloneGetWhatHttpsUrlsName) {
    auto settings = tls_config();
    settings.forward.enabled = true;
    settings.clients.purge = PrefixList{"127.0.0.0/8"};
    start(settings);
    EXPECT_EQ(secure().get("/one").status, 200u);
    auto plain = client();
    for (const auto* method : {"GET", "HEAD", "OPTIONS"}) {
        plain.begin(method, "https://origin.test/one");
        EXPECT_EQ(plain.read(std::string_view(method) == "HEAD").status, 421u) << method;
    }
    const auto refusal = plain.ask("POST", "https://origin.test/one", "", "x");
    EXPECT_EQ(refusal.status, 421u);
    EXPECT_EQ(refusal.cache_status(), "a; detail=misdirected");
    EXPECT_TRUE(contains(refusal.body, "clients.trusted_proxies")) << refusal.body;
    Http2Client clear(Socket::connect(address("a"), kProxyPort));
    auto lines = Http2Client::get("/one");
    EXPECT_EQ(clear.fetch(lines).status, 200u);
    lines[1].second = "https";
    EXPECT_EQ(clear.fetch(lines).status, 421u);
    EXPECT_EQ(origin.requests(), 2u) << "by both schemes once";
    EXPECT_EQ(secure().get("https://origin.test/one").cache_status().substr(0, 6), "a; hit");
    EXPECT_EQ(client().ask("PURGE", "https://origin.test/one").status, 200u)
        << "has a rule of its own";
    EXPECT_EQ(secure().get("/one").cache_status().substr(0, 6), "a; fwd");
}

TEST_F(TlsClients, AreBelievedToStandBehindATrustedProxy) {
    auto settings = tls_config();
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    EXPECT_EQ(get("a", "https://origin.test/one").status, 200u);
    EXPECT_EQ(secure().get("/one").cache_status().substr(0, 6), "a; hit");
    Http2Client clear(Socket::connect(address("a"), kProxyPort));
    auto lines = Http2Client::get("/one");
    lines[1].second = "https";
    EXPECT_TRUE(clear.fetch(lines).field("cache-status").starts_with("a; hit"));
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(TlsClients, AreAnnouncedToOriginsThatAreReachedInTheClear) {
    start(tls_config());
    secure().get("/one");
    secure().get("/two", "X-Forwarded-Proto: gopher\r\n");
    secure().get("https://origin.test/three",
                 "X-Forwarded-Proto: http\r\n");       // the same object for all
    get("a", "/four", "X-Forwarded-Proto: http\r\n");  // said by whoever stands before us
    const auto heads = origin.heads();
    for (const auto i : {0u, 1u, 2u}) {
        EXPECT_EQ(field_of(heads.at(i), "X-Forwarded-Proto"), "https") << heads[i];
        EXPECT_EQ(heads[i].find("X-Forwarded-Proto"), heads[i].rfind("X-Forwarded-Proto"));
    }
    EXPECT_EQ(field_of(heads.at(3), "X-Forwarded-Proto"), "http");
}

TEST_F(TlsClients, ShareAnswersThatVaryByWhatOnlyTheNodeSays) {
    start(tls_config());
    const auto scripted =
        origin.set([](Exchange& e) { e.answer(fresh("Vary: X-Forwarded-Proto\r\n"), "secure"); });
    secure().get("/one", "X-Forwarded-Proto: https\r\n");
    EXPECT_EQ(secure().get("/one", "X-Forwarded-Proto: https\r\n").cache_status().substr(0, 6),
              "a; hit");
    EXPECT_EQ(secure().get("/one").cache_status().substr(0, 6), "a; hit");
}

TEST_F(TlsClients, MayNotSendKeyUpdatesWithoutEnd) {  // RFC 8446 §4.6.3
    start(tls_config());
    auto few = secure();
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(SSL_key_update(few.end.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        SSL_do_handshake(few.end.ssl());
    }
    EXPECT_EQ(few.get("/x").status, 200u);
    auto many = secure();
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own BIO writes to a closed socket
    for (int i = 0; i < 5'000; ++i) {
        if (SSL_key_update(many.end.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) break;
        if (SSL_do_handshake(many.end.ssl()) != 1) break;
    }
    EXPECT_NE(many.get("/x").status, 200u);
    EXPECT_EQ(few.get("/x").status, 200u);
}

TEST_F(TlsClients, GetPipelinedAnswersInOrder) {
    start(tls_config());
    auto client = secure();
    client.end.send("GET /a HTTP/1.1\r\nHost: o\r\n\r\nGET /b HTTP/1.1\r\nHost: o\r\n\r\nGET /c");
    client.end.send(" HTTP/1.1\r\nHost: o\r\n\r\n");
    EXPECT_EQ(client.read().body, "body of /a");
    EXPECT_EQ(client.read().body, "body of /b");
    EXPECT_EQ(client.read().body, "body of /c");
}

TEST_F(TlsClients, GetLargeBodiesAtTheirOwnPace) {
    std::string large(20'000'000, 'x');
    for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    start(tls_config());
    auto slow = secure();
    slow.end.send("GET /one HTTP/1.1\r\nHost: origin.test\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return status("a").cache.objects == 1; }));
    EXPECT_TRUE(secure().get("/one").body == large);  // while the other has read nothing
    EXPECT_TRUE(slow.read().body == large);
}

TEST_F(TlsClients, SendBodies) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer({}, std::to_string(e.body.size())); });
    start(tls_config());
    auto client = secure();
    client.end.send("POST /one HTTP/1.1\r\nHost: o\r\nContent-Length: 1000000\r\n\r\n");
    client.end.send(std::string(1'000'000, 'p'));
    EXPECT_EQ(client.read().body, "1000000");
}

TEST_F(TlsClients, AreToldTheEnd) {
    start(tls_config());
    auto client = secure();
    EXPECT_EQ(client.get("/one", "Connection: close\r\n").status, 200u);
    std::string rest;
    EXPECT_FALSE(client.end.receive(rest));
    EXPECT_TRUE(client.end.was_told());

    auto settings = tls_config();
    settings.timeouts.keep_alive = 2s;
    start(settings);
    auto idle = secure();
    EXPECT_EQ(idle.get("/one").status, 200u);
    EXPECT_FALSE(idle.end.receive(rest));
    EXPECT_TRUE(idle.end.was_told());
}

TEST_F(TlsClients, AreNotToldAnEndOfABodyThatWasCut) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        gate.wait();
        e.keep = false;
    });
    start(tls_config());
    auto client = secure();
    client.end.send("GET /one HTTP/1.1\r\nHost: origin.test\r\n\r\n");
    std::string got;
    while (!got.ends_with("half")) ASSERT_TRUE(client.end.receive(got)) << got;
    gate.open();
    EXPECT_FALSE(client.end.receive(got)) << got;
    EXPECT_FALSE(client.end.was_told());
}

TEST_F(TlsClients, AreRefusedWithoutAHandshake) {
    auto settings = tls_config();
    settings.timeouts.client_head = 100ms;
    start(settings);
    {
        auto silent = Socket::connect(address("a"), kTlsPort);
        std::string nothing;
        EXPECT_FALSE(silent.receive(nothing));
        EXPECT_TRUE(refused_handshakes(1));
    }
    start(tls_config());  // with time enough for those who do speak
    {
        auto garbage = Socket::connect(address("a"), kTlsPort);
        garbage.send(std::string(100, '\x17'));
        std::string alert;
        while (garbage.receive(alert)) {
        }
        EXPECT_TRUE(refused_handshakes(1));
    }
    EXPECT_FALSE(secure("a", TLS1_1_VERSION).end.open());
    EXPECT_TRUE(refused_handshakes(2));
    EXPECT_TRUE(secure("a", TLS1_2_VERSION).end.open());
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
}

TEST_F(TlsClients, AreToldWhenTheySpeakPlainHttp) {
    start(tls_config());
    Client plain(address("a"), kTlsPort);
    const auto refused = plain.get("/one");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_TRUE(contains(refused.body, "https://")) << refused.body;
    EXPECT_TRUE(plain.at_end());
}

TEST_F(TlsClients, OpenTunnels) {
    auto settings = tls_config();
    settings.forward.enabled = true;
    settings.forward.private_destinations = Destinations::allow;
    const auto listener = Socket::listen("127.0.0.1", 0);
    settings.forward.connect_ports = {listener.port()};
    start(settings);
    auto client = secure();
    const std::string early(5'000, 'e');  // more than is read at a time, and one record
    client.end.send("CONNECT 127.0.0.1:" + std::to_string(listener.port()) +
                    " HTTP/1.1\r\nHost: x\r\n\r\n" + early);
    auto server = listener.accept();
    std::string got;
    while (got.size() < early.size() && server.receive(got)) {
    }
    EXPECT_EQ(got, early);
    const std::string large(3'000'000, 'd');
    std::thread sender([&] {
        server.send(large);
        server.shut_send();
    });
    std::string down;
    while (client.end.receive(down)) {
    }
    sender.join();
    EXPECT_TRUE(client.end.was_told());
    EXPECT_TRUE(down == "HTTP/1.1 200 Connection established\r\n\r\n" + large);
    client.end.send("back");
    client.end.close_notify();
    const auto ended = std::chrono::steady_clock::now();
    got.clear();
    while (server.receive(got)) {
    }
    EXPECT_EQ(got, "back");
    EXPECT_LT(std::chrono::steady_clock::now() - ended, 10s) << "the end is passed on";
    EXPECT_FALSE(server.was_reset());
}

TEST_F(TlsClients, LeaveInPeaceWhenTheNodeDrains) {
    auto& node = start(tls_config());
    auto idle = secure();
    EXPECT_EQ(idle.get("/one").status, 200u);
    node.drain();
    std::string rest;
    EXPECT_FALSE(idle.end.receive(rest));
    EXPECT_TRUE(idle.end.was_told());
    node.join();
}

TEST_F(TlsClients, ShareWhatTheyFetchWithOtherNodes) {
    for (const auto* node : {"a", "b"}) {
        auto settings = config(node, 2);
        add_tls(settings);
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(secure("a").get("/one").status, 200u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    const auto got = secure("b").get("/one");
    EXPECT_TRUE(contains(got.cache_status(), "detail=PEER_a")) << got.cache_status();
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(TlsClients, SeeARenewedCertificateAfterAReload) {
    auto settings = tls_config();
    const auto file = std::filesystem::path(settings.tls->certificate).replace_extension("json");
    std::ofstream(file) << effective_config(settings);
    auto& node = start(settings, file);
    auto before = secure();
    EXPECT_EQ(before.get("/one").status, 200u);
    const auto renewed = certificates().issue("DNS:renewed.example");
    for (const auto& [from, to] : {std::pair(renewed.certificate, settings.tls->certificate),
                                   {renewed.key, settings.tls->key}})
        std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    node.reload();
    EXPECT_TRUE(eventually([&] {
        return TlsClientEnd(address("a"), kTlsPort, certificates().ca(), "renewed.example")
            .end.open();
    }));
    EXPECT_EQ(before.get("/one").status, 200u);  // goes on under what it began with
    const auto again = admin_client().ask("POST", "/api/v1/reload", {}, "");
    EXPECT_TRUE(contains(again.body, "\"certificates_read\": true")) << again.body;
}

TEST(TlsFiles, AreChecked) {
    const auto files = certificates().issue("DNS:a"), others = certificates().issue("DNS:b");
    Config config;
    config.forward.enabled = true;
    config.tls = TlsConfig{{"127.0.0.1", 1}, files.certificate, files.key};
    const auto loaded = load_tls(config);
    EXPECT_TRUE(loaded.errors.empty());
    EXPECT_TRUE(loaded.contexts->server);

    config.tls->key = others.key;
    config.origins = {{"*", {"o", 443}, OriginTlsConfig{true, "/no/such/ca.pem", {}}},
                      {"*", {"o", 443}, OriginTlsConfig{true, files.key, {}}}};
    auto errors = load_tls(config).errors;
    ASSERT_EQ(errors.size(), 3u);
    EXPECT_EQ(errors[0],
              (ConfigError{"$.tls.key", others.key + " is not the key of " + files.certificate}));
    EXPECT_EQ(errors[1], (ConfigError{"$.origins[0].tls.ca",
                                      "cannot read /no/such/ca.pem: No such file or directory"}));
    EXPECT_EQ(errors[2].path, "$.origins[1].tls.ca");

    const TemporaryDirectory directory;
    const auto& folder = directory.path();
    config.tls->key = files.key;
    config.origins = {{"*", {"o", 443}, OriginTlsConfig{true, folder.string(), {}}}};
    std::ofstream(folder / "some.pem") << "which OpenSSL does not look at";
    errors = load_tls(config).errors;
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].path, "$.origins[0].tls.ca");
    EXPECT_TRUE(contains(errors[0].message, "openssl rehash")) << errors[0].message;
    std::ofstream(folder / "0a1b2c3d.0") << "read when a certificate has this hash";
    EXPECT_TRUE(load_tls(config).errors.empty());

    config.origins.clear();
    config.tls->certificate = "/no/such.pem";
    EXPECT_EQ(
        load_tls(config).errors.front(),
        (ConfigError{"$.tls.certificate", "cannot read /no/such.pem: No such file or directory"}));
    config.tls->certificate = files.certificate;
    config.tls->key = files.certificate;
    EXPECT_EQ(load_tls(config).errors.front().path, "$.tls.key");
    config.tls->certificate = "/no/such.pem";
    config.tls->key = "/no/such.key";
    errors = load_tls(config).errors;
    ASSERT_EQ(errors.size(), 2u) << "both are reported";
    EXPECT_EQ(errors[1],
              (ConfigError{"$.tls.key", "cannot read /no/such.key: No such file or directory"}));
    config.tls->certificate = files.certificate;
    config.tls->certificates = {{files.certificate, files.key}, {others.certificate, files.key}};
    config.tls->key = files.key;
    errors = load_tls(config).errors;
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].path, "$.tls.certificates[1].key");
    config.tls->certificates.clear();
    config.tls->key = certificates().encrypted(files.key);
    EXPECT_EQ(load_tls(config).errors.front().path, "$.tls.key");
    EXPECT_NE(load_tls(config).errors.front().message.find("is encrypted"), std::string::npos);
    config.node = "a";
    EXPECT_THROW(Node{LoadedConfig(config)}, std::runtime_error);
}

}  // namespace tls_test
}  // namespace proxy::test
