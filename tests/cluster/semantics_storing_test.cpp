#include "tests/cluster/semantics.hpp"

// The responses that are stored and reused at all: cache key, storing, interim answers, Vary and
// invalidation.

namespace proxy::test {
namespace semantics_storing_test {

using namespace std::chrono_literals;

class Storing : public SemanticsTest {};
HEARSAY_IN_BOTH_MODES(Storing);

// 1, RFC 9111 §2, §4
TEST_P(Storing, TakesTheWholeTargetForTheKeyAndAQueryForNothingSpecial) {
    const std::vector<std::string> targets{"/key",     "/key?",     "/key?a=1",   "/key?a=2",
                                           "/key?A=1", "/key?a=1&", "/key?b&a=1", "/key?a=%31",
                                           "/KEY",     "/key/"};
    for (const auto& each : targets) says(each, {ok(fresh(), "of " + each)});
    for (int round = 0; round < 2; ++round)
        for (const auto& each : targets) EXPECT_EQ(get(each).body, "of " + each);
    for (const auto& each : targets) EXPECT_EQ(asked(each), 1u) << each;
    ask("OPTIONS", "/key");  // another method, safe or not, is another key
    EXPECT_EQ(asked("/key"), 2u);
    EXPECT_EQ(get("/key").body, "of /key");
    EXPECT_EQ(asked("/key"), 2u);
}

// 2, RFC 9111 §7.3
TEST_P(Storing, ReplaysSetCookieOfAnExplicitlyFreshAnswerWhereConfigured) {
    auto sharing = settings();
    sharing.cache.rules.store_set_cookie = true;
    start(sharing);
    says("/cookie", {ok(fresh("Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n"))});
    const auto first = get("/cookie", "Cookie: who=one\r\n");
    const auto hit = get("/cookie", "Cookie: who=two\r\n");
    EXPECT_EQ(asked("/cookie"), 1u);
    for (const auto* answer : {&first, &hit}) {
        EXPECT_TRUE(contains(answer->head, "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n"))
            << answer->head;
        EXPECT_EQ(lines(answer->head, "Set-Cookie"), 2u);
    }
}

TEST_P(Storing, DoesNotShareACookieOnAGuess) {
    const auto modified = "Last-Modified: " + date(-240h) + "\r\n";
    EXPECT_TRUE(reused("/guessed", ok(modified)));
    auto sharing = settings();
    sharing.cache.rules.store_set_cookie = true;
    start(sharing);
    EXPECT_FALSE(reused("/guessed-cookie", ok(modified + "Set-Cookie: a=1\r\n")));
}

TEST_P(Storing, KeepsNoAnswerWithSetCookie) {
    says("/cookie", {ok(fresh("Set-Cookie: a=1\r\n"))});
    for (const auto round : {1u, 2u}) {
        EXPECT_EQ(get("/cookie").field("Set-Cookie"), "a=1");  // never dropped
        EXPECT_EQ(asked("/cookie"), round);
    }
}

// 5, RFC 9111 §4
TEST_P(Storing, KeepsWhatIsFreshWhenANewerAnswerMayNotBeStored) {
    says("/kept", {ok(fresh(), "old"), ok("Cache-Control: no-store\r\n", "private news")});
    get("/kept");
    EXPECT_EQ(get("/kept", "Cache-Control: no-cache\r\n").body, "private news");
    EXPECT_EQ(get("/kept").body, "old");
    EXPECT_EQ(asked("/kept"), 2u);
}

TEST_P(Storing, UsesTheLatestOfSeveralAnswersThatMatch) {
    says("/latest", {ok(fresh("Vary: X\r\nDate: " + date(-20s) + "\r\n"), "for one"),
                     ok(fresh("Date: " + date(-10s) + "\r\n"), "for all")});
    EXPECT_EQ(get("/latest", "X: 1\r\n").body, "for one");
    EXPECT_EQ(get("/latest", "X: 2\r\n").body, "for all");
    EXPECT_EQ(get("/latest", "X: 1\r\n").body, "for all");
    EXPECT_EQ(asked("/latest"), 2u);
}

// 6, RFC 9110 §9.3.2
TEST_P(Storing, AnswersHeadFromAStoredGet) {
    says("/head", {ok(fresh("ETag: \"v\"\r\nX-Other: 1\r\n"))});
    get("/head");
    auto connection = client();
    const auto head = connection.ask("HEAD", target("/head"));
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.field("Content-Length"), "4");
    EXPECT_EQ(head.field("X-Other"), "1");
    EXPECT_EQ(lines(head.head, "Age"), 1u);
    EXPECT_EQ(connection.ask("HEAD", target("/head"), "If-None-Match: \"v\"\r\n").status, 304u);
    EXPECT_EQ(connection.get(target("/head")).body, "text");  // no body came, all is in sync
    EXPECT_EQ(asked("/head"), 1u);
}

TEST_P(Storing, PassesHeadOfWhatIsNotStored) {
    auto connection = client();
    EXPECT_EQ(connection.ask("HEAD", target("/one")).field("Content-Length"), "12");
    EXPECT_EQ(connection.get(target("/two")).body, "body of /two");
    EXPECT_EQ(connection.get(target("/one")).body, "body of /one");  // a HEAD answers no GET
    EXPECT_EQ(asked("/one"), 2u);
}

// 6, RFC 9111 §4
TEST_P(Storing, PassesUnsafeMethodsOnWhateverIsStored) {
    for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "PROPPATCH", "BREW"}) {
        SCOPED_TRACE(method);
        says("/unsafe", {ok(fresh())});
        get("/unsafe");
        const auto answer = ask(method, "/unsafe", {}, "some content");
        EXPECT_EQ(answer.body, "text");
        EXPECT_EQ(lines(answer.head, "Age"), 0u);
        ASSERT_EQ(asked("/unsafe"), 2u);
        EXPECT_TRUE(requests("/unsafe").back().starts_with(std::string(method) + " /unsafe "));
        ask(method, "/unsafe", {}, "some content");
        EXPECT_EQ(asked("/unsafe"), 3u);
    }
}

// 7, RFC 9111 §3, §5.2.2.5, §5.2.2.7
TEST_P(Storing, HeedsNoStoreAndPrivateHoweverTheyAreWritten) {
    expect_reuse({
        {"plain", "Cache-Control: max-age=100\r\n", true},
        {"no-store", "Cache-Control: no-store, max-age=100\r\n", false},
        {"no-store-line", "Cache-Control: max-age=100\r\nCache-Control: no-store\r\n", false},
        {"private", "Cache-Control: private, max-age=100\r\n", false},
        {"private-shared", "Cache-Control: private, s-maxage=100\r\n", false},
        {"quoted", "Cache-Control: foo=\"bar, no-store, baz\", max-age=100\r\n", true},
        {"request", "Cache-Control: max-age=100\r\n", false, "Cache-Control: no-store\r\n"},
    });
}

TEST_P(Storing, KeepsFieldsThatPrivateNamesForTheirClient) {  // 7, RFC 9111 §5.2.2.7
    says("/named", {ok("Cache-Control: max-age=100, private=\"X-Mine, set-cookie\"\r\n"
                       "X-Mine: 1\r\nSet-Cookie: a=1\r\nX-Ours: 1\r\n")});
    EXPECT_EQ(get("/named").field("X-Mine"), "1");
    const auto hit = get("/named");
    EXPECT_EQ(hit.field("X-Mine"), "");
    EXPECT_EQ(hit.field("Set-Cookie"), "");
    EXPECT_EQ(hit.field("X-Ours"), "1");
    EXPECT_EQ(asked("/named"), 1u);
}

// 8, RFC 9111 §3
TEST_P(Storing, StoresEveryFinalStatusWithExplicitFreshness) {
    for (const auto status :
         {200, 201, 202, 203, 204, 205, 226, 299, 300, 301, 302, 303, 307, 308, 399, 400,
          403, 404, 405, 410, 418, 429, 451, 499, 500, 501, 502, 503, 504, 505, 599}) {
        SCOPED_TRACE(status);
        const auto line = std::to_string(status) + " Whatever";
        const auto path = "/" + std::to_string(status);
        says(path, {reply(line, fresh("Location: /elsewhere\r\n"), status == 205 ? "" : "text")});
        const auto first = get(path), hit = get(path);
        EXPECT_EQ(first.status, static_cast<unsigned>(status));
        EXPECT_EQ(hit.status, static_cast<unsigned>(status));
        EXPECT_EQ(hit.body, first.body);
        EXPECT_EQ(hit.field("Location"), "/elsewhere");
        EXPECT_EQ(asked(path), 1u);
        EXPECT_FALSE(
            reused(path + "-stale", reply(line, "Cache-Control: max-age=50\r\nAge: 60\r\n", "")));
    }
}

// 9, RFC 9111 §5.2.2.3
TEST_P(Storing, HeedsMustUnderstand) {
    const auto check = [this](const char* path, const char* status, const char* directives) {
        return reused(path, reply(status, "Cache-Control: " + std::string(directives) + "\r\n"));
    };
    EXPECT_TRUE(check("/a", "200 OK", "must-understand, max-age=100"));
    EXPECT_TRUE(check("/b", "200 OK", "must-understand, no-store, max-age=100"));
    EXPECT_TRUE(check("/c", "404 Not Found", "no-store, max-age=100, Must-Understand"));
    EXPECT_FALSE(check("/d", "299 New", "must-understand, max-age=100"));
    EXPECT_FALSE(check("/e", "499 New", "max-age=100, must-understand, no-store"));
    EXPECT_FALSE(check("/f", "599 New", "max-age=100, MUST-UNDERSTAND"));
    EXPECT_FALSE(check("/g", "200 OK", "must-understand, private, max-age=100"));
}

const std::string kHints =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Interim: 1\r\n"
    "Connection: X-Hop\r\nX-Hop: 1\r\n\r\n";

// 10, RFC 9110 §15.2
TEST_P(Storing, PassesInterimAnswersOnceAndStoresNothingOfThem) {
    says("/hints", {"HTTP/1.1 102 Processing\r\n\r\n" + kHints +
                    "HTTP/1.1 103 Early Hints\r\nLink: </b.css>; rel=preload\r\n"
                    "Cache-Control: no-store\r\nSet-Cookie: interim=1\r\n\r\n" +
                    ok(fresh("X-Final: 1\r\n"))});
    auto connection = client();
    connection.begin("GET", target("/hints"));
    EXPECT_EQ(connection.read().status, 102u);
    const auto hints = connection.read();
    EXPECT_EQ(hints.status, 103u);
    EXPECT_EQ(hints.field("Link"), "</a.css>; rel=preload");
    EXPECT_EQ(hints.field("Via"), "1.1 a");
    EXPECT_EQ(lines(hints.head, "X-Hop"), 0u);
    EXPECT_EQ(lines(hints.head, "Connection"), 0u);
    EXPECT_EQ(connection.read().field("Link"), "</b.css>; rel=preload");
    const auto final = connection.read();
    EXPECT_EQ(final.status, 200u);
    EXPECT_EQ(final.body, "text");
    const auto hit = connection.get(target("/hints"));
    EXPECT_EQ(hit.status, 200u);
    for (const auto* answer : {&final, &hit}) {
        EXPECT_EQ(lines(answer->head, "X-Final"), 1u);
        for (const auto* name : {"Link", "X-Interim", "Set-Cookie"})
            EXPECT_EQ(lines(answer->head, name), 0u) << answer->head;
    }
    EXPECT_EQ(asked("/hints"), 1u);
}

TEST_P(Storing, PassesAnInterimAnswerBeforeTheFinalOneIsThere) {
    Gate final;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send(kHints);
        final.wait();
        e.send(ok(e.target == "/stored" ? fresh() : "Cache-Control: no-store\r\n"));
    });
    auto filled = client(), relayed = client();
    filled.begin("GET", target("/stored"));
    relayed.begin("POST", target("/relayed"), {}, "body");
    EXPECT_EQ(filled.read().status, 103u);
    EXPECT_EQ(relayed.read().status, 103u);
    final.open();
    EXPECT_EQ(filled.read().status, 200u);
    EXPECT_EQ(relayed.read().status, 200u);
}

TEST_P(Storing, PassesInterimAnswersOfAValidation) {
    says("/validated", {ok("Cache-Control: max-age=0\r\nETag: \"v\"\r\n"),
                        kHints + not_modified("ETag: \"v\"\r\nCache-Control: max-age=100\r\n")});
    get("/validated");
    auto connection = client();
    connection.begin("GET", target("/validated"));
    EXPECT_EQ(connection.read().status, 103u);
    const auto answer = connection.read();
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(lines(answer.head, "X-Interim"), 0u);
}

TEST_P(Storing, SparesClientsOfHttp10InterimAnswers) {
    says("/old", {kHints + ok(fresh())});
    auto connection = client();
    connection.socket.send("GET " + target("/old") + " HTTP/1.0\r\nHost: origin.test\r\n\r\n");
    EXPECT_EQ(connection.read().status, 200u);
}

TEST_P(Storing, BoundsInterimAnswersLikeOneHead) {
    std::string endless;
    for (int i = 0; i < 2000; ++i) endless += kHints;
    says("/endless", {endless + ok(fresh())});
    auto connection = client();
    connection.begin("GET", target("/endless"));
    auto answer = connection.read();
    while (answer.status == 103) answer = connection.read();
    EXPECT_EQ(answer.status, 502u);
}

// 10, RFC 9110 §10.1.1
TEST_P(Storing, LeavesTheAnswerToAnExpectationToTheOrigin) {
    Gate consent;
    const auto scripted = origin.set([&](Exchange& e) { e.answer("", "got " + e.body); });
    origin.before_body([&](Exchange& e) {
        if (e.field("Expect") != "100-continue") return;
        consent.wait();
        e.send("HTTP/1.1 100 Continue\r\n\r\n");
    });
    auto connection = client();
    const std::string head = "POST " + target("/expects") +
                             " HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 4\r\n"
                             "Expect: 100-Continue\r\n\r\n";
    connection.socket.send(head);
    ASSERT_TRUE(consent.wait_for(1));
    consent.open();
    EXPECT_EQ(connection.read().status, 100u);
    connection.socket.send("body");
    EXPECT_EQ(connection.read().body, "got body");
    EXPECT_EQ(connection.get(target("/next")).status, 200u);  // both connections go on
}

TEST_P(Storing, PassesARefusalOfAnExpectedBodyAndTakesNoBody) {
    const auto scripted = origin.set([](Exchange&) {});
    origin.before_body([](Exchange& e) {
        e.answer("", "too much", "413 Content Too Large");
        e.keep = false;
    });
    auto connection = client();
    connection.socket.send("PUT " + target("/refused") +
                           " HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 1000000\r\n"
                           "Expect: 100-continue\r\n\r\n");
    const auto refused = connection.read();
    EXPECT_EQ(refused.status, 413u);
    EXPECT_EQ(refused.body, "too much");
    EXPECT_EQ(refused.field("Connection"), "close");  // what follows could be the body or a request
}

TEST_P(Storing, SendsTheBodyToAnOriginThatDoesNotKnowExpectations) {
    const auto scripted = origin.set([](Exchange& e) { e.answer("", "got " + e.body); });
    auto connection = client();
    connection.socket.send("POST " + target("/expects") +
                           " HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 4\r\n"
                           "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(connection.read().status, 100u);
    connection.socket.send("body");
    EXPECT_EQ(connection.read().body, "got body");
}

// 11, RFC 9111 §3.1
TEST_P(Storing, KeepsAllFieldsInOrderExceptThoseOfTheHop) {
    const std::string kept =
        "X-B: 1\r\nx-a: \"quoted, text\"\r\nX-B: 2\r\nContent-Type: text/x; a=b\r\nWarning: 199 x "
        "\"y\"\r\n"
        "Server: o\r\nX-Empty: \r\nContent-Disposition: attachment; "
        "filename=x\r\nX-Utf: \xc3\xa9\r\nX-Tab: a\tb\r\n";
    says("/fields",
         {ok(fresh(kept + "Connection: keep-alive, X-Named , x-other,Content-Length\r\nX-Named: "
                          "1\r\nX-Other: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: "
                          "keep-alive\r\nTE: trailers\r\nUpgrade: h2c\r\nProxy-Authenticate: "
                          "Basic\r\nProxy-Authentication-Info: x\r\nProxy-Authorization: "
                          "y\r\nTrailer: X-End\r\n"))});
    const auto first = get("/fields"), hit = get("/fields");
    EXPECT_EQ(asked("/fields"), 1u);
    for (const auto* answer : {&first, &hit}) {
        EXPECT_TRUE(contains(answer->head, kept)) << answer->head;
        for (const auto* name :
             {"X-Named", "X-Other", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade",
              "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Trailer"})
            EXPECT_EQ(lines(answer->head, name), 0u) << name;
        EXPECT_EQ(answer->field("Content-Length"), "4");
        EXPECT_EQ(answer->body, "text");
    }
}

// 12, RFC 9111 §3.3
TEST_P(Storing, NeverReusesAnAnswerThatWasCut) {
    const auto raw = [this](const std::string& path, std::string bytes) {
        const auto scripted = origin.set([bytes](Exchange& e) {
            e.send(bytes);
            e.keep = false;
        });
        const auto cut = get(path);
        EXPECT_TRUE(cut.status == 502 || !cut.complete);  // 502: known before the head went out
        const auto then = origin.set([](Exchange& e) { e.answer(fresh(), "whole"); });
        EXPECT_EQ(get(path).body, "whole");
    };
    raw("/length", "HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 100\r\n") + "\r\npart");
    raw("/chunk",
        "HTTP/1.1 200 OK\r\n" + fresh("Transfer-Encoding: chunked\r\n") + "\r\n4\r\npart\r\n");
    raw("/in-chunk",
        "HTTP/1.1 200 OK\r\n" + fresh("Transfer-Encoding: chunked\r\n") + "\r\n9\r\npart");
    raw("/last-chunk",
        "HTTP/1.1 200 OK\r\n" + fresh("Transfer-Encoding: chunked\r\n") + "\r\n4\r\npart\r\n0\r\n");
}

TEST_P(Storing, RefusesAnAnswerInATransferCodingThatItDoesNotKnow) {  // 12, RFC 9112 §6.1
    for (const auto* coding : {"gzip, chunked", "x-new, chunked", "gzip", "identity"}) {
        says("/coded",
             {"HTTP/1.1 200 OK\r\n" + fresh("Transfer-Encoding: " + std::string(coding) + "\r\n") +
              "\r\n4\r\ntext\r\n0\r\n\r\n"});
        for (const auto round : {1u, 2u}) {
            const auto answer = get("/coded");
            EXPECT_EQ(answer.status, 502u) << coding;
            EXPECT_TRUE(answer.complete);
            EXPECT_EQ(asked("/coded"), round);
        }
    }
}

TEST_P(Storing, NeverServesAPartAsTheWhole) {  // 12, RFC 9111 §3.3
    says("/part",
         {reply("206 Partial Content", fresh("Content-Range: bytes 0-3/8\r\nETag: \"v\"\r\n")),
          ok(fresh("ETag: \"v\"\r\n"), "text and")});
    EXPECT_EQ(get("/part", "Range: bytes=0-3\r\n").status, 206u);
    const auto whole = get("/part");
    EXPECT_EQ(whole.status, 200u);
    EXPECT_EQ(whole.body, "text and");
}

// 13, RFC 9111 §3.5
TEST_P(Storing, SharesAnAnswerToAuthorizationOnlyWhereTheAnswerAllowsIt) {
    const std::string one = "Authorization: Basic eDp5\r\n", two = "Authorization: Basic eTp6\r\n";
    expect_reuse({
        {"max-age", "Cache-Control: max-age=100\r\n", false, one},
        {"max-age-same", "Cache-Control: max-age=100\r\n", false, one, one},
        {"expires", "Expires: " + date(100s) + "\r\n", false, one, two},
        {"heuristic", "Last-Modified: " + date(-240h) + "\r\n", false, one},
        {"proxy-revalidate", "Cache-Control: proxy-revalidate, max-age=100\r\n", false, one},
        {"public", "Cache-Control: public, max-age=100\r\n", true, one},
        {"public-other", "Cache-Control: PUBLIC, max-age=100\r\n", true, one, two},
        {"must-revalidate", "Cache-Control: must-revalidate, max-age=100\r\n", true, one},
        {"s-maxage", "Cache-Control: s-maxage=100\r\n", true, one, two},
        {"s-maxage-private", "Cache-Control: s-maxage=100, private\r\n", false, one, two},
    });
}

// 16, 18, 19, RFC 9111 §4.1
TEST_P(Storing, ReusesAVariantOnlyForRequestsThatSelectIt) {
    const auto vary = [](const char* names) {
        return fresh("Vary: " + std::string(names) + "\r\n");
    };
    expect_reuse({
        {"same", vary("X"), true, "X: 1\r\n", "X: 1\r\n"},
        {"other", vary("X"), false, "X: 1\r\n", "X: 2\r\n"},
        {"absent-then", vary("X"), false, "", "X: 1\r\n"},
        {"star", vary("*"), false},
        {"lines-joined", vary("X"), true, "X: 1\r\nX: 2\r\n", "X: 1, 2\r\n"},
        {"language-order", vary("Accept-Language"), false, "Accept-Language: en, de\r\n",
         "Accept-Language: de,en\r\n"},
        {"encoding-order", vary("Accept-Encoding"), true, "Accept-Encoding: gzip, br\r\n",
         "Accept-Encoding: BR , gzip\r\n"},
    });
}

TEST_P(Storing, GivesEachTheLanguageThatItNamesFirst) {
    const auto answer = [](const char* language) {
        return ok(
            fresh("Vary: Accept-Language\r\nContent-Language: " + std::string(language) + "\r\n"),
            language);
    };
    says("/page", {answer("de"), answer("en"), answer("none")});
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(get("/page", "Accept-Language: de, en\r\n").body, "de");
        EXPECT_EQ(get("/page", "Accept-Language: en, de\r\n").body, "en");
    }
    EXPECT_EQ(asked("/page"), 2u);
}

// 17, RFC 9111 §4.1
TEST_P(Storing, KeepsVariantsSideBySide) {
    const auto answer = [](const char* names, const char* body) {
        return ok(fresh("Vary: " + std::string(names) + "\r\n"), body);
    };
    // Order and case of the names have no effect.
    says("/side", {answer("X, Y", "one"), answer("y,X", "two"), answer("Y , x", "three")});
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(get("/side", "X: 1\r\nY: 1\r\n").body, "one");
        EXPECT_EQ(get("/side", "X: 2\r\nY: 1\r\n").body, "two");
        EXPECT_EQ(get("/side", "Y: 1\r\n").body, "three");
    }
    EXPECT_EQ(asked("/side"), 3u);
}

struct Unsafe {
    const char* method;
    const char* status;
    bool invalidates;
};

// 38, RFC 9111 §4.4
TEST_P(Storing, ForgetsATargetAfterASuccessOfAnyUnsafeMethod) {
    std::vector<Unsafe> cases;
    for (const auto* method :
         {"PUT", "POST", "DELETE", "PATCH", "MKCOL", "M-SEARCH", "BREW", "get"})
        for (const auto* status : {"200 OK", "204 No Content", "303 See Other"})
            cases.push_back({method, status, true});
    for (const auto* status : {"400 Bad Request", "404 Not Found", "500 Internal Server Error"})
        cases.push_back({"POST", status, false});
    // RFC 9110 §9.2.1, and the IANA registry
    for (const auto* method : {"OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI"})
        cases.push_back({method, "200 OK", false});
    cases.push_back({"PROPFIND", "207 Multi-Status", false});
    cases.push_back({"propfind", "200 OK", true});  // another method
    cases.push_back({"PROPPATCH", "207 Multi-Status", true});
    for (const auto& each : cases) {
        const auto path = "/" + std::string(each.method) + each.status[0] + each.status[2];
        SCOPED_TRACE(path);
        const auto stored = fresh("Vary: X\r\nETag: \"v\"\r\n");
        says(path,
             {ok(stored, "old"), ok(stored, "old"), reply(each.status, "", ""), ok(stored, "new")});
        get(path, "X: 1\r\n");
        get(path, "X: 2\r\n");
        ask(each.method, path);
        for (const auto* variant : {"X: 1\r\n", "X: 2\r\n"})  // all of them
            EXPECT_EQ(get(path, variant).body, each.invalidates ? "new" : "old");
    }
}

TEST_P(Storing, KeepsATargetWhenAnUnsafeRequestFails) {  // 38
    get("/kept");
    origin.die();
    EXPECT_EQ(ask("DELETE", "/kept").status, 502u);
    EXPECT_EQ(get("/kept").body, "body of /kept");
}

// The origin may have carried out the request before it fell silent, or was cut off.
TEST_P(Storing, ForgetsATargetAfterAnUnsafeRequestWithoutAnAnswer) {
    auto impatient = settings();
    impatient.timeouts.origin_head = std::chrono::milliseconds(300);
    start(impatient);
    Gate never;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.method == "GET") return e.answer(fresh(), "body");
        if (e.target.starts_with("/silent")) never.wait();
        if (e.target.starts_with("/nonsense")) e.send("NONSENSE\r\n\r\n");
        e.keep = false;
    });
    for (const auto* how : {"/silent", "/cut", "/nonsense"})
        for (const auto* method : {"POST", "DELETE"}) {
            const auto path = std::string(how) + method;
            SCOPED_TRACE(path);
            get(path);
            EXPECT_TRUE(get(path).cache_status().starts_with("a; hit"));
            EXPECT_GE(ask(method, path, {}, *method == 'P' ? "content" : "").status, 502u);
            EXPECT_FALSE(get(path).cache_status().starts_with("a; hit"));
        }
    never.open();
}

TEST_P(Storing, KeepsATargetWhenAnUnsafeRequestReachesNobody) {
    const auto scripted = origin.set([](Exchange& e) {
        e.answer(fresh(), "body");
        e.keep = false;
    });
    get("/kept");
    const auto before = origin.requests();
    origin.die();
    EXPECT_EQ(ask("POST", "/kept", {}, "content").status, 502u);
    EXPECT_TRUE(get("/kept").cache_status().starts_with("a; hit"));
    EXPECT_EQ(origin.requests(), before);
}

TEST_P(Storing, StoresNothingThatWasAskedBeforeAnUnsafeMethodSucceeded) {  // 38
    Gate late;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.method == "GET") late.wait();
        e.answer(fresh(), e.method == "GET" ? "before" : "");
    });
    auto before = client();
    before.begin("GET", target("/raced"));
    ASSERT_TRUE(late.wait_for(1));
    EXPECT_EQ(ask("PUT", "/raced", {}, "new").status, 200u);
    late.open();
    EXPECT_EQ(before.read().body, "before");
    const auto then = origin.set([](Exchange& e) { e.answer(fresh(), "after"); });
    EXPECT_EQ(get("/raced").body, "after");
}

// 39, RFC 9111 §4.4
TEST_P(Storing, ForgetsWhatLocationAndContentLocationNameAtTheSameOrigin) {
    struct Named {
        std::string text;
        bool invalidates;
        const char* status = "201 Created";
    };
    const auto path = std::string("/dir/other?q");
    const auto at = host();
    std::vector<Named> cases{
        {path, true},
        {"other?q", true},
        {uri(path), true},
        {"HTTP://" + at + path, true},
        {uri(path), true, "303 See Other"},
        {uri(path), false, "409 Conflict"},
        {"https://" + at + path, false},
        {"http://elsewhere.test" + path, false},
        {"http://" + at.substr(0, at.find(':')) + ":1" + path, false},
        {"http://user@" + at + path, false},
        {"", false},
    };
    if (GetParam() == Mode::reverse) cases.push_back({"http://ORIGIN.test:80" + path, true});
    for (const auto* name : {"Location", "Content-Location"}) {
        for (const auto& each : cases) {
            SCOPED_TRACE(name + (": " + each.text));
            says(path, {ok(fresh(), "old"), ok(fresh(), "new")});
            get(path);
            ASSERT_EQ(get(path).body, "old");
            says("/dir/made",
                 {reply(each.status, std::string(name) + ": " + each.text + "\r\n", "")});
            ask("POST", "/dir/made", {}, "content");
            EXPECT_EQ(get(path).body, each.invalidates ? "new" : "old");
            ask("DELETE", path);
        }
    }
}

TEST_P(Storing, NeverForgetsWhatAnotherOriginHas) {  // 39
    const auto other = "http://origin.test" + std::string(GetParam() == Mode::reverse ? ":81" : "");
    auto both = settings();
    both.origins.clear();
    both.origins.push_back({"*", {"127.0.0.1", origin.port()}});
    start(both);
    auto connection = client();
    says("/kept", {ok(fresh(), "old"), ok(fresh(), "new")});
    EXPECT_EQ(connection.get(other + "/kept").body, "old");
    says("/made", {ok("Location: " + other + "/kept\r\nContent-Location: " + other + "/kept\r\n")});
    ask("POST", "/made", {}, "content");
    EXPECT_EQ(connection.get(other + "/kept").body, "old");
}

}  // namespace semantics_storing_test
}  // namespace proxy::test
