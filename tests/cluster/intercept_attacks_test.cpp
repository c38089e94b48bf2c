// Attempts of origins and peers on the content that forward.intercept brings into the store.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "proxy/config/parse_config.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/tls_over.hpp"
#include "tests/proxy/tls/intercept_kit.hpp"

namespace proxy::test {
namespace intercept_attacks_test {

using testing::EndsWith;
using testing::HasSubstr;

AuthorityFiles& authority() {
    static AuthorityFiles made({"pypi.test", "files.test"});
    return made;
}

constexpr auto kStranger = "127.0.0.77";  // may not use the forward proxy of node a

class InterceptAttacks : public NodesTest {
protected:
    Config intercepting(Config settings) const {
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.intercept = InterceptConfig{};
        auto& intercept = *settings.forward.intercept;
        for (const auto* host : {"pypi.test", "files.test"})
            intercept.hosts.push_back({host, Glob(host), 0});
        intercept.ca = authority().files();
        return settings;
    }
    /// GET inside a CONNECT to pypi.test at node a.
    Answer get_inside(std::string_view target, const std::string& fields = {}) const {
        auto outer = client();
        outer.socket.send("CONNECT pypi.test:443 HTTP/1.1\r\nHost: pypi.test:443\r\n\r\n");
        std::string head;
        while (!head.ends_with("\r\n\r\n") && outer.socket.receive(head, 1)) continue;
        EXPECT_THAT(head, HasSubstr(" 200 "));
        TlsOver tls(authority().files().certificate, "pypi.test");
        EXPECT_TRUE(tls.connect({[&](std::string_view bytes) { return outer.socket.send(bytes); },
                                 [&](std::string& into) { return outer.socket.receive(into); }}));
        return tls.get(target, fields);
    }
};

TEST_F(InterceptAttacks, NoRedirectLeadsTheNodeFromHttpsToHttp) {
    auto read = parse_config(
        R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true},
            "rules": [{"name": "all", "match": {"hosts": ["pypi.test", "files.test"]}, "follow_redirects": true}]})");
    ASSERT_TRUE(read.config) << describe(read.errors);
    auto settings = intercepting(config("a"));
    settings.rules = read.config->rules;
    settings.origins.insert(settings.origins.begin(),
                            OriginConfig{"files.test", {"127.0.0.1", origin.port()}});
    start(settings);
    std::string scheme = "http";
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/real") return e.answer(fresh(), "real");
        e.answer("Location: " + scheme + "://files.test/real\r\n" + fresh(), "", "302 Found");
    });
    for (const auto requests : {1u, 2u}) {
        const auto left = get_inside("/blob");
        EXPECT_EQ(left.status, 302u);
        EXPECT_EQ(left.field("Location"), "http://files.test/real") << "for the client to judge";
        EXPECT_THAT(left.cache_status(), HasSubstr("detail=redirect_target"));
        EXPECT_EQ(origin.requests(), requests) << "neither followed nor stored";
    }
    scheme = "https";
    const auto followed = get_inside("/other");
    EXPECT_EQ(followed.body, "real") << followed.head;
    EXPECT_EQ(origin.requests(), 4u);
}

/// Node a intercepts. Node b does not; the requests are those that b could send with its token.
class InterceptAttacksOfAPeer : public InterceptAttacks {
protected:
    void SetUp() override {
        encrypt = false;  // so that a script can stand in for a, and learn the token
        auto settings = config("b", 2);
        settings.cluster->peers.front().http = {"127.0.0.1", stand_in.port()};
        settings.origins = {OriginConfig{"origin.test", {"127.0.0.1", origin.port()}}};
        auto other = intercepting(config("a", 2));
        other.forward.clients = PrefixList{"127.0.0.1"};
        start(other);
        start(settings);
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
        store("a", "/token");
        get("b", "/token");
        ASSERT_EQ(stand_in.requests(), 1u);
        proof = "Hearsay-Peer: " + field_of(stand_in.heads().front(), "Hearsay-Peer") +
                "\r\nCache-Control: only-if-cached\r\n";
        ASSERT_EQ(get_inside("/one").status, 200u);
        asked = origin.requests();
    }
    ScriptedOrigin stand_in{[](Exchange& e) {
        e.answer("Cache-Status: a; fwd=uri-miss; detail=absent\r\n", "", "504 No");
    }};
    std::string proof;
    std::uint64_t asked = 0;
};

TEST_F(InterceptAttacksOfAPeer, GetWhatIsStoredAndMakeTheNodeFetchNothing) {
    EXPECT_EQ(get("a", "https://pypi.test/one", proof).body, "body of /one")
        << "members of a cluster trust each other, whatever they intercept";
    for (const auto* other :
         {"https://unlisted.test/one", "https://files.test/one", "https://pypi.test:8443/one",
          "http://pypi.test/one", "https://127.0.0.1/one", "https://pypi.test/two"}) {
        const auto answer = get("a", other, proof);
        EXPECT_EQ(answer.status, 504u) << other;
        EXPECT_THAT(answer.cache_status(), EndsWith("detail=absent")) << other;
    }
    EXPECT_EQ(origin.requests(), asked);
    EXPECT_EQ(status("a").tls.leaves.minted, 1u) << "a certificate for the one CONNECT";
}

TEST_F(InterceptAttacksOfAPeer, OpenNoTunnelWhereNoClientMay) {
    for (const auto& fields : {proof, std::string()}) {
        auto peer = client("a", kStranger);
        EXPECT_EQ(peer.ask("CONNECT", "files.test:443", fields).status, 403u) << fields;
    }
    EXPECT_EQ(status("a").work.intercepted_connections, 1u);
    EXPECT_EQ(status("a").tls.leaves.minted, 1u);
}

TEST_F(InterceptAttacksOfAPeer, GetNothingOfOtherHostsInsideWithAForgedToken) {
    const std::string forged = "Hearsay-Peer: b 0123456789abcdef0123456789abcdef\r\n";
    EXPECT_EQ(get_inside("https://files.test/one", forged).status, 421u);
    EXPECT_EQ(origin.requests(), asked);
}

TEST_F(InterceptAttacksOfAPeer, GiveItsClientsNothingThatItMayNotForward) {
    const auto answer = get("b", "https://pypi.test/one");
    EXPECT_EQ(answer.status, 403u) << answer.head;
    EXPECT_EQ(origin.requests(), asked);
}

}  // namespace intercept_attacks_test
}  // namespace proxy::test
