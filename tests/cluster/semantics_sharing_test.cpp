#include "tests/cluster/semantics.hpp"

// Responses for one client: nobody else gets them without the origin's word.

namespace proxy::test {
namespace semantics_sharing_test {

using namespace std::chrono_literals;

class Sharing : public SemanticsTest {
protected:
    /// A page that depends on the client, of which its origin says nothing else: `fields`.
    auto pages_with(std::string said) {
        return origin.set([fields = std::move(said)](Exchange& e) {
            const auto who = e.field("Cookie") + e.field("Authorization");
            const auto tag = "\"" + who + "\"";
            if (e.field("If-None-Match") == tag)
                return e.send("HTTP/1.1 304 Not Modified\r\nETag: " + tag + "\r\n\r\n");
            e.answer("ETag: " + tag + "\r\n" + fields, "page of " + who);
        });
    }
};
HEARSAY_IN_BOTH_MODES(Sharing);

std::string control(std::string_view directives) {
    return "Cache-Control: " + std::string(directives) + "\r\n";
}
std::string cookie(std::string_view who) {
    return "Cookie: " + std::string(who) + "\r\n";
}
const std::string kLongAgo = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";

TEST_P(Sharing, NobodyGetsThePageOfAnother) {
    const std::vector<std::string> said{"",
                                        kLongAgo,
                                        kLongAgo + control("public"),
                                        control("stale-while-revalidate=1000"),
                                        control("stale-if-error=1000"),
                                        control("max-age=0")};
    for (std::size_t i = 0; i < said.size(); ++i) {
        SCOPED_TRACE(said[i]);
        const auto scripted = pages_with(said[i]);
        const auto path = "/page" + std::to_string(i);
        EXPECT_EQ(get(path, cookie("one")).body, "page of one");
        for (const auto* wish :
             {"", "max-stale", "max-stale=100000", "max-stale, max-age=9", "min-fresh=0"}) {
            const auto fields = *wish ? control(wish) : std::string();
            EXPECT_EQ(get(path, cookie("two") + fields).body, "page of two") << wish;
            EXPECT_EQ(get(path, cookie("one") + fields).body, "page of one") << wish;
        }
        EXPECT_EQ(get(path + "x", cookie("one")).body, "page of one");
        EXPECT_EQ(get(path + "x", control("max-stale")).body, "page of ");
        EXPECT_EQ(get(path, cookie("two") + control("only-if-cached, max-stale")).status, 504u);
        const auto same = get(path, cookie("one"));
        EXPECT_TRUE(contains(same.cache_status(), "fwd=stale; fwd-status=304"))
            << same.cache_status();
    }
    origin.die();
    for (std::size_t i = 0; i < said.size(); ++i) {
        SCOPED_TRACE(said[i]);
        EXPECT_EQ(get("/page" + std::to_string(i), cookie("two")).status, 502u);
    }
}

TEST_P(Sharing, AResponseToAnAuthorizedClientIsNotGuessedToBeForAll) {  // RFC 9111 §3.5
    const auto scripted = pages_with(kLongAgo + control("must-revalidate"));
    EXPECT_EQ(get("/page", "Authorization: Basic eA==\r\n").body, "page of Basic eA==");
    EXPECT_EQ(get("/page").body, "page of ");
    EXPECT_EQ(get("/page", control("max-stale")).body, "page of ");
}

TEST_P(Sharing, ExplicitFreshnessSpeaksForAll) {
    const auto scripted = pages_with(fresh());
    EXPECT_EQ(get("/page", cookie("one")).body, "page of one");
    EXPECT_EQ(get("/page", cookie("two")).body, "page of one");
}

TEST_P(Sharing, APageOfOneStaysSoWhateverA304ForAnotherSays) {
    const std::string same = "ETag: \"v\"\r\n" + kLongAgo;
    says("/page", {ok(same), not_modified(same), not_modified(same + control("max-age=100")),
                   not_modified(same), ok(fresh(), "new")});
    get("/page", cookie("one"));
    for (const auto round : {2u, 3u, 4u}) {
        EXPECT_EQ(get("/page").body, "text");
        EXPECT_EQ(asked("/page"), round);
    }
    for (int again = 0; again < 2; ++again) EXPECT_EQ(get("/page").body, "new");
    EXPECT_EQ(asked("/page"), 5u) << "that was fetched for everybody";
}

TEST_P(Sharing, AResponseWithoutALifetimeDoesNotStandInForAnAbsentOrigin) {
    says("/tagged", {ok("ETag: \"v\"\r\n")});
    says("/zero", {ok(control("max-age=0") + "ETag: \"v\"\r\n")});
    says("/allowed", {ok(control("max-age=0, stale-if-error=100") + "ETag: \"v\"\r\n")});
    for (const auto* path : {"/tagged", "/zero", "/allowed"}) get(path);
    origin.die();
    EXPECT_EQ(get("/tagged").status, 502u);
    EXPECT_EQ(get("/zero").status, 502u);
    EXPECT_EQ(get("/allowed").status, 200u);
}

TEST_P(Sharing, LimitsOfThisNodeDoNotMakeTheOriginUnreachable) {
    auto narrow = settings();
    narrow.limits.upstream_connections = 1;
    start(narrow);
    const auto stale = control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n";
    const auto allowed = control("max-age=50, stale-if-error=100") + "Age: 100\r\nETag: \"v\"\r\n";
    says("/stale", {ok(stale, "old")});
    says("/allowed", {ok(allowed, "old")});
    get("/stale");
    get("/allowed");
    Gate rest;
    const auto scripted = origin.set([&](Exchange& e) {
        rest.wait();
        e.answer("", "late");
    });
    auto holder = client();
    holder.begin("GET", target("/holds"));
    ASSERT_TRUE(rest.wait_for(1));
    const auto refused = get("/stale");
    EXPECT_EQ(refused.status, 503u);
    EXPECT_EQ(refused.cache_status(), "a; detail=busy");
    const auto stood_in = get("/allowed");
    EXPECT_EQ(stood_in.body, "old");
    EXPECT_EQ(stood_in.cache_status(), "a; hit; detail=busy");
    rest.open();
    EXPECT_EQ(holder.read().body, "late");
}

TEST_P(Sharing, ACookieOfA304IsForTheClientThatCausedIt) {
    const std::string stale = control("max-age=0") + "ETag: \"v\"\r\n";
    for (const auto share : {false, true}) {
        SCOPED_TRACE(share);
        auto node = settings();
        node.cache.rules.store_set_cookie = share;
        start(node);
        const auto path = share ? "/shared" : "/strict";
        says(path, {ok(stale),
                    not_modified(fresh("ETag: \"v\"\r\nSet-Cookie: sid=1\r\n"
                                       "Set-Cookie2: sid=2\r\n")),
                    ok(fresh(), "new")});
        get(path);
        const auto mine = get(path), others = get(path);
        EXPECT_EQ(asked(path), 2u);
        EXPECT_EQ(mine.field("Set-Cookie"), "sid=1");
        EXPECT_EQ(mine.field("Set-Cookie2"), "sid=2");
        EXPECT_EQ(lines(others.head, "Set-Cookie"), 0u) << others.head;
        EXPECT_EQ(lines(others.head, "Set-Cookie2"), 0u) << others.head;
        EXPECT_EQ(others.body, "text");
    }
}

TEST_P(Sharing, ACookieComesWithTheClients304Too) {
    const std::string stale = control("max-age=0") + "ETag: \"v\"\r\n";
    says("/page", {ok(stale), not_modified(stale + "Set-Cookie: sid=1\r\n")});
    get("/page");
    const auto mine = get("/page", "If-None-Match: \"v\"\r\n");
    EXPECT_EQ(mine.status, 304u);
    EXPECT_EQ(mine.field("Set-Cookie"), "sid=1");
}

TEST_P(Sharing, ACookieOfAHeadIsForTheClientThatCausedIt) {
    const auto stored = control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n";
    says("/page", {ok(stored), "HTTP/1.1 200 OK\r\n" +
                                   fresh("ETag: \"v\"\r\nX-New: 1\r\n"
                                         "Set-Cookie: sid=1\r\n") +
                                   "\r\n"});
    get("/page");
    EXPECT_EQ(ask("HEAD", "/page").field("Set-Cookie"), "sid=1");
    const auto hit = get("/page");
    EXPECT_EQ(hit.field("X-New"), "1");
    EXPECT_EQ(lines(hit.head, "Set-Cookie"), 0u);
    EXPECT_EQ(asked("/page"), 2u);
}

}  // namespace semantics_sharing_test
}  // namespace proxy::test
