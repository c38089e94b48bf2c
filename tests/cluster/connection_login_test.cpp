// NTLM and its relatives, which log a connection in.
#include <map>
#include <mutex>
#include <vector>

#include "proxy/config/upstreams.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"

namespace proxy::test {
namespace connection_login_test {

using namespace std::string_literals;

/// An origin that knows users by their connections: two messages log one in.
class LoginOrigin {
public:
    void operator()(Exchange& exchange) {
        std::string user;
        {
            const std::lock_guard lock(mutex_);
            auto& login = logins_[&exchange.socket];
            const auto sent = exchange.field("Authorization");
            if (sent == scheme + " one") login = "?";
            if (sent.starts_with(scheme + " two ") && login == "?")
                login = sent.substr(scheme.size() + 5);
            user = login;
        }
        const auto caching =
            "Cache-Control: public, max-age=1000\r\nLast-Modified: "
            "Mon, 01 Jan 2024 00:00:00 GMT\r\n"s;
        if (!user.empty() && user != "?") return exchange.answer(caching + more, "page of " + user);
        const auto message = user.empty() ? std::string() : " message";
        exchange.answer(
            caching + "WWW-Authenticate: " + scheme + message + ", Basic realm=\"x\"\r\n", "who?",
            "401 Unauthorized");
    }

    std::string scheme = "NTLM";
    std::string more;  // fields of pages

private:
    std::mutex mutex_;
    std::map<const Socket*, std::string> logins_;
};

class ConnectionLogin : public NodesTest {
protected:
    std::string line(const std::string& message) const {
        return "Authorization: " + login.scheme + " " + message + "\r\n";
    }
    void log_in(Client& connection, const std::string& user) const {
        EXPECT_EQ(connection.get("/page").status, 401u);
        EXPECT_TRUE(contains(connection.get("/page", line("one")).field("WWW-Authenticate"),
                             login.scheme + " message"));
        EXPECT_EQ(connection.get("/page", line("two " + user)).body, "page of " + user);
    }
    ScriptedOrigin::Scripted knowing() {
        return origin.set([this](Exchange& e) { login(e); });
    }

    LoginOrigin login;
};

TEST_F(ConnectionLogin, IsOfOneClientConnection) {
    for (const auto* scheme : {"NTLM", "Negotiate"}) {
        login.scheme = scheme;
        const auto scripted = knowing();
        start(config("a"));
        auto alice = client();
        log_in(alice, "alice");
        EXPECT_EQ(alice.get("/page").body, "page of alice")
            << "without a field, and stored nowhere";
        EXPECT_EQ(alice.ask("POST", "/page", "", "x").body, "page of alice");
        EXPECT_EQ(get("a", "/page").status, 401u);
        EXPECT_EQ(client().ask("POST", "/page", "", "x").status, 401u);
        auto bob = client();
        log_in(bob, "bob");
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(alice.get("/page").body, "page of alice");
            EXPECT_EQ(bob.get("/page").body, "page of bob");
            EXPECT_EQ(get("a", "/page").status, 401u);
        }
        EXPECT_EQ(status("a").cache.objects, 0u);
        kill("a");
    }
}

TEST_F(ConnectionLogin, StaysWithItsServerOfAGroup) {
    const auto scripted = knowing();
    ScriptedOrigin other([this](Exchange& e) { login(e); });
    UpstreamGroupConfig group;
    group.name = "*";
    for (const auto* each : {&origin, &other}) {
        UpstreamServer server;
        server.place = {"127.0.0.1", each->port()};
        server.mark = mark_of_server(server.place.text());
        group.servers.push_back(server);
    }
    auto settings = config("a");
    settings.origins.front().group = std::make_shared<const UpstreamGroupConfig>(group);
    start(settings);
    auto alice = client();
    alice.get("/page", line("one"));
    EXPECT_EQ(alice.get("/page", line("two alice")).body, "page of alice");
    for (int i = 0; i < 4; ++i) EXPECT_EQ(alice.get("/page").body, "page of alice");
}

TEST_F(ConnectionLogin, IsOfOneSiteOfAForwardProxysClient) {
    const auto scripted = knowing();
    ScriptedOrigin open_to_all([](Exchange& e) { e.answer(fresh(), "page of all"); });
    auto settings = forward_config();
    start(settings);
    const auto url = [](const ScriptedOrigin& of) {
        return "http://127.0.0.1:" + std::to_string(of.port()) + "/";
    };
    auto alice = client();
    alice.get(url(origin), line("one"));
    EXPECT_EQ(alice.get(url(origin), line("two alice")).body, "page of alice");
    EXPECT_EQ(alice.get(url(open_to_all)).body, "page of all");
    EXPECT_TRUE(contains(alice.get(url(open_to_all)).cache_status(), "hit"));
    EXPECT_EQ(alice.get(url(origin)).body, "page of alice") << "the login waits meanwhile";
}

TEST_F(ConnectionLogin, IsOfOneSiteBehindAParentToo) {
    const auto scripted = knowing();  // the parent, which passes logins on
    auto settings = config("a");
    settings.origins.clear();
    settings.forward.enabled = true;
    UpstreamGroupConfig parents;
    parents.name = "forward.parent";
    parents.balance = Balance::in_order;
    parents.parents = true;
    parents.servers.emplace_back().place = {"127.0.0.1", origin.port()};
    parents.servers.front().mark = mark_of_server(parents.servers.front().place.text());
    settings.forward.parents = std::make_shared<const UpstreamGroupConfig>(std::move(parents));
    start(settings);
    auto alice = client();
    alice.get("http://one.test/", line("one"));
    EXPECT_EQ(alice.get("http://one.test/", line("two alice")).body, "page of alice");
    EXPECT_EQ(alice.ask("POST", "http://other.test/", {}, "x").status, 401u);
    EXPECT_EQ(alice.get("http://one.test/").body, "page of alice");
}

TEST_F(ConnectionLogin, TakesTheOriginFromNobodyWhileItIsIdle) {
    const auto scripted = knowing();
    auto settings = config("a");
    settings.limits.upstream_connections = 2;
    start(settings);
    std::vector<Client> idle;
    for (int i = 0; i < 3; ++i) log_in(idle.emplace_back(client()), std::to_string(i));
    EXPECT_EQ(get("a", "/page").status, 401u);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(idle[static_cast<std::size_t>(i)].get("/page").body,
                  "page of " + std::to_string(i));
}

TEST_F(ConnectionLogin, IsOfOneClientOfATrustedProxy) {
    const auto scripted = knowing();
    auto settings = config("a");
    settings.clients.trusted_proxies = {"127.0.0.1"};
    start(settings);
    const auto of = [](const char* client) { return "X-Forwarded-For: "s + client + "\r\n"; };
    const auto alice = of("192.0.2.1"), bob = of("192.0.2.2");
    auto shared = client();
    shared.get("/page", alice + line("one"));
    EXPECT_EQ(shared.get("/page", alice + line("two alice")).body, "page of alice");
    EXPECT_EQ(shared.get("/page", bob).status, 401u);
    EXPECT_EQ(shared.get("/page", alice).body, "page of alice") << "the store keeps them apart";
    EXPECT_EQ(shared.ask("POST", "/page", bob, "x").status, 401u);
    EXPECT_EQ(shared.ask("POST", "/page", alice, "x").status, 401u) << "the login has ended";
}

TEST_F(ConnectionLogin, EndsWithTheOriginsConnection) {
    const auto scripted = origin.set([this](Exchange& e) {
        login.more = e.target == "/last" ? "Connection: close\r\n" : "";
        e.keep = e.target != "/last";
        login(e);
    });
    start(config("a"));
    auto alice = client();
    log_in(alice, "alice");
    const auto last = alice.get("/last");
    EXPECT_EQ(last.body, "page of alice");
    EXPECT_EQ(last.field("Connection"), "close");
    EXPECT_TRUE(alice.at_end());
}

TEST_F(ConnectionLogin, TakesTheConnectionOfA401FromThePool) {
    const auto scripted = knowing();
    start(config("a"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(get("a", "/page").status, 401u);
    EXPECT_EQ(origin.connections(), 3u) << "a 401 is not stored, either";
    auto connection = client();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.ask("HEAD", "/page").status, 401u);
    EXPECT_EQ(origin.connections(), 4u) << "a client keeps that of its own request";
}

TEST_F(ConnectionLogin, IsNotOfferedToHttp2) {
    const auto scripted = knowing();
    start(config("a"));
    Http2Client http2(Socket::connect(address("a"), kProxyPort));
    const auto& refusal = http2.fetch(Http2Client::get("/page"));
    EXPECT_EQ(refusal.status, 401u);
    EXPECT_EQ(refusal.field("www-authenticate"), "Basic realm=\"x\"");
    const auto& posted = http2.fetch(Http2Client::lines("POST", "/page"));
    EXPECT_EQ(posted.field("www-authenticate"), "Basic realm=\"x\"");
    EXPECT_EQ(http2.fetch(Http2Client::get("/page", {{"authorization", "NTLM one"}})).status, 401u);
    EXPECT_EQ(http2.fetch(Http2Client::get("/page", {{"authorization", "NTLM two al"}})).status,
              401u)
        << "each message has a connection of its own";
    EXPECT_EQ(get("a", "/page").field("WWW-Authenticate"), "NTLM, Basic realm=\"x\"");
}

}  // namespace connection_login_test
}  // namespace proxy::test
