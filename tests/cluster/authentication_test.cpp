#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "proxy/config/config_json.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"
#include "tests/cluster/log_capture.hpp"
#include "tests/cluster/tls_kit.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {
namespace authentication_test {

using nlohmann::json;
using namespace std::string_literals;

constexpr std::uint16_t kTlsPort = 3130;
/// Hashes of "secret", by bcrypt and SHA-512 at their lowest costs.
constexpr auto kSecretByBcrypt = "$2y$04$ewgWxtsM1mFu1GPGRjf9ruXIHQ9gYpUPKW9GSZJHuQ8db9HoVtbRC";
constexpr auto kSecretBySha =
    "$6$rounds=1000$iNjkgjkjYYAkdqHI$vLF193zSYuwsl."
    "lTiOf10x1nXxLyKgCaOl2CPtfjZql5SIDpbxRuohFz1YF6wBhF3L4Dmtuq/OC80WuxVuFTY/";
/// `Basic` of ann:secret, bob:secret, ann:wrong.
constexpr auto kAnn = "Basic YW5uOnNlY3JldA==", kBob = "Basic Ym9iOnNlY3JldA==",
               kWrong = "Basic YW5uOndyb25n";

std::string line(std::string_view credentials) {
    return "Proxy-Authorization: " + std::string(credentials) + "\r\n";
}

/// A forward proxy with the users ann and bob, whose password is "secret".
class Authentication : protected LogCapture, public NodesTest {
protected:
    Authentication() {
        spdlog::set_level(spdlog::level::info);
        write_users(std::string("ann:") + kSecretByBcrypt + "\nbob:" + kSecretBySha + "\n");
    }
    ~Authentication() override { kill("a"); }

    std::string path(const std::string& name) const { return folder_.path() / name; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name + ".new"), std::ios::binary) << text;
        std::filesystem::rename(path(name + ".new"), path(name));
    }
    void write_users(const std::string& text) const { write("users", text); }
    Config forward_config() const {
        auto settings = NodesTest::forward_config();
        settings.forward.authentication = AuthenticationConfig{path("users")};
        return settings;
    }
    std::uint64_t refused(RequestRefusal reason) const { return status("a").work.refusals[reason]; }
    std::string access_log() const {
        std::ifstream in(path("access.log"));
        return {std::istreambuf_iterator<char>(in), {}};
    }

private:
    TemporaryDirectory folder_;
};

TEST_F(Authentication, IsAskedOfClientsOfTheForwardProxy) {
    auto settings = forward_config();
    settings.forward.authentication->realm = "the \"proxy\"";
    start(settings);
    auto connection = client();
    const auto refusal = connection.get(url("/one"));
    EXPECT_EQ(refusal.status, 407u);
    EXPECT_EQ(refusal.field("Proxy-Authenticate"),
              R"(Basic realm="the \"proxy\"", charset="UTF-8")");
    EXPECT_TRUE(contains(refusal.body, "forward.authentication")) << refusal.body;
    EXPECT_EQ(refusal.cache_status(), "a; detail=no_credentials");
    EXPECT_EQ(connection.get(url("/one"), line(kWrong)).status, 407u);
    EXPECT_EQ(connection.get(url("/two")).status, 407u) << "nothing is left of the one before";
    EXPECT_EQ(connection.get(url("/one"), line(kAnn)).status, 200u) << "the connection goes on";
    EXPECT_EQ(connection.get(url("/one"), line(kBob)).status, 200u);
    EXPECT_EQ(connection.ask("POST", url("/one"), line(kAnn), "x").status, 200u);
    EXPECT_EQ(connection.get(url("/one")).status, 407u) << "what is stored, too";
    EXPECT_EQ(client().ask("POST", url("/one"), "", "x").status, 407u);
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(refused(RequestRefusal::no_credentials), 4u);
    EXPECT_EQ(refused(RequestRefusal::wrong_credentials), 1u);
}

TEST_F(Authentication, JudgesOtherSchemesAndFaultsAsNoProof) {
    start(forward_config());
    for (const auto* value : {"Bearer YW5uOnNlY3JldA==", "Digest username=\"ann\"", "Negotiate x"})
        EXPECT_EQ(get("a", url("/one"), line(value)).status, 407u) << value;
    EXPECT_EQ(refused(RequestRefusal::no_credentials), 3u);
    for (const auto* value :
         {"Basic", "Basic !!!!", "Basic YW5u", "Basic  ", "Basic YW5uOnNlY3JldA"})
        EXPECT_EQ(get("a", url("/one"), line(value)).status, 407u) << value;
    EXPECT_EQ(get("a", url("/one"), line(kAnn) + line(kAnn)).status, 407u) << "two of them";
    EXPECT_EQ(refused(RequestRefusal::wrong_credentials), 6u);
    EXPECT_EQ(get("a", url("/one"), "proxy-authorization:  basic   YW5uOnNlY3JldA==\r\n").status,
              200u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Authentication, IsAskedOfConnect) {
    start(forward_config());
    EXPECT_EQ(client().ask("CONNECT", origin_authority()).status, 407u);
    EXPECT_EQ(client().ask("CONNECT", origin_authority(), line(kWrong)).status, 407u);
    EXPECT_EQ(origin.connections(), 0u);
    auto tunnel = client();
    tunnel.begin("CONNECT", origin_authority(), line(kAnn));
    std::string head;
    while (!head.ends_with("\r\n\r\n") && tunnel.socket.receive(head, 1)) continue;
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
    EXPECT_EQ(tunnel.get("/in-the-tunnel").status, 200u);
    EXPECT_FALSE(contains(origin.heads().back(), "Proxy-Authorization"));
}

TEST_F(Authentication, IsNotPassedByARequestThatBeganBeforeAReloadWithoutIt) {
    auto settings = forward_config();
    const auto put = [&] {
        write("node.json", json::parse(effective_config(settings)).dump());
        return path("node.json");
    };
    start(settings, put());
    constexpr std::uint8_t kHeaders = 1, kContinuation = 9, kEndStream = 1, kEndHeaders = 4;
    Http2Client client(Socket::connect(address("a"), kProxyPort));
    const auto block = client.encode({{":method", "GET"},
                                      {":scheme", "http"},
                                      {":authority", origin_authority()},
                                      {":path", "/one"}});
    client.send_frame(kHeaders, kEndStream, 1, std::string_view(block).substr(0, 3));
    ASSERT_TRUE(eventually([&] { return status("a").connections >= 1; }));
    settings.forward.authentication.reset();
    settings.forward.clients = PrefixList({"10.9.9.9"});
    put();
    EXPECT_EQ(admin_client().ask("POST", "/api/v1/reload", "", "").status, 200u);
    client.send_frame(kContinuation, kEndHeaders, 1, std::string_view(block).substr(3));
    EXPECT_EQ(client.response(1).status, 503u);
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(Authentication, IsOfEachHttp2Stream) {
    start(forward_config());
    Http2Client client(Socket::connect(address("a"), kProxyPort));
    const auto get = [&](const Http2Client::Lines& more) {
        Http2Client::Lines lines{{":method", "GET"},
                                 {":scheme", "http"},
                                 {":authority", origin_authority()},
                                 {":path", "/one"}};
        lines.insert(lines.end(), more.begin(), more.end());
        return client.fetch(lines);
    };
    const auto refusal = get({});
    EXPECT_EQ(refusal.status, 407u);
    EXPECT_EQ(refusal.field("proxy-authenticate"), R"(Basic realm="hearsay", charset="UTF-8")");
    EXPECT_EQ(get({{"proxy-authorization", kAnn}}).status, 200u);
    EXPECT_EQ(get({{"proxy-authorization", kAnn}}).status, 200u) << "a hit";
    EXPECT_EQ(get({}).status, 407u) << "another stream has proven nothing";
    const Http2Client::Lines connect{{":method", "CONNECT"}, {":authority", origin_authority()}};
    EXPECT_EQ(client.fetch(connect).status, 407u);
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_FALSE(client.closed);
}

TEST_F(Authentication, IsNotForSitesOfTheNode) {
    auto settings = forward_config();
    settings.origins = {{"own.test", {"127.0.0.1", origin.port()}}};
    start(settings);
    EXPECT_EQ(get("a", "http://own.test/one").status, 200u);
    auto site = client();
    site.host = "own.test";
    EXPECT_EQ(site.get("/two").status, 200u);
    site.host = "other.test";
    EXPECT_EQ(site.get("/two").status, 404u) << "no site, and no question for a password";
}

// RequestStepsTest.APasswordComesOverTlsOrFromThisHost has the other cases.
TEST_F(Authentication, IsAskedOnLoopbackWhateverAPROXYHeaderNames) {
    auto settings = forward_config();
    settings.clients.trusted_proxies = {"127.0.0.1"};
    settings.clients.proxy_protocol = true;
    start(settings);
    const auto header =
        "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"s + "\x0a\x01\x02\x03\x7f\0\0\x01\0\x01\0\x02"s;
    auto far = client();
    far.socket.send(header);
    EXPECT_EQ(far.get(url("/one")).status, 407u) << "its bytes do not leave the host";
    EXPECT_EQ(far.get(url("/one"), line(kAnn)).status, 200u);
}

TEST_F(Authentication, WorksOverTls) {
    Certificates certificates;
    auto settings = forward_config();
    const auto files = certificates.issue("DNS:proxy.test");
    settings.tls = TlsConfig{{address("a"), kTlsPort}, files.certificate, files.key};
    start(settings);
    TlsClientEnd client(address("a"), kTlsPort, certificates.ca(), "proxy.test");
    EXPECT_EQ(client.get(url("/one")).status, 407u);
    EXPECT_EQ(client.get(url("/one"), line(kAnn)).status, 200u);
}

TEST_F(Authentication, GoesNoFurtherAndIsNotLogged) {
    auto settings = forward_config();
    settings.log.access = path("access.log");
    start(settings);
    const auto scripted = origin.set(
        [](auto& exchange) { exchange.answer(fresh("Vary: Proxy-Authorization\r\n"), "x"); });
    EXPECT_EQ(get("a", url("/one"), line(kAnn)).status, 200u);
    EXPECT_TRUE(contains(get("a", url("/one"), line(kBob)).cache_status(), "hit"))
        << "one response for all users";
    EXPECT_EQ(get("a", url("/wrong"), line(kWrong)).status, 407u);
    EXPECT_EQ(client().ask("TRACE", url("/one"), line(kAnn) + "Max-Forwards: 0\r\n").status, 405u);
    EXPECT_EQ(client().ask("POST", url("/one"), line(kAnn), "x").status, 200u);
    for (const auto& head : origin.heads()) EXPECT_FALSE(contains(head, "uthorization:")) << head;
    kill("a");
    const auto log = access_log();
    EXPECT_TRUE(contains(log, "\"user\":\"ann\"")) << log;
    EXPECT_TRUE(contains(log, "\"user\":\"bob\"")) << log;
    for (const auto* secret : {"secret", "YW5u", "Ym9i", "Basic "})
        EXPECT_FALSE(contains(log, secret)) << log;
    EXPECT_EQ(logged("YW5u").size() + logged("secret").size(), 0u);
}

TEST_F(Authentication, ChecksAPasswordOnceForManyRequests) {
    start(forward_config());
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            auto connection = client();
            for (int k = 0; k < 4; ++k)
                if (connection.get(url("/one"), line(kAnn)).status == 200u) ++good;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(good, 32);
    const auto work = status("a").work;
    EXPECT_EQ(work.passwords_checked, 1u);
    EXPECT_EQ(work.passwords_remembered, 31u);
    EXPECT_GT(work.password_check_us, 0u);
}

TEST_F(Authentication, EndsWithTheLineOfTheUser) {
    start(forward_config());
    auto ann = client(), bob = client();
    EXPECT_EQ(ann.get(url("/one"), line(kAnn)).status, 200u);
    EXPECT_EQ(bob.get(url("/one"), line(kBob)).status, 200u);
    write_users(std::string("bob:") + kSecretBySha + "\n");
    EXPECT_TRUE(eventually([&] { return ann.get(url("/one"), line(kAnn)).status == 407; }));
    EXPECT_EQ(bob.get(url("/one"), line(kBob)).status, 200u);
    EXPECT_EQ(logged("the users' file was read again: 1 user").size(), 1u);
    write_users("bob:plain\n");
    EXPECT_TRUE(eventually([&] { return !logged("users not renewed").empty(); }));
    EXPECT_TRUE(logged("plain text").size() == 1 && logged(", line 1: ").size() == 1);
    EXPECT_EQ(bob.get(url("/one"), line(kBob)).status, 200u) << "the former users stay";
}

TEST_F(Authentication, FollowsAReload) {
    auto settings = forward_config();
    settings.forward.authentication.reset();
    const auto put = [&] {
        write("node.json", json::parse(effective_config(settings)).dump(2));
        return path("node.json");
    };
    start(settings, put());
    EXPECT_EQ(get("a", url("/one")).status, 200u);
    settings.forward.authentication = AuthenticationConfig{path("users")};
    put();
    const auto reload = [] { return admin_client().ask("POST", "/api/v1/reload", "", ""); };
    EXPECT_EQ(reload().status, 200u);
    EXPECT_EQ(get("a", url("/one")).status, 407u);
    EXPECT_EQ(get("a", url("/one"), line(kAnn)).status, 200u);
    const auto shown = admin("a", "/api/v1/config").body;
    EXPECT_TRUE(contains(shown, path("users"))) << shown;
    EXPECT_FALSE(contains(shown, "bob") || contains(shown, "$6$")) << "nothing of the file";
    write_users("ann:plain\n");
    const auto refused = reload();
    EXPECT_NE(refused.status, 200u);
    EXPECT_TRUE(contains(refused.body, ", line 1: ")) << refused.body;
    EXPECT_EQ(get("a", url("/one"), line(kAnn)).status, 200u);
}

TEST_F(Authentication, StopsGuessesOfOneAddress) {
    auto settings = forward_config();
    settings.forward.clients = {"127.0.0.0/8"};
    start(settings);
    EXPECT_EQ(get("a", url("/one"), line(kBob)).status, 200u);
    auto guesser = client();
    auto last = guesser.get(url("/one"), line("Basic YW5uOjA="));
    for (char c = 'a'; c <= 'z' && last.status == 407; ++c)
        last = guesser.get(url("/one"), line(std::string("Basic YW5uOjA") + c));
    for (char c = 'A'; c <= 'Z' && last.status == 407; ++c)
        last = guesser.get(url("/one"), line(std::string("Basic YW5uOj") + c + "x"));
    EXPECT_EQ(last.status, 429u);
    EXPECT_EQ(last.field("Retry-After"), "1");
    EXPECT_EQ(last.cache_status(), "a; detail=over_guesses");
    EXPECT_EQ(get("a", url("/one"), line(kBob)).status, 200u) << "who is known already";
    EXPECT_EQ(client("a", "127.0.0.2").get(url("/one"), line(kAnn)).status, 200u) << "another one";
}

TEST_F(Authentication, IsOfNoUseToAPeer) {
    start(forward_config());
    EXPECT_EQ(get("a", url("/one"), "Hearsay-Peer: b 00\r\n").status, 407u);
}

}  // namespace authentication_test
}  // namespace proxy::test
