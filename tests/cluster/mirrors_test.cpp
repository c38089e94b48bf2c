// Mirror names: origins with a URL of their own at the node (`origins[].public`).
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/config/config_json.hpp"
#include "proxy/config/config_origins.hpp"
#include "proxy/rewrite/gzip_stream.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace mirrors_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kHtml = "Content-Type: text/html\r\n";
constexpr auto kFile = "Content-Type: application/zip\r\n";

std::string gzipped(std::string_view text) {
    std::string out;
    EXPECT_TRUE(GzipEncoder().encode(text, true, out));
    return out;
}

std::string gunzipped(std::string_view coded) {
    std::string out;
    EXPECT_TRUE(GzipDecoder().decode(coded, 64 << 20, out));
    return out;
}

/// A node with two mirrored origins, http://mirror.test/pypi and http://mirror.test/files.
class Mirrors : public NodesTest {
protected:
    Mirrors() : files([](Exchange& e) { e.answer("", "unset", "500 Unset"); }) {}

    OriginConfig mirrored(std::string_view path, std::uint16_t port) const {
        OriginConfig entry{"127.0.0.1", {"127.0.0.1", port}};
        entry.mirror.emplace();
        entry.mirror->url = {Scheme::http, "mirror.test", std::string(path)};
        entry.mirror->links = true;
        return entry;
    }
    Config settings(const std::string& node = "a", unsigned nodes = 1) const {
        auto made = nodes == 1 ? config(node) : config(node, nodes);
        made.origins = {mirrored("/pypi", origin.port()), mirrored("/files", files.port())};
        return made;
    }
    void start_two() {
        start(settings("a", 2));
        start(settings("b", 2));
        EXPECT_TRUE(eventually([this] { return in_sync("a") && in_sync("b"); }));
    }
    Answer ask(std::string_view method, std::string_view target, std::string_view fields = {},
               const std::string& node = "a") const {
        auto from = client(node);
        from.host = "mirror.test";
        return from.ask(method, target, fields);
    }
    Answer get(std::string_view target, std::string_view fields = {},
               const std::string& node = "a") const {
        return ask("GET", target, fields, node);
    }
    std::string at_origin(std::string_view path) const { return url(path); }
    std::string at_files(std::string_view path) const {
        return "http://127.0.0.1:" + std::to_string(files.port()) + std::string(path);
    }
    /// A page with an absolute link to each origin and a path from the root.
    std::string page() const {
        return "<a href=\"" + at_origin("/x") + "\"><a href=\"" + at_files("/y") +
               "\"><a href=\"/simple/z/\">";
    }
    static std::string mirrored_page() {
        return "<a href=\"http://mirror.test/pypi/x\"><a href=\"http://mirror.test/files/y\"><a "
               "href=\"/pypi/simple/z/\">";
    }
    auto serve_page(std::string fields = fresh("ETag: \"1\"\r\n")) {
        return origin.set([this, fields = std::move(fields)](Exchange& e) {
            if (e.field("If-None-Match") == "\"1\"")
                return e.answer("ETag: \"1\"\r\nCache-Control: max-age=1000\r\n", "",
                                "304 Not Modified");
            e.answer(kHtml + fields, page());
        });
    }
    static bool is_hit(const Answer& answer) { return contains(answer.cache_status(), "; hit"); }

    ScriptedOrigin files;
};

TEST_F(Mirrors, LeadToTheOriginUnderItsOwnName) {
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(kFile), e.target); });
    start(settings());
    EXPECT_EQ(get("/pypi/simple/x/?y=/pypi", "X-Forwarded-Host: evil\r\n").body,
              "/simple/x/?y=/pypi");
    EXPECT_EQ(get("/pypi").body, "/");
    EXPECT_EQ(get("/pypi/../x").status, 404u);
    EXPECT_EQ(get("/other").status, 404u);
    const auto head = origin.heads().at(0);
    EXPECT_THAT(head, HasSubstr("\r\nHost: 127.0.0.1:" + std::to_string(origin.port()) + "\r\n"));
    EXPECT_THAT(head, Not(HasSubstr("mirror.test")));
    EXPECT_THAT(head, Not(HasSubstr("evil")));
}

TEST_F(Mirrors, RewriteLinksOnceForFetchAndHit) {
    const auto scripted = serve_page();
    start(settings());
    const auto first = get("/pypi/simple/"), second = get("/pypi/simple/");
    EXPECT_EQ(first.body, mirrored_page());
    EXPECT_EQ(second.body, mirrored_page());
    EXPECT_TRUE(is_hit(second));
    EXPECT_EQ(second.field("Content-Length"), std::to_string(mirrored_page().size()));
    EXPECT_EQ(first.field("ETag"), second.field("ETag"));
    EXPECT_THAT(first.field("ETag"), testing::MatchesRegex("\"1-r[0-9a-f]+\""));
    EXPECT_EQ(get("/pypi/simple/", "Range: bytes=0-8\r\n").body, "<a href=\"");
    EXPECT_EQ(get("/pypi/simple/", "If-None-Match: " + first.field("ETag") + "\r\n").status, 304u);
    EXPECT_EQ(get("/pypi/simple/", "If-None-Match: \"1\"\r\n").status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(status("a").work.responses_rewritten, 1u);
}

TEST_F(Mirrors, GivePeersTheRewrittenBody) {
    const auto scripted = serve_page();
    start_two();
    EXPECT_EQ(get("/pypi/simple/").body, mirrored_page());
    EXPECT_TRUE(eventually([this] { return announced("a", 1); }));
    EXPECT_EQ(get("/pypi/simple/", {}, "b").body, mirrored_page());
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Mirrors, DoNotLinkWithNodesThatRewriteOtherwise) {
    start(settings("a", 2));
    auto other = settings("b", 2);
    other.origins.front().mirror->links = false;
    start(other);
    EXPECT_TRUE(
        eventually([this] { return contains(admin("a", "/api/v1/status").body, "rules_differ"); }));
}

TEST_F(Mirrors, ValidateByTheTagOfTheOrigin) {
    const auto scripted = serve_page("Cache-Control: max-age=0\r\nETag: \"1\"\r\n");
    start(settings());
    const auto first = get("/pypi/simple/");
    const auto second = get("/pypi/simple/");
    EXPECT_EQ(second.body, mirrored_page());
    EXPECT_EQ(first.field("ETag"), second.field("ETag"));
    EXPECT_THAT(origin.heads().at(1), HasSubstr("If-None-Match: \"1\"\r\n"));
    EXPECT_TRUE(is_hit(get("/pypi/simple/"))) << "the 304 has made it fresh";
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Mirrors, RewriteWhatIsNotStored) {
    const auto scripted = serve_page("Cache-Control: no-store\r\nETag: \"1\"\r\n");
    start(settings());
    for (const auto* fields : {"", "Authorization: Basic eDp5\r\n", "Cache-Control: no-store\r\n"})
        EXPECT_EQ(get("/pypi/simple/", fields).body, mirrored_page()) << fields;
    EXPECT_THAT(origin.heads().at(1), HasSubstr("Authorization: Basic eDp5"));
    const auto tag = get("/pypi/simple/", "Cache-Control: no-store\r\n").field("ETag");
    const auto same =
        get("/pypi/simple/", "Cache-Control: no-store\r\nIf-None-Match: " + tag + "\r\n");
    EXPECT_EQ(same.status, 304u);
    EXPECT_EQ(same.field("ETag"), tag);
}

TEST_F(Mirrors, AnswerHeadAsGet) {
    const auto scripted = origin.set([this](Exchange& e) {
        const auto fields = kHtml + fresh("ETag: \"1\"\r\n");
        if (e.method != "HEAD") return e.answer(fields, page());
        e.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(page().size()) +
               "\r\n\r\n");
    });
    start(settings());
    const auto head = ask("HEAD", "/pypi/a");
    EXPECT_EQ(head.field("Content-Length"), "");
    EXPECT_EQ(head.field("ETag"), get("/pypi/a").field("ETag"));
    EXPECT_EQ(ask("HEAD", "/pypi/a").field("Content-Length"),
              std::to_string(mirrored_page().size()));
}

TEST_F(Mirrors, UndoGzipAndApplyItAgain) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer(
            kHtml + fresh("ETag: \"1\"\r\nVary: Accept-Encoding\r\nContent-Encoding: gzip\r\n"),
            gzipped(page()));
    });
    start(settings());
    for (const auto* accepted : {"gzip, br", "gzip", "zstd, gzip;q=0.5"}) {
        const auto answer = get("/pypi/x", "Accept-Encoding: " + std::string(accepted) + "\r\n");
        EXPECT_EQ(answer.field("Content-Encoding"), "gzip");
        EXPECT_EQ(gunzipped(answer.body), mirrored_page());
        EXPECT_THAT(answer.field("ETag"), testing::StartsWith("W/\"1-w"));
    }
    EXPECT_EQ(origin.requests(), 1u) << "one variant for all clients that know gzip";
    EXPECT_THAT(origin.heads().at(0), HasSubstr("Accept-Encoding: gzip\r\n"));
}

TEST_F(Mirrors, BreakABombOff) {
    std::string bomb;
    GzipEncoder encoder;
    for (int i = 0; i < 16; ++i)
        ASSERT_TRUE(encoder.encode(std::string(1 << 20, 'x'), i == 15, bomb));
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer(kHtml + fresh("Content-Encoding: gzip\r\n"), bomb); });
    auto made = settings();
    made.origins.front().mirror->rewrite_up_to = 1 << 20;
    start(made);
    const auto answer = get("/pypi/x", "Accept-Encoding: gzip\r\n");
    EXPECT_FALSE(answer.complete);
    EXPECT_FALSE(is_hit(get("/pypi/x", "Accept-Encoding: gzip\r\n")));
}

TEST_F(Mirrors, LeaveBodiesAloneThatForbidIt) {
    const auto scripted = serve_page("Cache-Control: max-age=9, no-transform\r\nETag: \"1\"\r\n");
    start(settings());
    for (int i = 0; i < 2; ++i) {
        const auto answer = get("/pypi/x");
        EXPECT_EQ(answer.body, page());
        EXPECT_EQ(answer.field("ETag"), "\"1\"");
    }
}

TEST_F(Mirrors, LeaveFilesAlone) {
    const auto scripted =
        origin.set([this](Exchange& e) { e.answer(kFile + fresh("ETag: \"1\"\r\n"), page()); });
    start(settings());
    const auto answer = get("/pypi/x.zip");
    EXPECT_EQ(answer.body, page());
    EXPECT_EQ(answer.field("ETag"), "\"1\"");
    EXPECT_EQ(answer.field("Content-Length"), std::to_string(page().size()));
}

TEST_F(Mirrors, AskForAWholePageWhenAPartIsWanted) {
    const auto scripted = origin.set([this](Exchange& e) {
        if (e.field("Range").empty()) return e.answer(kHtml + fresh("ETag: \"1\"\r\n"), page());
        e.answer(std::string(kHtml) + "ETag: \"1\"\r\nContent-Range: bytes 0-9/" +
                     std::to_string(page().size()) + "\r\n",
                 page().substr(0, 10), "206 Partial Content");
    });
    start(settings());
    for (const auto* fields :
         {"Range: bytes=0-9\r\n", "Range: bytes=0-9\r\nCache-Control: no-store\r\n"}) {
        const auto answer = get("/pypi/x", fields);
        EXPECT_EQ(mirrored_page().find(answer.body), 0u) << fields << answer.head;
        EXPECT_THAT(answer.head, Not(HasSubstr("\"1\""))) << "the tag of other bytes";
    }
    EXPECT_EQ(get("/pypi/x", "Range: bytes=-3\r\n").body,
              mirrored_page().substr(mirrored_page().size() - 3));
}

TEST_F(Mirrors, LeadRedirectsToTheMirror) {
    const auto scripted = origin.set([this](Exchange& e) {
        if (e.target == "/slash")
            return e.answer("Location: /slash/\r\n", "", "301 Moved Permanently");
        if (e.target == "/file")
            return e.answer("Location: " + at_files("/a?b#c") + "\r\n", "", "302 Found");
        if (e.target == "/self")
            return e.answer("Location: " + at_origin("/self") + "\r\n", "", "302 Found");
        if (e.target == "/secure")
            return e.answer(
                "Location: https://127.0.0.1:" + std::to_string(origin.port()) + "/secure\r\n", "",
                "302 Found");
        e.answer(
            "Location: https://elsewhere.test/\r\nSet-Cookie: a=b; Domain=127.0.0.1; Path=/\r\n",
            "", "302 Found");
    });
    start(settings());
    EXPECT_EQ(get("/pypi/slash").field("Location"), "http://mirror.test/pypi/slash/");
    EXPECT_EQ(get("/pypi/file").field("Location"), "http://mirror.test/files/a?b#c");
    EXPECT_EQ(get("/pypi/self").field("Location"), at_origin("/self")) << "or it would never end";
    EXPECT_THAT(get("/pypi/secure").field("Location"), testing::StartsWith("https://127.0.0.1"));
    const auto away = get("/pypi/x");
    EXPECT_EQ(away.field("Location"), "https://elsewhere.test/");
    EXPECT_EQ(away.field("Set-Cookie"), "a=b; Path=/pypi/");
}

TEST_F(Mirrors, CountRedirectsThatLeaveThem) {
    const auto scripted = origin.set([this](Exchange& e) {
        const auto to = [&](const std::string& where, const char* status = "302 Found") {
            e.answer("Cache-Control: no-store\r\nLocation: " + where + "\r\n", "", status);
        };
        if (e.target == "/cdn") return to("https://CDN.test/a?b#c", "307 Temporary Redirect");
        if (e.target == "/port") return to("http://cdn.test:8080/");
        if (e.target == "/mirrored") return to(at_files("/a"));
        if (e.target == "/public") return to("http://mirror.test/files/a");
        if (e.target == "/served") return to("http://served.test/a");
        if (e.target == "/relative") return to("/a");
        if (e.target == "/mail") return to("mailto:a@b.test");
        to("https://cdn.test/", "201 Created");
    });
    auto made = settings();
    made.origins.push_back({"served.test", {"127.0.0.1", files.port()}});
    made.origins.push_back({"*", {"127.0.0.1", files.port()}});
    start(made);
    const auto leaving = [this] {
        return nlohmann::json::parse(
            admin("a", "/api/v1/status").body)["upstream"]["leaving_redirects"];
    };
    for (const auto* inside : {"/mirrored", "/public", "/served", "/relative", "/mail", "/created"})
        get("/pypi" + std::string(inside));
    EXPECT_EQ(leaving(), nlohmann::json::array());
    for (int i = 0; i < 2; ++i) get("/pypi/cdn");
    ask("HEAD", "/pypi/cdn");
    get("/pypi/port");
    EXPECT_EQ(leaving(), nlohmann::json::parse(R"([
        {"site": "127.0.0.1", "host": "cdn.test", "last_hour": 3},
        {"site": "127.0.0.1", "host": "cdn.test:8080", "last_hour": 1}])"));
}

TEST_F(Mirrors, CountARedirectThatANodeCannotFollow) {
    const auto scripted = origin.set([this](Exchange& e) {
        if (e.target == "/there") return e.answer(fresh(kFile), "there");
        e.answer(
            "Location: " + (e.target == "/in" ? at_origin("/there") : "http://cdn.test/") + "\r\n",
            "", "302 Found");
    });
    auto made = settings();
    Rule rule;
    rule.name = "followed";
    rule.match.paths = {Glob("/pypi/*")};
    rule.storing.follow_redirects = true;
    made.rules = RuleTable({rule});
    start(made);
    EXPECT_EQ(get("/pypi/in").body, "there");
    EXPECT_EQ(get("/pypi/out").status, 302u);
    const auto status = nlohmann::json::parse(admin("a", "/api/v1/status").body);
    const auto& leaving = status["upstream"]["leaving_redirects"];
    ASSERT_EQ(leaving.size(), 1u);
    EXPECT_EQ(leaving[0]["host"], "cdn.test");
    EXPECT_EQ(leaving[0]["last_hour"], 1);
}

TEST_F(Mirrors, KeepCookiesFromThePartyBelow) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer("Set-Cookie: sid=1; Path=/; HttpOnly\r\nSet-Cookie: evil=1; Domain=evil.test\r\n",
                 e.field("Cookie"));
    });
    const auto below = files.set([](Exchange& e) { e.answer({}, e.field("Cookie")); });
    auto made = settings();
    made.origins = {mirrored("", origin.port()), mirrored("/files", files.port())};
    start(made);
    const auto login = get("/x");
    EXPECT_THAT(login.head, Not(HasSubstr("evil")));
    const auto cookie = login.field("Set-Cookie");
    ASSERT_THAT(cookie, testing::MatchesRegex("sid~m[0-9a-f]+=1; Path=/; HttpOnly"));
    const auto jar = "Cookie: " + cookie.substr(0, cookie.find(';')) + "; own=2\r\n";
    EXPECT_EQ(get("/x", jar).body, "sid=1; own=2");
    EXPECT_EQ(get("/files/y", jar).body, "own=2");
}

TEST_F(Mirrors, SendNobodyWithAPasswordToAnotherParty) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer(fresh("Location: " + at_files("/a?b#c") + "\r\n"), "", "302 Found");
    });
    start(settings());
    EXPECT_EQ(get("/pypi/x").field("Location"), "http://mirror.test/files/a?b#c");
    const auto kept = get("/pypi/x", "Authorization: Basic eDp5\r\n");
    EXPECT_TRUE(is_hit(kept)) << kept.head;
    EXPECT_EQ(kept.field("Location"), at_files("/a?b#c")) << "from there it goes without";
    EXPECT_EQ(get("/pypi/y", "Authorization: Basic eDp5\r\n").field("Location"),
              at_files("/a?b#c"));
    EXPECT_EQ(get("/pypi/x").field("Location"), "http://mirror.test/files/a?b#c");
}

TEST_F(Mirrors, LeadClientsOfARuleThatProvesTheNode) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer("Location: " + at_files("/a") + "\r\n", e.field("Authorization"), "302 Found");
    });
    auto made = settings();
    Rule rule;
    rule.name = "proven";
    rule.match.paths = {Glob("/pypi/*")};
    rule.request_fields.set = {{"Authorization", "Basic eDp5"}};
    made.rules = RuleTable({rule});
    start(made);
    const auto answer = get("/pypi/x");
    EXPECT_EQ(answer.body, "Basic eDp5");
    EXPECT_EQ(answer.field("Location"), "http://mirror.test/files/a")
        << "the client has nothing to lose";
}

TEST_F(Mirrors, ShowTheOriginItsOwnPages) {
    const auto scripted = origin.set([](Exchange& e) { e.answer({}, "done"); });
    start(settings());
    EXPECT_EQ(ask("POST", "/pypi/send",
                  "Origin: http://mirror.test\r\nReferer: http://mirror.test/pypi/form?x\r\n"
                  "Destination: http://mirror.test/pypi/to\r\n")
                  .status,
              200u);
    const auto head = origin.heads().back();
    EXPECT_EQ(field_of(head, "Origin"), at_origin(""));
    EXPECT_EQ(field_of(head, "Referer"), at_origin("/form?x"));
    EXPECT_EQ(field_of(head, "Destination"), at_origin("/to"));
    EXPECT_THAT(head, Not(HasSubstr("mirror.test")));
    ask("POST", "/pypi/send",
        "Origin: http://mirror.test\r\nReferer: http://mirror.test/files/form?x\r\n");
    EXPECT_EQ(field_of(origin.heads().back(), "Origin"), at_files(""));
    EXPECT_EQ(field_of(origin.heads().back(), "Referer"), at_files("/"));
}

TEST_F(Mirrors, RewriteEarlyHints) {
    const auto hint = [this](Exchange& e) {
        e.send("HTTP/1.1 103 Early Hints\r\nLink: <" + at_files("/y.css") +
               ">; rel=preload\r\nX-Secret: 1\r\nAlt-Svc: h3=\":443\"\r\n\r\n");
    };
    const auto scripted = origin.set([&](Exchange& e) {
        hint(e);
        e.answer(fresh(kFile), "x");
    });
    auto made = settings();
    Rule rule;
    rule.name = "quiet";
    rule.response_fields.remove = {"X-Secret"};
    rule.response_fields.set = {{"X-Added", "1"}};
    made.rules = RuleTable({rule});
    start(made);
    for (const auto* method : {"GET", "POST"}) {
        auto from = client();
        from.host = "mirror.test";
        from.begin(method, "/pypi/x");
        const auto early = from.read(true);
        EXPECT_EQ(early.status, 103u) << method;
        EXPECT_EQ(early.field("Link"), "<http://mirror.test/files/y.css>; rel=preload") << method;
        EXPECT_THAT(early.head, Not(HasSubstr("X-Secret"))) << method;
        EXPECT_THAT(early.head, Not(HasSubstr("Alt-Svc"))) << method;
        EXPECT_THAT(early.head, Not(HasSubstr("X-Added"))) << method;
        const auto answer = from.read();
        EXPECT_EQ(answer.status, 200u) << method;
        EXPECT_EQ(answer.field("X-Added"), "1") << method;
    }
}

TEST_F(Mirrors, TakeNoDateForTheVersionOfAPage) {
    constexpr auto kDate = "Sun, 06 Nov 2022 08:49:37 GMT\r\n";
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("If-Modified-Since").empty()) return e.answer({}, "", "304 Not Modified");
        e.answer((e.target == "/file" ? kFile : kHtml) + fresh("Last-Modified: ") + kDate, page());
    });
    start(settings());
    const auto since = std::string("If-Modified-Since: ") + kDate;
    const auto range = std::string("Range: bytes=0-3\r\nIf-Range: ") + kDate;
    EXPECT_EQ(get("/pypi/x").body, mirrored_page());
    EXPECT_EQ(get("/pypi/x", since).status, 200u) << "its links may lead elsewhere by now";
    EXPECT_EQ(get("/pypi/x", range).body, mirrored_page());
    EXPECT_EQ(get("/pypi/x", since + "Cache-Control: no-store\r\n").body, mirrored_page());
    EXPECT_EQ(get("/pypi/file").status, 200u);
    EXPECT_EQ(get("/pypi/file", since).status, 304u);
    EXPECT_EQ(get("/pypi/file", range).status, 206u);
}

TEST_F(Mirrors, EndWhatWasRewrittenOtherwise) {
    const auto scripted = origin.set([this](Exchange& e) {
        e.answer((e.target == "/file" ? kFile : kHtml) + fresh("ETag: \"1\"\r\n"), page());
    });
    const TemporaryDirectory folder;
    const auto file = folder.path() / "node.json";
    const auto write = [&](const Config& made) { std::ofstream(file) << effective_config(made); };
    auto made = settings();
    write(made);
    start(made, file);
    const auto before = get("/pypi/x");
    EXPECT_EQ(before.body, mirrored_page());
    EXPECT_TRUE(is_hit(get("/pypi/x")));
    EXPECT_EQ(get("/pypi/file").status, 200u);
    made.origins.back().mirror->url.path = "/blobs";
    write(made);
    EXPECT_EQ(admin_client().ask("POST", "/api/v1/reload").status, 200u);
    const auto after = get("/pypi/x");
    EXPECT_THAT(after.body, HasSubstr("http://mirror.test/blobs/y"));
    EXPECT_NE(after.field("ETag"), before.field("ETag"));
    EXPECT_EQ(get("/pypi/x", "If-None-Match: " + before.field("ETag") + "\r\n").status, 200u);
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_EQ(get("/pypi/file").body, page()) << "a file has no links, so it is validated";
    EXPECT_THAT(origin.heads().back(), HasSubstr("If-None-Match: \"1\"\r\n"));
}

TEST_F(Mirrors, ExplainTheUrlAtTheOrigin) {
    const auto scripted = serve_page();
    start(settings());
    EXPECT_EQ(get("/pypi/x").body, mirrored_page());
    const auto page = admin("a", "/api/v1/explain?url=http%3A%2F%2Fmirror.test%2Fpypi%2Fx").body;
    const auto json = nlohmann::json::parse(page);
    EXPECT_EQ(json.value("public", ""), "http://mirror.test/pypi") << page;
    EXPECT_EQ(json.value("url_at_origin", ""), at_origin("/x"));
    EXPECT_EQ(json.value("rewritten", false), true);
}

TEST_F(Mirrors, KeepOtherEntriesInReach) {
    const auto scripted = origin.set([](Exchange& e) { e.answer(fresh(kFile), e.field("Host")); });
    auto made = settings();
    made.origins.insert(made.origins.begin(), OriginConfig{"*", {"127.0.0.1", origin.port()}});
    start(made);
    EXPECT_EQ(NodesTest::get("a", "/pypi/x").body, "origin.test");
    EXPECT_EQ(get("/pypi/x").body, origin_authority());
}

}  // namespace mirrors_test
}  // namespace proxy::test
