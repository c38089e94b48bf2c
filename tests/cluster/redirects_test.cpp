// Redirects that a rule lets the node follow (follow_redirects).
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "proxy/config/parse_config.hpp"
#include "proxy/http/redirects.hpp"
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace redirects_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kFollow = R"([{"name": "blobs", "match": {"hosts": ["origin.test"]},
                              "follow_redirects": true, "fresh_for": "1h"},
                             {"name": "cdn", "match": {"hosts": ["cdn.test"]},
                              "query": {"drop": ["sig"]}}])";
/// Without a lifetime of its own.
constexpr auto kJudge = R"([{"name": "blobs", "match": {"hosts": ["origin.test"]},
                             "follow_redirects": true},
                            {"name": "cdn", "match": {"hosts": ["cdn.test"]},
                             "query": {"drop": ["sig"]}}])";
constexpr auto kFound = "302 Found";

/// A node in front of an origin that redirects, and of the host that it redirects to.
class FollowedRedirects : public NodesTest {
protected:
    FollowedRedirects() : cdn([](Exchange& e) { e.answer("", "unset", "500 Unset"); }) {}

    Config ruled(const std::string& list, const std::string& node = "a", unsigned nodes = 1) const {
        auto read = parse_config(
            R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": )" +
            list + "}");
        EXPECT_TRUE(read.config) << describe(read.errors);
        auto settings = nodes == 1 ? config(node) : config(node, nodes);
        if (read.config) settings.rules = read.config->rules;
        settings.origins.insert(settings.origins.begin(),
                                OriginConfig{"cdn.test", {"127.0.0.1", cdn.port()}});
        return settings;
    }
    void run(const std::string& list) { start(ruled(list)); }
    /// The origin sends each request to a new signature of the same path.
    auto signing(std::string fields = {}) {
        return origin.set([this, fields = std::move(fields)](Exchange& e) {
            e.answer("Location: http://cdn.test/real" + e.target +
                         "?sig=" + std::to_string(++signatures) + "\r\n" + fields,
                     "this way", kFound);
        });
    }
    auto content(std::string fields) {
        return cdn.set([this, fields = std::move(fields)](Exchange& e) {
            e.answer(fields, "content " + std::to_string(++contents));
        });
    }
    bool is_hit(std::string_view target, std::string_view fields = {}) const {
        return contains(get("a", target, fields).cache_status(), "; hit");
    }

    ScriptedOrigin cdn;
    std::atomic<int> signatures{0}, contents{0};
};

TEST_F(FollowedRedirects, GiveTheFinalResponseUnderTheFirstUrl) {
    const auto first = signing("X-Hop: 1\r\n");
    const auto second = content("ETag: \"1\"\r\nContent-Location: /elsewhere\r\n");
    run(kFollow);
    const auto answer = get("a", "/blob");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(answer.body, "content 1");
    EXPECT_EQ(answer.field("Location"), "");
    EXPECT_EQ(answer.field("Content-Location"), "");
    EXPECT_EQ(answer.field("X-Hop"), "");
    EXPECT_THAT(answer.head, Not(HasSubstr("sig"))) << "no trace of a signature";
    EXPECT_TRUE(is_hit("/blob"));
    EXPECT_EQ(get("a", "/blob").body, "content 1");
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(cdn.requests(), 1u);
    EXPECT_THAT(cdn.heads().at(0), HasSubstr("GET /real/blob?sig=1 HTTP/1.1\r\nHost: cdn.test"));
}

TEST_F(FollowedRedirects, AreRefusedWhereTheTargetIsTooYoungForItsRule) {
    const auto first = signing();
    const auto second = content("Last-Modified: Fri, 20 Nov 2099 00:00:00 GMT\r\n");
    start(ruled(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]},
                     "follow_redirects": true, "fresh_for": "1h"},
                    {"name": "cdn", "match": {"hosts": ["cdn.test"]}, "min_age": "7d"}])"));
    for (int i = 0; i < 2; ++i) {
        const auto answer = get("a", "/blob");
        EXPECT_EQ(answer.status, 403u) << i;
        EXPECT_THAT(answer.body, HasSubstr("younger than 7 days"));
    }
    EXPECT_EQ(cdn.requests(), 1u) << "the stored response is judged alike";
}

TEST_F(FollowedRedirects, TakeNoCredentialToAnotherHost) {
    const auto first = signing();
    const auto second = content("");
    run(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true,
             "request_fields": {"set": {"Authorization": "Bearer secret", "User-Agent": "secret"},
                                "add": {"X-Token": "secret"}}}])");
    EXPECT_EQ(get("a", "/blob",
                  "Cookie: user=1\r\nX-Api-Key: 2\r\nProxy-Authorization: Basic 3\r\n"
                  "X-Forwarded-For: 10.9.8.7\r\nAccept-Language: de\r\n")
                  .body,
              "content 1");
    EXPECT_THAT(origin.heads().at(0), HasSubstr("Bearer secret"));
    EXPECT_THAT(origin.heads().at(0), HasSubstr("Cookie: user=1"));
    const auto head = cdn.heads().at(0);
    for (const auto* left_out :
         {"secret", "Cookie", "Api-Key", "Authorization", "10.9.8.7", "origin.test", "Forwarded"})
        EXPECT_THAT(head, Not(HasSubstr(left_out)));
    EXPECT_THAT(head, HasSubstr("Accept-Language: de"));
}

TEST_F(FollowedRedirects, KeepTheCredentialsOnTheSameHost) {
    const auto scripted = origin.set([](Exchange& e) {
        if (e.target == "/old") return e.answer("Location: new\r\n", "", "307 Temporary Redirect");
        e.answer(fresh(), e.target + e.field("Authorization"));
    });
    run(kFollow);
    EXPECT_EQ(get("a", "/old", "Authorization: Bearer 1\r\n").body, "/newBearer 1");
    EXPECT_EQ(get("a", "/old", "Authorization: Bearer 2\r\n").body, "/newBearer 2");
}

TEST_F(FollowedRedirects, GoToNamedHostsAlone) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer("Location: http://unnamed.test/x\r\nCache-Control: max-age=60\r\n", "", kFound);
    });
    run(kFollow);
    for (int i = 0; i < 2; ++i) {
        const auto answer = get("a", "/blob");
        EXPECT_EQ(answer.status, 302u);
        EXPECT_EQ(answer.field("Location"), "http://unnamed.test/x");
        EXPECT_THAT(answer.cache_status(), HasSubstr("detail=redirect_host"));
    }
    EXPECT_EQ(origin.requests(), 2u) << "a redirect that is left to the client is not stored";
}

TEST_F(FollowedRedirects, DoNotBringWhatTheTargetsRuleKeepsOutOfTheStore) {
    const auto redirecting = signing("Cache-Control: max-age=60\r\n");
    const auto real = content(fresh("ETag: \"1\"\r\n"));
    for (const std::string member : {R"("bypass": true)", R"("authorize": "origin")"}) {
        SCOPED_TRACE(member);
        run(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true},
                {"name": "cdn", "match": {"hosts": ["cdn.test"]}, )" +
            member + "}]");
        const auto answer = get("a", "/blob");
        EXPECT_EQ(answer.status, 302u);
        EXPECT_THAT(answer.cache_status(), HasSubstr("detail=redirect_host"));
        EXPECT_FALSE(is_hit("/blob"));
        kill("a");
    }
    EXPECT_EQ(contents, 0);
}

TEST_F(FollowedRedirects, ReachNoPrivateAddressOnTheWordOfAnOrigin) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer("Location: http://127.0.0.1:" + std::to_string(cdn.port()) + "/x\r\n", "", kFound);
    });
    run(R"([{"name": "all", "match": {"hosts": ["origin.test", "127.*"]},
             "follow_redirects": true}])");
    const auto answer = get("a", "/blob");
    EXPECT_EQ(answer.status, 302u) << "the client may try for itself";
    EXPECT_EQ(cdn.requests(), 0u);
}

TEST_F(FollowedRedirects, EndInALoopWithTheLastRedirect) {
    const auto scripted = origin.set([](Exchange& e) {
        const auto to = e.target == "/a" ? "b" : "a";
        e.answer(std::string("Location: ") + to + "#part\r\n", "", kFound);
    });
    run(kFollow);
    const auto answer = get("a", "/a");
    EXPECT_EQ(answer.status, 302u);
    EXPECT_EQ(answer.field("Location"), "http://origin.test/a#part") << "as seen from /a/b";
    EXPECT_THAT(answer.cache_status(), HasSubstr("detail=redirect_loop"));
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(FollowedRedirects, EndAfterFive) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer("Location: " + e.target + "x\r\n", "more", "301 Moved Permanently");
    });
    run(kFollow);
    const auto answer = get("a", "/");
    EXPECT_EQ(answer.status, 301u);
    EXPECT_EQ(answer.field("Location"), "http://origin.test/xxxxxx");
    EXPECT_THAT(answer.cache_status(), HasSubstr("detail=redirect_loop"));
    EXPECT_EQ(origin.requests(), 6u);
}

TEST_F(FollowedRedirects, ATargetOutOfReachLeavesTheRedirectToTheClient) {
    const auto first = signing();
    const auto second = content("");
    run(kFollow);
    cdn.die();
    const auto answer = get("a", "/blob");
    EXPECT_EQ(answer.status, 302u);
    EXPECT_EQ(answer.field("Location"), "http://cdn.test/real/blob?sig=1");
    EXPECT_EQ(answer.body, "this way");
    EXPECT_EQ(status("a").work.verdicts[StorageVerdict::redirect_failed], 1u);
    EXPECT_EQ(get("a", "/blob").field("Location"), "http://cdn.test/real/blob?sig=2")
        << "no client gets the signature of another";
}

TEST_F(FollowedRedirects, AStoredResponseStandsInForATargetOutOfReach) {
    const auto first = signing();
    const auto second = content("");
    run(R"([{"name": "blobs", "follow_redirects": true, "fresh_for": {"200": "0s"},
             "stale_if_error": "1h"}])");
    EXPECT_EQ(get("a", "/blob").body, "content 1");
    cdn.die();
    EXPECT_EQ(get("a", "/blob").body, "content 1");
}

TEST_F(FollowedRedirects, OnlyAGetIsFollowed) {
    const auto first = signing();
    const auto second = content("");
    run(kFollow);
    EXPECT_EQ(client().ask("POST", "/blob", "", "x").status, 302u);
    EXPECT_EQ(client().ask("GET", "/blob", "Cache-Control: no-store\r\n").status, 302u);
    EXPECT_EQ(cdn.requests(), 0u);
}

TEST_F(FollowedRedirects, ARedirectWithACookieIsOfASession) {
    const auto first = signing("Set-Cookie: session=1\r\n");
    const auto second = content("Set-Cookie: cdn=1\r\n");
    run(kFollow);
    EXPECT_EQ(get("a", "/blob").field("Set-Cookie"), "session=1");
    EXPECT_EQ(cdn.requests(), 0u);
}

TEST_F(FollowedRedirects, CookiesThatARuleIgnoresGoToNobody) {
    const auto first = signing("Set-Cookie: session=1\r\n");
    const auto second = content("Set-Cookie: cdn=1\r\n");
    run(R"([{"name": "blobs", "follow_redirects": true, "fresh_for": "1h",
             "match": {"hosts": ["origin.test"]}, "ignore": ["set-cookie"]}])");
    const auto answer = get("a", "/blob");
    EXPECT_EQ(answer.body, "content 1");
    EXPECT_EQ(answer.field("Set-Cookie"), "");
    EXPECT_TRUE(is_hit("/blob"));
}

TEST_F(FollowedRedirects, ACookieOfAnotherHostKeepsTheResponseOutOfTheStore) {
    const auto first = signing();
    const auto second = content("Set-Cookie: cdn=1\r\n");
    run(kFollow);
    EXPECT_EQ(get("a", "/blob").field("Set-Cookie"), "");
    EXPECT_FALSE(is_hit("/blob"));
}

TEST_F(FollowedRedirects, LiveNoLongerThanTheRedirectsPermit) {
    std::string redirect = "Cache-Control: max-age=60\r\n";
    std::string final = "Cache-Control: public, max-age=600\r\nETag: \"1\"\r\n";
    const auto first = origin.set(
        [&](Exchange& e) { e.answer("Location: http://cdn.test/x\r\n" + redirect, "", kFound); });
    const auto second = cdn.set([&](Exchange& e) { e.answer(final, "content"); });
    run(kJudge);
    EXPECT_EQ(get("a", "/1").field("Cache-Control"), "max-age=60");
    EXPECT_TRUE(is_hit("/1"));
    redirect = "Cache-Control: public, s-maxage=10, max-age=5, must-revalidate\r\n";
    EXPECT_EQ(get("a", "/2").field("Cache-Control"),
              "public, max-age=5, proxy-revalidate, must-revalidate");
    redirect = "";
    EXPECT_EQ(get("a", "/3").field("Cache-Control"), "max-age=0");
    EXPECT_FALSE(is_hit("/3"));
    redirect = "Cache-Control: no-store\r\n";
    EXPECT_THAT(get("a", "/4").field("Cache-Control"), HasSubstr("no-store"));
    EXPECT_FALSE(is_hit("/4"));
    redirect = "Cache-Control: private, max-age=60\r\n";
    EXPECT_EQ(get("a", "/5").body, "content");
    EXPECT_FALSE(is_hit("/5"));
    redirect = fresh("Vary: Accept-Language\r\n");
    EXPECT_EQ(get("a", "/6", "Accept-Language: de\r\n").body, "content");
    EXPECT_TRUE(is_hit("/6", "Accept-Language: de\r\n"));
    EXPECT_FALSE(is_hit("/6", "Accept-Language: fr\r\n"));
    redirect = "Cache-Control: max-age=60\r\n";
    EXPECT_EQ(get("a", "/7", "Authorization: Bearer 1\r\n").body, "content");
    EXPECT_FALSE(is_hit("/7")) << "the redirect permits no sharing";
}

TEST_F(FollowedRedirects, OfAUserMayBePersonal) {
    const auto first = signing();
    const auto second = content(fresh("ETag: \"1\"\r\n"));
    run(kJudge);
    EXPECT_EQ(get("a", "/blob", "Cookie: user=1\r\n").body, "content 1");
    EXPECT_EQ(get("a", "/blob", "Cookie: user=2\r\n").body, "content 2");
}

TEST_F(FollowedRedirects, AValidatorGoesToTheUrlThatGaveIt) {
    std::string path = "/one";
    const auto first = origin.set([&](Exchange& e) {
        if (path.empty()) return e.answer("ETag: \"1\"\r\n", "own content");
        e.answer(
            "Location: http://cdn.test" + path + "?sig=" + std::to_string(++signatures) + "\r\n",
            "", kFound);
    });
    const auto second = cdn.set([&](Exchange& e) {
        const auto fields = std::string("ETag: \"1\"\r\n");
        if (e.field("If-None-Match") == "\"1\"") return e.answer(fields, "", "304 Not Modified");
        e.answer(fields, e.target.substr(0, 4));
    });
    run(kJudge);
    EXPECT_EQ(get("a", "/latest").body, "/one");
    const auto again = get("a", "/latest");
    EXPECT_EQ(again.body, "/one");
    EXPECT_THAT(cdn.heads().at(1), HasSubstr("If-None-Match: \"1\""));
    EXPECT_THAT(origin.heads().at(1), Not(HasSubstr("If-None-Match")));
    path = "/two";
    EXPECT_EQ(get("a", "/latest").body, "/two") << "its tag is the same, its content is another";
    path = "";
    EXPECT_EQ(get("a", "/latest").body, "own content");
    EXPECT_EQ(get("a", "/latest").body, "own content");
    path = "/one";
    EXPECT_EQ(get("a", "/latest").body, "/one");
}

TEST_F(FollowedRedirects, TheOriginAuthorizesEachClientByItsRedirect) {
    const auto first = origin.set([&](Exchange& e) {
        const auto who = e.field("Authorization");
        if (who.empty()) return e.answer("", "no", "401 Unauthorized");
        const auto path = who == "Bearer other" ? "/other" : "/blob";
        e.answer("Location: http://cdn.test" + std::string(path) +
                     "?sig=" + std::to_string(++signatures) + "\r\n",
                 "", "307 Temporary Redirect");
    });
    const auto second = cdn.set([&](Exchange& e) {
        if (e.field("If-None-Match") == "\"1\"")
            return e.answer("ETag: \"1\"\r\n", "", "304 Not Modified");
        e.answer("ETag: \"1\"\r\n", e.target.substr(0, 5) + std::to_string(++contents));
    });
    run(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true,
             "authorize": "origin"},
            {"name": "cdn", "match": {"hosts": ["cdn.test"]}, "query": {"drop": ["sig"]}}])");
    EXPECT_EQ(get("a", "/v2/x", "Authorization: Bearer 1\r\n").body, "/blob1");
    EXPECT_EQ(get("a", "/v2/x", "Authorization: Bearer 2\r\n").body, "/blob1");
    EXPECT_THAT(cdn.heads().at(1), HasSubstr("If-None-Match: \"1\""));
    EXPECT_EQ(get("a", "/v2/x").status, 401u);
    EXPECT_EQ(get("a", "/v2/x", "Authorization: Bearer other\r\n").body, "/othe2")
        << "an equal tag of another URL confirms nothing";
    EXPECT_EQ(get("a", "/v2/x", "Authorization: Bearer 1\r\n").body, "/blob3");
    EXPECT_EQ(contents, 3);
}

TEST_F(FollowedRedirects, TheOtherHostJudgesEachSignature) {
    const auto first = origin.set([&](Exchange& e) {
        e.answer(
            "Location: http://cdn.test/blob?sig=" + e.field("Authorization").substr(7) + "\r\n", "",
            "307 Temporary Redirect");
    });
    const auto second = cdn.set([&](Exchange& e) {
        if (contains(e.target, "sig=bad"))
            return e.answer("Cache-Control: max-age=600\r\n", "no", "403 Forbidden");
        if (e.field("If-None-Match") == "\"1\"")
            return e.answer("ETag: \"1\"\r\n", "", "304 Not Modified");
        e.answer("ETag: \"1\"\r\n", "content " + std::to_string(++contents));
    });
    run(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true,
             "authorize": "origin"},
            {"name": "cdn", "match": {"hosts": ["cdn.test"]}, "query": {"drop": ["sig"]}}])");
    const auto as = [&](const char* who) {
        return get("a", "/blob", std::string("Authorization: Bearer ") + who + "\r\n");
    };
    EXPECT_EQ(as("good").body, "content 1");
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(as("bad").status, 403u);
        EXPECT_EQ(as("good").body, "content 1") << "the refusal of another ends nothing";
    }
    EXPECT_EQ(contents, 1);
}

TEST_F(FollowedRedirects, AForgedSourceSendsNoValidatorElsewhere) {
    std::atomic<bool> moved{false};
    const auto forged = source_text("http://cdn.test/other");
    const auto first = origin.set([&](Exchange& e) {
        if (moved) return e.answer("Location: http://cdn.test/blob\r\n", "", kFound);
        e.answer("Hearsay-Source: " + forged + "\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\n",
                 "own");
    });
    const auto second = cdn.set([&](Exchange& e) {
        if (!e.field("If-None-Match").empty()) return e.answer("", "", "304 Not Modified");
        e.answer("ETag: \"1\"\r\nHearsay-Source: " + forged + "\r\n", "content");
    });
    run(kJudge);
    EXPECT_EQ(get("a", "/blob").body, "own");
    moved = true;
    const auto answer = get("a", "/blob");
    EXPECT_EQ(answer.body, "content");
    EXPECT_EQ(answer.field("Hearsay-Source"), source_text("http://cdn.test/blob"));
}

TEST_F(FollowedRedirects, AHeadLeavesTheResultAlone) {
    const auto first = signing();
    const auto second = content("ETag: \"1\"\r\n");
    run(kFollow);
    EXPECT_EQ(client().ask("HEAD", "/blob").status, 302u) << "nothing is stored yet";
    EXPECT_EQ(get("a", "/blob").body, "content 1");
    EXPECT_EQ(client().ask("HEAD", "/blob").status, 200u);
    EXPECT_EQ(client().ask("HEAD", "/blob", "Cache-Control: no-cache\r\n").status, 302u);
    EXPECT_TRUE(is_hit("/blob"));
}

TEST_F(FollowedRedirects, AHeadFollowsThemWhereARuleLetsItFillTheStore) {
    const auto first = signing();
    const auto second = content("ETag: \"1\"\r\n");
    run(R"([{"name": "blobs", "match": {"hosts": ["origin.test"]}, "follow_redirects": true,
             "fresh_for": "1h", "fetch_for_head": true},
            {"name": "cdn", "match": {"hosts": ["cdn.test"]}, "query": {"drop": ["sig"]}}])");
    const auto head = client().ask("HEAD", "/blob");
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.field("ETag"), "\"1\"");
    EXPECT_TRUE(is_hit("/blob"));
}

TEST_F(FollowedRedirects, BlocksOfALargeBodyComeByThem) {
    const File file{bytes(10 * kBlock + 100)};
    const auto first = signing();
    const auto second = cdn.set([&](Exchange& e) { file.answer(e); });
    auto settings = ruled(kFollow);
    settings.cache.block = kBlock;
    settings.cache.slice_from = 4 * kBlock;
    start(settings);
    const auto part = get("a", "/file", "Range: bytes=5000-5099\r\n");
    EXPECT_EQ(part.status, 206u);
    EXPECT_EQ(part.body, file.content.substr(5000, 100));
    EXPECT_EQ(get("a", "/file").body, file.content);
    EXPECT_TRUE(is_hit("/file"));
    const auto asked = cdn.requests();
    EXPECT_EQ(get("a", "/file", "Range: bytes=20000-20099\r\n").body,
              file.content.substr(20000, 100));
    EXPECT_EQ(cdn.requests(), asked);
}

TEST_F(FollowedRedirects, BlocksOfTwoUrlsDoNotMix) {
    const File one{bytes(10 * kBlock, 1)}, two{bytes(10 * kBlock, 2)};
    std::atomic<bool> moved{false};
    const auto first = origin.set([&](Exchange& e) {
        e.answer(std::string("Location: http://cdn.test/") + (moved ? "two" : "one") + "\r\n", "",
                 kFound);
    });
    const auto second = cdn.set([&](Exchange& e) { (e.target == "/one" ? one : two).answer(e); });
    auto settings = ruled(kFollow);
    settings.cache.block = kBlock;
    settings.cache.slice_from = 4 * kBlock;
    start(settings);
    EXPECT_EQ(get("a", "/file", "Range: bytes=0-99\r\n").body, one.content.substr(0, 100));
    moved = true;  // with the same tag and the same length
    EXPECT_EQ(get("a", "/file", "Range: bytes=30000-30099\r\n").body,
              two.content.substr(30000, 100));
    EXPECT_EQ(get("a", "/file").body, two.content);
}

TEST_F(FollowedRedirects, APeerSharesTheResult) {
    const auto first = signing();
    const auto second = cdn.set([&](Exchange& e) {
        const auto fields = std::string("ETag: \"1\"\r\n");
        if (e.field("If-None-Match") == "\"1\"") return e.answer(fields, "", "304 Not Modified");
        e.answer(fields, "content " + std::to_string(++contents));
    });
    for (const auto* node : {"a", "b"}) {
        auto settings = ruled(kFollow, node, 2);
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    EXPECT_EQ(get("a", "/blob").body, "content 1");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    EXPECT_EQ(get("b", "/blob").body, "content 1");
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(get("b", "/blob", "Cache-Control: no-cache\r\n").body, "content 1");
    EXPECT_THAT(cdn.heads().back(), HasSubstr("If-None-Match: \"1\""))
        << "the source travels with the copy";
}

}  // namespace redirects_test
}  // namespace proxy::test
