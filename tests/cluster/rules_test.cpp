#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/proxy/disk/disk_kit.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace rules_test {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

/// Nodes with rules in front of an origin that numbers its responses.
class Rules : public NodesTest {
protected:
    ~Rules() override {
        kill("a");
        kill("b");
    }

    static RuleTable rules(const std::string& list) {
        auto read = parse_config(
            R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": )" +
            list + "}");
        EXPECT_TRUE(read.config) << describe(read.errors);
        return read.config ? read.config->rules : RuleTable();
    }
    Config ruled(const std::string& list, const std::string& node = "a", unsigned nodes = 1) const {
        auto settings = nodes == 1 ? config(node) : config(node, nodes);
        settings.rules = rules(list);
        return settings;
    }
    Node& run(const std::string& list) { return start(ruled(list), file_); }
    /// Other rules for node a, which is running.
    void reload(const std::string& list) const {
        std::ofstream(file_, std::ios::trunc) << effective_config(ruled(list));
        const auto answer = admin_client("a").ask("POST", "/api/v1/reload", "", "");
        EXPECT_EQ(answer.status, 200u) << answer.body;
    }
    /// The origin answers `fields` and the number of the request.
    ScriptedOrigin::Scripted numbered(std::string fields) {
        return origin.set([this, fields = std::move(fields)](Exchange& e) {
            e.answer(fields, "response " + std::to_string(++number));
        });
    }
    bool is_hit(std::string_view target, std::string_view fields = {}) const {
        return contains(get("a", target, fields).cache_status(), "; hit");
    }
    json explained(std::string_view url) const {
        return json::parse(admin("a", "/api/v1/explain?url=" + std::string(url)).body);
    }

    std::atomic<int> number{0};
    const TemporaryDirectory folder_;
    const std::filesystem::path file_ = folder_.path() / "node.json";
};

TEST_F(Rules, OneObjectBehindManySignatures) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "signed", "match": {"paths": ["/blobs/*"]},
             "query": {"drop": ["X-Amz-*", "sig"]}}])");
    EXPECT_EQ(get("a", "/blobs/1?v=2&sig=one").body, "response 1");
    EXPECT_EQ(get("a", "/blobs/1?X-Amz-Date=7&v=2&sig=two").body, "response 1");
    EXPECT_EQ(get("a", "/blobs/1?v=3&sig=one").body, "response 2");
    EXPECT_EQ(get("a", "/other?sig=one").body, "response 3");
    EXPECT_EQ(get("a", "/other?sig=two").body, "response 4");
    EXPECT_THAT(origin.heads().at(0), HasSubstr("GET /blobs/1?v=2&sig=one HTTP/1.1"))
        << "the origin gets the signature";
    EXPECT_EQ(explained("http%3A%2F%2Forigin.test%2Fblobs%2F1%3Fv%3D2%26sig%3Dthree").at("here"),
              "fresh");
    EXPECT_EQ(explained("http%3A%2F%2Forigin.test%2Fblobs%2F1%3Fsig%3D1").at("rule"), "signed");
    EXPECT_EQ(explained("http%3A%2F%2Forigin.test%2F").at("rule"), nullptr);
}

TEST_F(Rules, APurgeAndAnUnsafeMethodEndTheObjectBehindAnySignature) {  // RFC 9111 §4.4
    const auto scripted = numbered(fresh());
    run(R"([{"name": "signed", "query": {"drop": ["sig"]}}])");
    EXPECT_EQ(get("a", "/one?sig=1").body, "response 1");
    EXPECT_EQ(client().ask("PURGE", "/one?sig=2").status, 200u);
    EXPECT_EQ(get("a", "/one?sig=3").body, "response 2");
    EXPECT_EQ(client().ask("POST", "/one?sig=4", "", "x").status, 200u);
    EXPECT_EQ(get("a", "/one?sig=5").body, "response 4");
    const auto purged =
        admin_client().ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n",
                           R"({"url": "http://origin.test/one?sig=6"})");
    EXPECT_EQ(json::parse(purged.body).at("objects"), 1) << purged.body;
    EXPECT_EQ(get("a", "/one").body, "response 5");
}

/// A registry that chooses by Accept and keeps quiet about it.
void answer_as_registry(Exchange& e) {
    const auto accept = e.field("Accept");
    e.answer("Cache-Control: max-age=1000\r\n", contains(accept, "a/index") ? "index" : "manifest");
}

TEST_F(Rules, AFieldOfTheKeySelectsAsIfVaryNamedIt) {
    const auto scripted = origin.set(answer_as_registry);
    run(R"([{"name": "tags", "key_fields": ["Accept"]}])");
    EXPECT_EQ(get("a", "/m", "Accept: a/index, a/manifest\r\n").body, "index");
    EXPECT_EQ(get("a", "/m", "Accept: a/manifest\r\n").body, "manifest");
    EXPECT_EQ(get("a", "/m").body, "manifest");
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_TRUE(is_hit("/m", "Accept: A/Manifest\r\nAccept: a/index;q=1.0\r\n"));
    EXPECT_TRUE(is_hit("/m", "Accept: a/manifest\r\n"));
    EXPECT_EQ(client().ask("HEAD", "/m", "Accept: a/manifest\r\n").field("Content-Length"), "8");
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_EQ(client().ask("PURGE", "/m").status, 200u) << "of all";
    EXPECT_FALSE(is_hit("/m", "Accept: a/manifest\r\n"));
    EXPECT_FALSE(is_hit("/m"));
}

TEST_F(Rules, ANewFieldOfTheKeyEndsWhatWasStoredWithoutIt) {
    const auto scripted = origin.set(answer_as_registry);
    run(R"([{"name": "tags"}])");
    EXPECT_EQ(get("a", "/m", "Accept: a/index\r\n").body, "index");
    reload(R"([{"name": "tags", "key_fields": ["Accept"]}])");
    EXPECT_EQ(get("a", "/m", "Accept: a/manifest\r\n").body, "manifest");
    EXPECT_TRUE(is_hit("/m", "Accept: a/manifest\r\n"));
    reload(R"([{"name": "tags"}])");
    EXPECT_EQ(get("a", "/m", "Accept: a/manifest\r\n").body, "manifest");
}

TEST_F(Rules, AFieldOfTheKeySelectsAtAPeerToo) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh(), e.field("X-Api-Key") == "one" ? "of one" : "of two");
    });
    const auto* list = R"([{"name": "keys", "key_fields": ["X-Api-Key", "Accept"]}])";
    start(ruled(list, "a", 2));
    start(ruled(list, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto fields = [](const std::string& key, const std::string& accept) {
        return "X-Api-Key: " + key + "\r\nAccept: " + accept + "\r\n";
    };
    EXPECT_EQ(get("a", "/m", fields("one", "a/b, a/c")).body, "of one");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/m", fields("one", "a/c, a/b")).body, "of one");
    EXPECT_EQ(origin.requests(), 1u) << "the peer has it";
    EXPECT_EQ(get("b", "/m", fields("two", "a/b, a/c")).body, "of two");
    EXPECT_EQ(get("b", "/m", "X-Api-Key: one\r\n").body, "of one");
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Rules, AStoredRefusalAnswersNoRequestWithCredentials) {
    const auto scripted = origin.set([](Exchange& e) {
        const auto known = contains(e.head, "Authorization") || contains(e.head, "Cookie") ||
                           contains(e.head, "Private-Token");
        if (known) return e.answer("", "welcome");
        e.answer("WWW-Authenticate: Basic realm=\"r\"\r\n", "who?", "401 Unauthorized");
    });
    run(R"([{"name": "ping", "fresh_for": {"401": "1h"}}])");
    EXPECT_EQ(get("a", "/v2/").status, 401u);
    EXPECT_TRUE(is_hit("/v2/"));
    for (const auto* fields :
         {"Authorization: Basic eDp5\r\n", "Private-Token: t\r\n", "Cookie: session=1\r\n"}) {
        EXPECT_EQ(get("a", "/v2/", fields).body, "welcome") << fields;
        EXPECT_EQ(client().ask("HEAD", "/v2/", fields).status, 200u) << fields;
        EXPECT_EQ(get("a", "/v2/").status, 401u) << fields;
    }
}

TEST_F(Rules, AStoredRefusalStandsInForNoRequestWithCredentials) {
    std::atomic<bool> broken{false};
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer("ETag: \"1\"\r\nCache-Control: max-age=0, stale-if-error=1000\r\n", "no",
                 broken ? "500 Broken" : "403 Forbidden");
    });
    run("[]");
    EXPECT_EQ(get("a", "/p").status, 403u);
    broken = true;
    EXPECT_EQ(get("a", "/p").status, 403u);
    EXPECT_EQ(get("a", "/p", "Authorization: Basic eDp5\r\n").status, 500u);
}

TEST_F(Rules, APeersRefusalAnswersNoRequestWithCredentials) {
    const auto scripted = origin.set([](Exchange& e) {
        if (contains(e.head, "X-Api-Key")) return e.answer("", "welcome");
        e.answer("", "who?", "401 Unauthorized");
    });
    const auto* list = R"([{"name": "ping", "fresh_for": {"401": "1h"}}])";
    start(ruled(list, "a", 2));
    start(ruled(list, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/v2/").status, 401u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/v2/", "X-Api-Key: k\r\n").body, "welcome");
    EXPECT_EQ(get("b", "/v2/").status, 401u);
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Rules, AnAnswerToAPostUnderABypassIsNotStored) {
    const auto scripted = numbered("Content-Location: /page\r\n" + std::string(fresh()));
    run(R"([{"name": "past", "match": {"paths": ["/page"], "methods": ["POST"]}, "bypass": true}])");
    EXPECT_EQ(client().ask("POST", "/page", "", "x").body, "response 1");
    EXPECT_EQ(get("a", "/page").body, "response 2");
    EXPECT_EQ(client().ask("POST", "/other", "", "x").body, "response 3");
}

TEST_F(Rules, APurgeByRuleEndsWhatTheRuleJudged) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "docs", "match": {"paths": ["/docs/*"]}, "tags": ["manual"]}])");
    get("a", "/docs/1");
    get("a", "/docs/2");
    get("a", "/other");
    const auto purge = [&](const char* order) {
        const auto answer = admin_client().ask("POST", "/api/v1/purge",
                                               "Content-Type: application/json\r\n", order);
        return json::parse(answer.body).at("objects").get<int>();
    };
    EXPECT_EQ(purge(R"({"rules": ["docs"]})"), 2);
    EXPECT_FALSE(is_hit("/docs/1"));
    EXPECT_TRUE(is_hit("/other"));
    EXPECT_EQ(purge(R"({"tags": ["manual"]})"), 1);
    const auto unknown = admin_client().ask(
        "POST", "/api/v1/purge", "Content-Type: application/json\r\n", R"({"rules": ["other"]})");
    EXPECT_EQ(unknown.status, 422u);
    EXPECT_EQ(unknown.body, "No rule has the name other. The rules are: docs.\n");
}

TEST_F(Rules, GiveALifetimeAndItEndsWithTheRule) {
    const auto scripted = numbered("Cache-Control: max-age=0\r\nETag: \"1\"\r\n");
    run(R"([{"name": "long", "fresh_for": "1h"}])");
    EXPECT_EQ(get("a", "/one").body, "response 1");
    EXPECT_TRUE(is_hit("/one"));
    reload(R"([{"name": "longer", "fresh_for": "1h"}])");
    EXPECT_TRUE(is_hit("/one")) << "the rule means the same";
    reload(R"([{"name": "long", "fresh_for": "2h"}])");
    EXPECT_FALSE(is_hit("/one")) << "another rule judges anew, with a validation";
    EXPECT_THAT(origin.heads().at(1), HasSubstr("If-None-Match: \"1\""));
    EXPECT_TRUE(is_hit("/one"));
    reload("[]");
    EXPECT_FALSE(is_hit("/one")) << "the origin's max-age=0 counts again";
}

TEST_F(Rules, WhatOnlyARuleSharesEndsWithTheRule) {
    const auto scripted = numbered("Cache-Control: private, max-age=600\r\nETag: \"1\"\r\n");
    run(R"([{"name": "ours", "ignore": ["private"]}])");
    EXPECT_EQ(get("a", "/one", "Cookie: user=1\r\n").body, "response 1");
    EXPECT_TRUE(is_hit("/one", "Cookie: user=2\r\n"));
    reload("[]");
    EXPECT_EQ(get("a", "/one").body, "response 2");
    EXPECT_THAT(origin.heads().at(1), Not(HasSubstr("If-None-Match")))
        << "a private response of another client is not even validated";
    EXPECT_FALSE(is_hit("/one"));
}

TEST_F(Rules, AnIgnoredCookieGoesToItsClientAlone) {
    const auto scripted = numbered(fresh("Set-Cookie: user=1\r\n"));
    run(R"([{"name": "static", "ignore": ["set-cookie"]}])");
    EXPECT_EQ(get("a", "/one").field("Set-Cookie"), "user=1");
    const auto second = get("a", "/one");
    EXPECT_EQ(second.body, "response 1");
    EXPECT_EQ(second.field("Set-Cookie"), "");
}

TEST_F(Rules, ShareContentOfAuthorizedRequestsOnlyWhereTheySaySo) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "digests", "match": {"paths": ["/sha256/*"]}, "share_authorized": true}])");
    const auto* authorized = "Authorization: Bearer 1\r\n";
    EXPECT_EQ(get("a", "/sha256/1", authorized).body, "response 1");
    EXPECT_TRUE(is_hit("/sha256/1", "Authorization: Bearer 2\r\n"));
    EXPECT_EQ(get("a", "/page", authorized).body, "response 2");
    EXPECT_FALSE(is_hit("/page", authorized));
}

TEST_F(Rules, LetAHeadFillTheStore) {
    std::atomic<int> heads = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        heads += e.method == "HEAD";
        if (contains(e.target, "/moved"))
            return e.answer(fresh("Location: http://cdn.test/1\r\nX-Commit: 1\r\n"), "there",
                            "302 Found");
        e.answer(fresh(), "response " + std::to_string(++number));
    });
    run(R"([{"name": "files", "match": {"paths": ["/files/*"]}, "fetch_for_head": true}])");
    const auto head = client().ask("HEAD", "/files/1");
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.field("Content-Length"), "10");
    EXPECT_EQ(head.body, "");
    EXPECT_TRUE(is_hit("/files/1")) << "a GET of the same";
    for (int i = 0; i < 2; ++i) {
        const auto moved = client().ask("HEAD", "/files/moved");
        EXPECT_EQ(moved.status, 302u);
        EXPECT_EQ(moved.field("X-Commit"), "1");
        EXPECT_EQ(contains(moved.cache_status(), "; hit"), i == 1) << moved.cache_status();
    }
    EXPECT_EQ(heads, 0);
    client().ask("HEAD", "/other");
    EXPECT_EQ(heads, 1) << "no rule";
}

TEST_F(Rules, GiveAHeadOfWhatIsForOneClient) {
    std::atomic<int> heads = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        heads += e.method == "HEAD";
        e.answer("Cache-Control: private\r\n", e.method == "HEAD" ? "" : std::string(300'000, 'x'));
    });
    run(R"([{"name": "files", "fetch_for_head": true}])");
    auto connection = client();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(connection.ask("HEAD", "/own").status, 200u);
    EXPECT_EQ(heads, 1) << "the second one goes past the store";
    EXPECT_EQ(connection.ask("GET", "/own").body.size(), 300'000u) << "the connection is in order";
}

TEST_F(Rules, SendRequestsPastTheCache) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "live", "match": {"paths": ["/live/*"]}, "bypass": true}])");
    EXPECT_EQ(get("a", "/live/1").body, "response 1");
    EXPECT_EQ(get("a", "/live/1").body, "response 2");
    EXPECT_EQ(status("a").cache.objects, 0u);
    reload("[]");
    EXPECT_EQ(get("a", "/live/1").body, "response 3");
    reload(R"([{"name": "live", "bypass": true}])");
    EXPECT_EQ(get("a", "/live/1").body, "response 4") << "stored content is bypassed, too";
}

TEST_F(Rules, ChangeFieldsOfRequestsBeforeAVariantIsSelected) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer(fresh("Vary: Accept-Encoding\r\n"),
                 e.field("Accept-Encoding") + std::to_string(++number));
    });
    run(R"([{"name": "one-coding", "request_fields":
             {"set": {"Accept-Encoding": "gzip", "X-Key": "k"}, "remove": ["X-Secret"]}}])");
    EXPECT_EQ(get("a", "/one", "Accept-Encoding: br\r\nX-Secret: s\r\n").body, "gzip1");
    EXPECT_EQ(get("a", "/one", "Accept-Encoding: deflate\r\n").body, "gzip1");
    EXPECT_THAT(origin.heads().at(0), HasSubstr("X-Key: k"));
    EXPECT_THAT(origin.heads().at(0), Not(HasSubstr("X-Secret")));
}

TEST_F(Rules, SendCredentialsToTheSitesOfTheNodeAlone) {
    auto settings = ruled(R"([{"name": "keys", "request_fields":
             {"set": {"Authorization": "Bearer s", "X-Office": "north"},
              "add": {"X-Api-Key": "s", "Cookie": "s=1"}}}])");
    settings.forward.enabled = true;
    settings.forward.private_destinations = Destinations::allow;
    settings.origins.front().host = "origin.test";
    start(settings);
    EXPECT_EQ(get("a", "http://origin.test:81/one").status, 200u) << "the entry names the place";
    // A client names scheme and port of a forward target, and the rule does not.
    const auto forward = "http://" + origin_authority();
    const auto own = "Authorization: Basic own\r\n";
    EXPECT_EQ(get("a", forward + "/two", own).status, 200u);
    const auto heads = origin.heads();
    for (const auto* line : {"Authorization: Bearer s", "X-Api-Key: s", "Cookie: s=1"}) {
        EXPECT_THAT(heads.at(0), HasSubstr(line));
        EXPECT_THAT(heads.at(1), Not(HasSubstr(line)));
    }
    for (const auto& head : heads) EXPECT_THAT(head, HasSubstr("X-Office: north"));
    EXPECT_THAT(heads.at(1), Not(HasSubstr("Basic own"))) << "the rule replaces it all the same";
}

TEST_F(Rules, ChangeFieldsOfHitsAndMissesAlike) {
    const auto scripted =
        numbered(fresh("Server: secret\r\nX-Frame-Options: none\r\nX-Kept: 1\r\n"));
    run(R"([{"name": "hardened", "response_fields":
             {"set": {"X-Frame-Options": "DENY"}, "add": {"X-Added": "2"}, "remove": ["server"]}}])");
    for (const auto* method : {"GET", "GET", "POST"}) {
        const auto answer = client().ask(method, "/one");
        EXPECT_EQ(answer.field("X-Frame-Options"), "DENY") << method;
        EXPECT_EQ(answer.field("X-Added"), "2") << method;
        EXPECT_EQ(answer.field("X-Kept"), "1") << method;
        EXPECT_EQ(answer.field("Server"), "") << method;
        EXPECT_TRUE(answer.complete) << method;
    }
    reload("[]");
    EXPECT_EQ(get("a", "/two").field("Server"), "secret");
}

TEST_F(Rules, AnImmutableObjectOutlivesReloadsOfItsClients) {
    const auto scripted = numbered("");
    run(R"([{"name": "digests", "immutable": true}])");
    EXPECT_EQ(get("a", "/one").body, "response 1");
    EXPECT_TRUE(is_hit("/one", "Cache-Control: no-cache\r\n"));
    EXPECT_TRUE(is_hit("/one", "Cache-Control: max-age=0\r\n"));
}

TEST_F(Rules, ServeStaleContentByTheRulesWindow) {
    std::atomic<bool> well{true};
    std::string trouble = "503 Service Unavailable";
    const auto scripted = origin.set([&](Exchange& e) {
        if (well)
            e.answer("Cache-Control: max-age=0\r\nETag: \"1\"\r\n", "content");
        else
            e.answer("", "no", trouble);
    });
    run(R"([{"name": "mirror", "match": {"paths": ["/m/*"]}, "stale_if_error": "1h",
             "at_least": "0s", "stale_on": [429]}])");
    get("a", "/m/1");
    get("a", "/other");
    well = false;
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(get("a", "/other").status, 503u);
    trouble = "429 Too Many Requests";
    EXPECT_EQ(get("a", "/m/1").body, "content");
    EXPECT_EQ(get("a", "/m/2").status, 429u) << "nothing is stored";
    trouble = "403 Forbidden";
    EXPECT_TRUE(eventually([&] { return get("a", "/m/1").status == 403; })) << "not listed";
}

TEST_F(Rules, EqualRulesShareAndOthersRefuseEachOther) {
    const auto scripted = numbered(fresh());
    const auto* by_path = R"([{"name": "signed", "query": {"drop": ["sig"]}}])";
    start(ruled(by_path, "a", 2));
    start(ruled(by_path, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/one?sig=1").body, "response 1");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one?sig=2").body, "response 1");
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    kill("b");
    start(ruled(R"([{"name": "signed", "query": {"drop": ["token"]}}])", "b", 2));
    ASSERT_TRUE(eventually([&] {
        return status("a").cluster.link_refusals.count("rules_differ") > 0 ||
               status("b").cluster.link_refusals.count("rules_differ") > 0;
    }));
    EXPECT_EQ(get("b", "/one?sig=3").body, "response 2") << "it is not asked";
}

/// An origin that knows one body with a strong ETag, and two users.
ScriptedOrigin::Script private_registry(std::atomic<bool>& shows_conditions) {
    return [&shows_conditions](Exchange& e) {
        const auto who = e.field("Authorization");
        if (who == "Bearer none")
            return e.answer("Cache-Control: max-age=600\r\n", "no", "404 Not Found");
        if (who != "Bearer 1" && who != "Bearer 2" && !contains(e.target, "sig="))
            return e.answer("Cache-Control: max-age=600\r\n", "no", "401 Unauthorized");
        const auto known = e.field("If-None-Match") == "\"v1\"";
        if (known && shows_conditions) return e.answer("ETag: \"v1\"\r\n", "", "304 Not Modified");
        e.answer("ETag: \"v1\"\r\nCache-Control: max-age=600\r\n", "the private body");
    };
}
constexpr auto kAuthorize = R"([{"name": "private", "query": {"drop": ["sig"]},
                                 "authorize": "origin"}])";

TEST_F(Rules, TheOriginAuthorizesEachClientOfAStoredBody) {
    std::atomic<bool> conditions{true};
    const auto scripted = origin.set(private_registry(conditions));
    run(kAuthorize);
    const auto as = [&](const char* who, const char* target = "/blob") {
        return get("a", target, std::string("Authorization: Bearer ") + who + "\r\n");
    };
    EXPECT_EQ(as("1").body, "the private body");
    EXPECT_EQ(as("2").body, "the private body");
    EXPECT_THAT(origin.heads().at(1), HasSubstr("Authorization: Bearer 2"));
    EXPECT_THAT(origin.heads().at(1), HasSubstr("If-None-Match: \"v1\""));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(as("3").status, 401u) << "refused, whatever is stored";
        EXPECT_EQ(as("none").status, 404u);
        EXPECT_EQ(get("a", "/blob").status, 401u);
        EXPECT_EQ(get("a", "/blob", "Cache-Control: max-stale\r\n").status, 401u);
        EXPECT_EQ(get("a", "/blob", "Range: bytes=0-2\r\n").status, 401u);
        EXPECT_EQ(client().ask("HEAD", "/blob").status, 401u);
        EXPECT_EQ(as("2").body, "the private body") << "a refusal of others ends nothing";
    }
    const auto before = origin.requests();
    EXPECT_EQ(as("1", "/blob?sig=1").body, "the private body");
    EXPECT_EQ(get("a", "/blob?sig=2").body, "the private body");
    EXPECT_EQ(origin.requests(), before + 2);
    conditions = false;
    EXPECT_EQ(as("1").body, "the private body") << "a 200 with the same ETag confirms it";
    EXPECT_EQ(status("a").cache.objects, 1u);
    origin.die();
    EXPECT_GE(as("1").status, 500u) << "without the origin nobody is authorized";
}

TEST_F(Rules, TheOriginAuthorizesConcurrentClientsAndSendsOneBody) {
    constexpr int kClients = 10;
    Gate gate;
    std::atomic<int> bodies{0}, confirmed{0};
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Authorization") == "Bearer none")
            return e.answer("Cache-Control: max-age=600\r\n", "no", "401 Unauthorized");
        if (e.field("If-None-Match") == "\"v1\"") {
            ++confirmed;
            return e.answer("ETag: \"v1\"\r\nX-User: " + e.field("Authorization") + "\r\n", "",
                            "304 Not Modified");
        }
        ++bodies;
        e.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 8\r\nX-User: " +
               e.field("Authorization") + "\r\n\r\nthe ");
        gate.wait();
        e.send("body");
    });
    run(kAuthorize);
    const auto as = [](int who) { return "Authorization: Bearer " + std::to_string(who) + "\r\n"; };
    std::vector<Client> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back(client());
        clients.back().begin("GET", "/blob", as(i));
        if (i == 0) {
            ASSERT_TRUE(clients.back().read_at_least(4));
        }
    }
    ASSERT_TRUE(eventually([&] { return confirmed == kClients - 1; }));
    for (auto& one : clients)
        EXPECT_TRUE(one.read_at_least(4)) << "it follows the body as it comes";
    EXPECT_EQ(get("a", "/blob", "Authorization: Bearer none\r\n").status, 401u);
    gate.open();
    for (int i = 0; i < kClients; ++i) {
        const auto answer = clients[i].read();
        EXPECT_EQ(answer.body, "the body");
        EXPECT_EQ(answer.field("X-User"), "Bearer " + std::to_string(i)) << "its own, no other's";
    }
    EXPECT_EQ(bodies, 1);
    EXPECT_EQ(get("a", "/blob", as(1)).body, "the body");
    EXPECT_EQ(bodies, 1);
}

TEST_F(Rules, ConcurrentClientsGetNoBodyOfAnother) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto who = e.field("Authorization");
        e.send("HTTP/1.1 200 OK\r\nETag: \"" + who.substr(7) + "\"\r\nContent-Length: 9\r\n\r\n" +
               who);
        if (who == "Bearer 1") gate.wait();
        e.send(".");
    });
    run(kAuthorize);
    auto first = client();
    first.begin("GET", "/blob", "Authorization: Bearer 1\r\n");
    ASSERT_TRUE(first.read_at_least(8));
    EXPECT_EQ(get("a", "/blob", "Authorization: Bearer 2\r\n").body, "Bearer 2.");
    gate.open();
    EXPECT_EQ(first.read().body, "Bearer 1.");
}

TEST_F(Rules, APeerGivesABodyThatTheOriginConfirmed) {
    std::atomic<bool> conditions{true};
    const auto scripted = origin.set(private_registry(conditions));
    start(ruled(kAuthorize, "a", 2));
    start(ruled(kAuthorize, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/blob?sig=1").body, "the private body");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/blob", "Authorization: Bearer none\r\n").status, 404u);
    EXPECT_EQ(get("b", "/blob").status, 401u);
    EXPECT_EQ(get("b", "/blob?sig=2").body, "the private body");
    EXPECT_THAT(origin.heads().back(), HasSubstr("If-None-Match: \"v1\""));
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u) << "the origin sent the body once";
}

TEST_F(Rules, APeerWithoutTheRuleOpensNothing) {
    std::atomic<bool> conditions{true};
    const auto scripted = origin.set(private_registry(conditions));
    start(ruled(R"([{"name": "open", "share_authorized": true}])", "a", 2));
    start(ruled(R"([{"name": "private", "authorize": "origin"}])", "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/blob", "Authorization: Bearer 1\r\n").body, "the private body");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/blob").status, 401u);
    EXPECT_EQ(get("b", "/blob", "Authorization: Bearer none\r\n").status, 404u);
}

TEST_F(Rules, ContentWithoutAStrongTagIsNotSharedByAuthorization) {
    const auto scripted = numbered(
        "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\n"
        "ETag: W/\"1\"\r\nCache-Control: max-age=600\r\n");
    run(kAuthorize);
    EXPECT_EQ(get("a", "/one").body, "response 1");
    EXPECT_EQ(get("a", "/one").body, "response 2");
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Rules, YoungContentIsRefusedOnEveryWay) {
    std::atomic<bool> old{false};
    const auto scripted = origin.set([&](Exchange& e) {
        e.answer(fresh(old ? "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\n"
                           : "Last-Modified: Fri, 20 Nov 2099 00:00:00 GMT\r\n"),
                 "package");
    });
    run("[]");
    EXPECT_EQ(get("a", "/stored").body, "package");
    reload(R"([{"name": "cooldown", "min_age": "7d"}])");
    EXPECT_EQ(get("a", "/stored").status, 403u) << "a hit";
    EXPECT_THAT(get("a", "/miss").body, HasSubstr("The rule cooldown of this proxy refuses"));
    EXPECT_EQ(get("a", "/range", "Range: bytes=0-1\r\n").status, 403u);
    EXPECT_EQ(get("a", "/relay", "Range: bytes=0-1,3-4\r\n").status, 403u);
    EXPECT_EQ(get("a", "/relay", "Cache-Control: no-store\r\n").status, 403u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::too_young], 5u);
    old = true;
    EXPECT_EQ(get("a", "/old").body, "package");
    EXPECT_EQ(client().ask("POST", "/old", "", "x").status, 200u);
}

TEST_F(Rules, NoMethodPassesAnAge) {
    const auto scripted = origin.set([&](Exchange& e) {
        const auto is_old = e.target == "/old";
        e.answer(fresh(is_old ? "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\n"
                              : "Last-Modified: Fri, 20 Nov 2099 00:00:00 GMT\r\n"),
                 "package", e.target == "/made" ? "201 Created" : "200 OK");
    });
    run(R"([{"name": "cooldown", "match": {"paths": ["/old", "/new", "/made"]}, "min_age": "7d"}])");
    for (const auto* method : {"GET", "POST", "PATCH", "get", "FOO", "OPTIONS"}) {
        EXPECT_EQ(client().ask(method, "/new", "", "").status, 403u) << method;
        EXPECT_EQ(client().ask(method, "/old", "", "").status, 200u) << method;
    }
    for (const auto* method : {"PUT", "DELETE"})
        EXPECT_EQ(client().ask(method, "/new", "", "").status, 200u) << method << ": no content";
    EXPECT_EQ(client().ask("POST", "/made", "", "").status, 201u);
    EXPECT_EQ(client().ask("POST", "/elsewhere", "", "").status, 200u);
}

TEST_F(Rules, ARefusedPostHasStillChangedItsTarget) {
    std::atomic<int> answers{0};
    const auto scripted = origin.set([&](Exchange& e) {
        const auto is_post = e.head.starts_with("POST");
        e.answer(fresh(is_post ? "" : "Last-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\n"),
                 "package " + std::to_string(++answers));
    });
    run(R"([{"name": "cooldown", "min_age": "7d"}])");
    EXPECT_EQ(get("a", "/one").body, "package 1");
    EXPECT_EQ(client().ask("POST", "/one", "", "x").status, 403u) << "its age is unknown";
    EXPECT_EQ(get("a", "/one").body, "package 3");
}

TEST_F(Rules, NoSpellingOfAPathStoresAPrivatePage) {
    const auto scripted =
        origin.set([&](Exchange& e) { e.answer(fresh(), "page of " + e.field("X-User")); });
    run(R"([{"name": "private", "match": {"paths": ["/account/*"]}, "bypass": true},
            {"name": "rest", "at_least": "1h"}])");
    for (const auto* path : {"/account/profile", "/account%2Fprofile", "/account;x/profile",
                             "/account\\profile", "/account%252fprofile", "/.;/account/profile",
                             "//account//profile", "/x/..%2faccount/profile"}) {
        EXPECT_EQ(get("a", path, "X-User: alice\r\n").body, "page of alice") << path;
        EXPECT_EQ(get("a", path, "X-User: bob\r\n").body, "page of bob") << path;
    }
    EXPECT_EQ(get("a", "/public%20page", "X-User: alice\r\n").body, "page of alice");
    EXPECT_EQ(get("a", "/public%20page", "X-User: bob\r\n").body, "page of alice");
}

constexpr auto kTagged = "ETag: \"1\"\r\n";
constexpr auto kUrlOfOne = "http%3A%2F%2Forigin.test%2Fone";

TEST_F(Rules, ContentWithoutLastModifiedAgesFromItsFirstSight) {
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(kTagged), "package"); });
    run(R"([{"name": "cooldown", "min_age": "1s"}])");
    const auto first = get("a", "/one");
    EXPECT_EQ(first.status, 403u);
    EXPECT_THAT(first.body, HasSubstr("The proxy first saw it at "));
    EXPECT_TRUE(eventually([&] { return get("a", "/one").body == "package"; }));
    EXPECT_EQ(explained(kUrlOfOne).at("min_age"), "passes");
    EXPECT_TRUE(explained(kUrlOfOne).contains("first_seen"));
    reload(R"([{"name": "cooldown", "min_age": "7d"}])");
    EXPECT_EQ(get("a", "/one").status, 403u);
    EXPECT_THAT(explained(kUrlOfOne).at("min_age").get<std::string>(), HasSubstr("it passes at "));
    EXPECT_EQ(origin.heads().size(), 1u);
}

TEST_F(Rules, ContentWithoutAnyIdentityStaysRefused) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "cooldown", "min_age": "1s"}])");
    EXPECT_THAT(get("a", "/one").body, HasSubstr("neither Last-Modified nor one ETag"));
}

TEST_F(Rules, APeerTellsWhenTheClusterFirstSawTheContent) {
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(kTagged), "package"); });
    const auto* const rule = R"([{"name": "cooldown", "min_age": "7d"}])";
    start(ruled(rule, "a", 2));
    start(ruled(rule, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    const auto first = get("a", "/one");
    EXPECT_EQ(first.status, 403u);
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    const auto begun = std::chrono::system_clock::now();
    ASSERT_TRUE(eventually([&] { return std::chrono::system_clock::now() - begun > 1100ms; }));
    const auto second = get("b", "/one", "X-First: 1\r\n");
    EXPECT_EQ(second.body, first.body) << "with the time of the other node";
    EXPECT_EQ(origin.heads().size(), 1u);
}

TEST_F(Rules, AFirstSightSurvivesARestartWithADisk) {
    const TemporaryDirectory directory;
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer("Cache-Control: no-store\r\nETag: \"1\"\r\n", "package"); });
    auto settings = ruled(R"([{"name": "cooldown", "min_age": "7d"}])");
    settings.cache.disk = {{directory.path().string(), 256ull << 20}};
    start(settings);
    const auto first = get("a", "/one");
    EXPECT_EQ(first.status, 403u);
    kill("a");
    const auto begun = std::chrono::system_clock::now();
    ASSERT_TRUE(eventually([&] { return std::chrono::system_clock::now() - begun > 1100ms; }));
    start(settings);
    EXPECT_EQ(get("a", "/one").body, first.body);
}

TEST_F(Rules, AReloadOfKeyRulesMakesNewLinks) {
    const auto scripted = numbered(fresh());
    start(ruled("[]", "a", 2), file_);
    start(ruled("[]", "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    auto settings = json::parse(
        effective_config(ruled(R"([{"name": "signed", "query": {"drop": ["sig"]}}])", "a", 2)));
    settings["cluster"]["keys"] = config("a", 2).cluster->keys;
    std::ofstream(file_, std::ios::trunc) << settings;
    ASSERT_EQ(admin_client("a").ask("POST", "/api/v1/reload", "", "").status, 200u);
    ASSERT_TRUE(eventually([&] {
        return status("a").cluster.link_refusals.count("rules_differ") > 0 ||
               status("b").cluster.link_refusals.count("rules_differ") > 0;
    }));
    EXPECT_FALSE(in_sync("a") && in_sync("b"));
}

TEST_F(Rules, OnlyAPeerWithTheSameRuleGetsWhatTheRuleShares) {
    const auto scripted = numbered("Cache-Control: private, max-age=600\r\n");
    const auto* sharing = R"([{"name": "ours", "ignore": ["private"]}])";
    start(ruled(sharing, "a", 2));
    start(ruled("[]", "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/one").body, "response 1");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/one").body, "response 2");
    EXPECT_EQ(seen("a", "b").served, 0u);
    kill("b");
    ASSERT_TRUE(eventually([&] { return !in_sync("a"); })) << "that of the former b";
    start(ruled(sharing, "b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    // The worker thread of a learns the new token a moment after the link is up.
    ASSERT_TRUE(eventually([&] {
        const auto url = "/api/v1/explain?url=http%3A%2F%2Forigin.test%2Fone";
        return contains(admin("b", url).body, "\"has\": \"has\"");
    }));
    EXPECT_EQ(get("b", "/one").body, "response 1");
}

TEST_F(Rules, AnIgnoredCookieIsNotStoredEvenIfTheCacheStoresCookies) {
    const auto scripted = numbered(fresh("Set-Cookie: user=1\r\n"));
    auto settings = ruled(R"([{"name": "static", "ignore": ["set-cookie"]}])");
    settings.cache.rules.store_set_cookie = true;
    start(settings);
    EXPECT_EQ(get("a", "/one").field("Set-Cookie"), "user=1");
    EXPECT_EQ(get("a", "/one").field("Set-Cookie"), "");
}

TEST_F(Rules, ContentBehindASignatureGoesWithTheRuleThatLeftItOut) {
    const auto scripted = numbered(fresh());
    run(R"([{"name": "signed", "query": {"drop": ["sig"]}}])");
    EXPECT_EQ(get("a", "/one?sig=1").body, "response 1");
    EXPECT_EQ(get("a", "/one").body, "response 1");
    reload("[]");
    EXPECT_EQ(get("a", "/one").body, "response 2");
}

}  // namespace rules_test
}  // namespace proxy::test
