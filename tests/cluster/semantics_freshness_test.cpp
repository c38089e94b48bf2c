#include <cstdlib>
#include <thread>

#include "tests/cluster/semantics.hpp"

// The time for which a stored response may be used: age, lifetime, stale answers, directives of
// both sides.

namespace proxy::test {
namespace semantics_freshness_test {

using namespace std::chrono_literals;

class Freshness : public SemanticsTest {
protected:
    /// With targets of an entry of `origins`, in every form of requests.
    Config acting_for_the_origin() const {
        auto result = settings();
        result.origins = {{"*", {"127.0.0.1", origin.port()}}};
        return result;
    }
    /// Stores `answer` and asks again: the hit.
    Answer hit(const std::string& path, const std::string& answer) {
        says(path, {answer});
        get(path);
        auto second = get(path);
        EXPECT_EQ(asked(path), 1u) << answer;
        return second;
    }
    /// The answer that follows a stale one, when the origin does `then`.
    Answer after(const std::string& path, const std::string& stored, const std::string& then,
                 std::string_view fields = {}) {
        says(path, {stored, then});
        get(path);
        auto second = get(path, fields);
        EXPECT_EQ(asked(path), 2u) << stored;
        return second;
    }
};
HEARSAY_IN_BOTH_MODES(Freshness);

long age_of(const Answer& answer) {
    EXPECT_EQ(lines(answer.head, "Age"), 1u) << answer.head;
    return std::atol(answer.field("Age").c_str());
}

std::string control(std::string_view directives) {
    return "Cache-Control: " + std::string(directives) + "\r\n";
}

// 3, 22, 40, RFC 9111 §4.2.3, §5.1
TEST_P(Freshness, SendsOneAgeThatCountsOnFromTheOneReceived) {
    struct Aged {
        const char* name;
        std::string fields;
        long least;
    };
    for (const auto& each :
         std::vector<Aged>{{"none", "", 0},
                           {"received", "Age: 30\r\n", 30},
                           {"by-date", "Date: " + date(-40s) + "\r\n", 40},
                           {"age-older", "Date: " + date(-10s) + "\r\nAge: 30\r\n", 30}}) {
        SCOPED_TRACE(each.name);
        const auto age = age_of(hit("/" + std::string(each.name), ok(fresh(each.fields))));
        EXPECT_GE(age, each.least);
        EXPECT_LE(age, each.least + 15);  // a slow machine's tests
    }
}

TEST_P(Freshness, PassesTheAgeOfAnAnswerThatAnotherCacheGave) {  // 3
    says("/aged", {ok(control("no-store") + "Age: 30\r\n")});
    EXPECT_GE(age_of(get("/aged")), 30);
    EXPECT_EQ(lines(get("/unaged").head, "Age"), 0u);
}

TEST_P(Freshness, CountsTheTimeThatTheRequestTook) {  // 22, RFC 9111 §4.2.3
    const auto scripted = origin.set([](Exchange& e) {
        std::this_thread::sleep_for(1100ms);
        e.answer(fresh("Age: 30\r\n"), "text");
    });
    EXPECT_GE(age_of(get("/slow")), 31);
    EXPECT_GE(age_of(get("/slow")), 31);
    EXPECT_EQ(origin.requests(), 1u);
}

// 4, RFC 9111 §4
TEST_P(Freshness, SendsDateAndExpiresAsReceived) {
    const auto given = "Date: " + date(-20s) + "\r\nExpires: " + date(100s) + "\r\n";
    EXPECT_TRUE(contains(hit("/fix", ok(given)).head, given));
    const auto odd = "Expires: Thu, 01-Jan-1970 00:00:00 +0000\r\nDate: not so long ago\r\n";
    EXPECT_TRUE(contains(hit("/odd", ok(fresh(odd))).head, odd));
    const auto zero = "Expires: 0\r\n";
    const auto answer = hit("/zero", ok(fresh(zero)));
    EXPECT_TRUE(contains(answer.head, zero));
    EXPECT_EQ(lines(answer.head, "Expires"), 1u);
}

TEST_P(Freshness, GivesAHitTheDateOfItsReceipt) {  // 4, RFC 9110 §6.6.1
    says("/undated", {ok(fresh())});
    const auto first = get("/undated").field("Date");
    EXPECT_FALSE(first.empty());
    EXPECT_TRUE(eventually([&] { return age_of(get("/undated")) >= 1; }));
    EXPECT_EQ(get("/undated").field("Date"), first);
    EXPECT_EQ(asked("/undated"), 1u);
}

// 20, 25, RFC 9111 §4.2.1
TEST_P(Freshness, PrefersTheMoreSpecificLifetime) {
    const auto past = "Expires: " + date(-100s) + "\r\n",
               future = "Expires: " + date(100s) + "\r\n";
    const auto old = "Last-Modified: " + date(-24000h) + "\r\n", aged = std::string("Age: 50\r\n");
    expect_reuse({
        {"s-maxage-short", control("s-maxage=20, max-age=100") + aged, false},
        {"s-maxage-long", control("max-age=20, s-maxage=100") + aged, true},
        {"s-maxage-expires", control("s-maxage=100") + past, true},
        {"max-age-past", control("max-age=100") + past, true},
        {"expires", future, true},
        {"expires-past", past, false},
        {"expires-before-guess", past + old, false},
        {"guess", old, true},
        {"immutable", control("max-age=100, immutable") + aged, true},  // RFC 8246
        {"immutable-stale", control("immutable, max-age=20") + aged, false},
        {"twice", control("max-age=20, max-age=100") + aged, false},
    });
}

// 21, RFC 9111 §4.2.1, RFC 9110 §6.6.1
TEST_P(Freshness, CountsExpiresFromTheDateOfTheAnswer) {
    const auto both = [](std::chrono::seconds dated, std::chrono::seconds expires) {
        return "Date: " + date(dated) + "\r\nExpires: " + date(expires) + "\r\n";
    };
    expect_reuse({
        {"together", both(0s, 100s), true},
        {"ahead", both(10000s, 10100s), true},
        {"ahead-same", both(10000s, 10000s), false},
        {"behind", both(-10000s, -9000s), false},  // its Date makes it that old
        {"undated", "Expires: " + date(100s) + "\r\n", true},
        {"broken-date", "Date: yesterday\r\nExpires: " + date(100s) + "\r\n", true},
        {"aged", both(0s, 100s) + "Age: 100\r\n", false},  // 22
    });
}

// 22, 23, 24, RFC 9111 §1.2.2, §4.2.1, §4.2.3
TEST_P(Freshness, ReadsNumbersStrictlyAndLetsHugeOnesSaturate) {
    const auto malformed = [](const char* name, const char* text) {
        return ReuseCase{name, control(text), false};
    };
    expect_reuse({
        {"aged-equal", control("max-age=50") + "Age: 50\r\n", false},
        {"aged-less", control("max-age=100") + "Age: 50\r\n", true},
        {"100-digits", control("max-age=" + std::string(100, '9')), true},
        {"old-2^64", control("max-age=1000") + "Age: 18446744073709551617\r\n", false},
        {"quoted", control("max-age=\"100\""), true},  // RFC 9111 §5.2: both forms are taken
        malformed("negative", "max-age=-100"),
        {"semicolon", control("max-age=100; public"), true},  // read as a comma, as nginx does
    });
}

// 26, RFC 9110 §5.6.7, RFC 9111 §5.3
TEST_P(Freshness, TakesThreeFormsOfDatesAndTwoPlainSlipsForExpires) {
    const auto expires = [](const char* name, const std::string& text, bool reused) {
        return ReuseCase{name, "Expires: " + text + "\r\n", reused};
    };
    const auto soon = date(3600s);
    expect_reuse({
        expires("fixdate", soon, true),
        expires("rfc850", "Thursday, 18-Aug-50 02:01:18 GMT", true),
        expires("asctime", "Thu Aug 18 02:01:18 2050", true),
        expires("zero", "0", false),
        expires("aest", "Thu, 18 Aug 2050 02:01:18 AEST", false),
        expires("offset", "Thu, 18 Aug 2050 02:01:18 +0000", true),
        expires("one-digit-day", "Tue, 2 Aug 2050 02:01:18 GMT", true),
        {"lines-same", "Expires: " + soon + "\r\nExpires: " + soon + "\r\n", true},
        {"lines-differ", "Expires: " + soon + "\r\nExpires: " + date(7200s) + "\r\n", false},
    });
}

// 27, RFC 9111 §4.2.2, RFC 9110 §15.1
TEST_P(Freshness, GuessesALifetimeOnlyWhereItMay) {
    const auto modified = "Last-Modified: " + date(-2400h) + "\r\n";
    const auto check = [&](unsigned status, const std::string& fields, const char* kind) {
        const auto path = "/" + std::to_string(status) + kind;
        return reused(path, reply(std::to_string(status) + " X", fields));
    };
    for (const auto status : {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}) {
        EXPECT_TRUE(check(status, modified, "")) << status;
        EXPECT_FALSE(check(status, control("max-age=0") + modified, "-explicit")) << status;
    }
    for (const auto status :
         {201, 202, 205, 299, 302, 303, 307, 400, 403, 418, 500, 502, 503, 504, 599}) {
        EXPECT_FALSE(check(status, modified, "")) << status;
        EXPECT_TRUE(check(status, control("public") + modified, "-public")) << status;
    }
}

TEST_P(Freshness, GuessesATenthOfTheTimeSinceLastModifiedUpToADay) {  // 27
    const auto modified = [](std::chrono::seconds ago, long age) {
        return "Date: " + date(0s) + "\r\nLast-Modified: " + date(-ago) +
               "\r\nAge: " + std::to_string(age) + "\r\n";
    };
    expect_reuse({
        {"within", modified(1000s, 50), true},
        {"beyond", modified(1000s, 150), false},
        {"over-a-day", modified(240000h, 86500), false},
    });
}

TEST_P(Freshness, GuessesAsConfigured) {  // 27
    const auto modified = [](long age) {
        return ok("Date: " + date(0s) + "\r\nLast-Modified: " + date(-1000s) +
                  "\r\nAge: " + std::to_string(age) + "\r\n");
    };
    auto settings_of_guesses = settings();
    settings_of_guesses.cache.rules.heuristic_fraction = 0.5;
    settings_of_guesses.cache.rules.heuristic_maximum = 300s;
    start(settings_of_guesses);
    EXPECT_TRUE(reused("/within", modified(200)));
    EXPECT_FALSE(reused("/beyond", modified(350)));
    settings_of_guesses.cache.rules.heuristic_fraction = 0;
    start(settings_of_guesses);
    EXPECT_FALSE(reused("/never", modified(0)));
}

// 28
TEST_P(Freshness, DoesNotReuseWhatHasNeitherLifetimeNorValidator) {
    expect_reuse({{"nothing", "X-Nothing: 1\r\n", false},
                  {"dated", "Date: " + date(0s) + "\r\n", false},
                  {"public", control("public"), false},
                  {"tag-only", "ETag: \"v\"\r\n", false}});  // stored, but validated
    EXPECT_EQ(field_of(requests("/tag-only").back(), "If-None-Match"), "\"v\"");
}

// 29, RFC 9213 §2
TEST_P(Freshness, PutsCdnCacheControlInPlaceOfCacheControlAndExpires) {
    start(acting_for_the_origin());
    const auto both = [](std::string_view general, std::string_view targeted) {
        return control(general) + "CDN-Cache-Control: " + std::string(targeted) + "\r\n";
    };
    const auto past = "Expires: " + date(-100s) + "\r\n",
               future = "Expires: " + date(100s) + "\r\n";
    expect_reuse({
        {"longer", both("max-age=0", "max-age=100") + past, true},
        {"shorter", both("max-age=100", "max-age=0") + future, false},
        {"over-no-store", both("no-store", "max-age=100"), true},
        {"over-private", both("private, max-age=0", "max-age=100"), true},
        {"no-store", both("max-age=100", "no-store"), false},
        {"alone", "CDN-Cache-Control: max-age=100\r\n", true},
        {"last-counts", both("max-age=0", "max-age=0, max-age=100"), true},
        {"broken", both("max-age=100", "max-age=0, ="), true},
        {"wrong-type", both("max-age=100", "max-age=\"0\""), true},
    });
    EXPECT_EQ(hit("/passed", ok(both("no-store", "max-age=100"))).field("CDN-Cache-Control"),
              "max-age=100");
}

// 29, RFC 9213 §3.1: a forward proxy acts for its clients.
TEST_P(Freshness, HeedsCdnCacheControlOnlyWhereItActsForTheOrigin) {
    const auto acts = GetParam() == Mode::reverse;
    const std::string targeted = "CDN-Cache-Control: max-age=100\r\n";
    for (const auto* general : {"private, no-store", "private", "no-store", "max-age=0"}) {
        const auto path = "/" + std::to_string(origin.requests());
        EXPECT_EQ(reused(path, ok(control(general) + targeted)), acts) << general;
    }
    EXPECT_EQ(reused("/public", ok(fresh("CDN-Cache-Control: no-store\r\n"))), !acts);
    says("/merged", {ok(control("max-age=0") + "ETag: \"v\"\r\n"),
                     not_modified(control("private") + targeted), ok(fresh(), "new")});
    get("/merged");
    get("/merged");
    EXPECT_EQ(get("/merged").body, acts ? "text" : "new");
}

TEST_P(Freshness, ReadsCdnCacheControlOnlyWhereConfigured) {  // 29
    auto deaf = acting_for_the_origin();
    deaf.cache.rules.cdn_cache_control = false;
    start(deaf);
    EXPECT_FALSE(reused("/no", ok(control("no-store") + "CDN-Cache-Control: max-age=100\r\n")));
    EXPECT_TRUE(reused("/yes", ok(fresh("CDN-Cache-Control: no-store\r\n"))));
}

// 30, RFC 9111 §4.2.4, §5.2.2.2
TEST_P(Freshness, AnswersWithAnErrorWhereStaleIsForbiddenAndTheOriginIsAway) {
    const auto tag = std::string("ETag: \"v\"\r\nAge: 100\r\n");
    const std::vector<std::string> directives{"max-age=50, must-revalidate",
                                              "max-age=50, Proxy-Revalidate",
                                              "s-maxage=50",
                                              "max-age=500, no-cache",
                                              "max-age=50, s-maxage=60",
                                              "NO-CACHE",
                                              "max-age=50, must-revalidate, stale-if-error=1000"};
    for (std::size_t i = 0; i < directives.size(); ++i) {
        const auto path = "/" + std::to_string(i);
        SCOPED_TRACE(directives[i]);
        says(path,
             {ok(control(directives[i]) + tag), reply("503 Service Unavailable", "", "broken")});
        get(path);
        const auto broken = get(path);  // an error of the origin is passed on
        EXPECT_EQ(broken.status, 503u);
        EXPECT_EQ(broken.body, "broken");
        says(path + "x", {ok(control(directives[i]) + tag)});
        get(path + "x");
    }
    origin.die();
    for (std::size_t i = 0; i < directives.size(); ++i) {
        SCOPED_TRACE(directives[i]);
        auto connection = client();
        const auto answer = connection.get(target("/" + std::to_string(i) + "x"));
        EXPECT_EQ(answer.status, 502u);
        EXPECT_TRUE(answer.complete);
        EXPECT_FALSE(answer.body.empty());
        EXPECT_FALSE(answer.field("Content-Length").empty());
        EXPECT_FALSE(answer.field("Date").empty());
        EXPECT_EQ(connection.get(target("/none")).status, 502u);  // the connection goes on
    }
}

TEST_P(Freshness, Answers504WhenTheOriginSaysNothingInTime) {  // 30
    auto hasty = settings();
    hasty.timeouts.origin_head = 50ms;
    start(hasty);
    Gate never;
    says("/silent", {ok(control("max-age=50, must-revalidate") + "Age: 100\r\nETag: \"v\"\r\n")});
    get("/silent");
    const auto scripted = origin.set([&](Exchange&) { never.wait(); });
    const auto answer = get("/silent");
    EXPECT_EQ(answer.status, 504u);
    EXPECT_TRUE(answer.complete);
    never.open();
}

// 31, RFC 9111 §4.2.4, RFC 5861 §4
TEST_P(Freshness, ServesStaleWhenTheOriginIsAwayAndNothingForbidsIt) {
    says("/stale", {ok(control("max-age=50") + "Age: 100\r\n", "old")});
    says("/window", {ok(control("max-age=50, stale-if-error=100") + "Age: 100\r\n", "old")});
    says("/past", {ok(control("max-age=50, stale-if-error=20") + "Age: 100\r\nETag: \"v\"\r\n")});
    says("/useless", {ok(control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n", "old")});
    for (const auto* path : {"/stale", "/window", "/past", "/useless"}) get(path);
    origin.die();
    for (const auto* path : {"/window", "/useless"}) {
        const auto answer = get(path);
        EXPECT_EQ(answer.status, 200u) << path;
        EXPECT_EQ(answer.body, "old");
        EXPECT_GE(age_of(answer), 100);
        EXPECT_TRUE(contains(answer.cache_status(), "fwd=stale")) << answer.cache_status();
        EXPECT_EQ(lines(answer.head, "Warning"), 0u);  // 43
    }
    EXPECT_EQ(get("/past").status, 502u);
    for (const auto* fields : {"Cache-Control: no-cache\r\n", "Cache-Control: max-age=0\r\n",
                               "Cache-Control: min-fresh=1\r\n", "Pragma: no-cache\r\n"})
        EXPECT_EQ(get("/window", fields).status, 502u) << fields;
}

TEST_P(Freshness, ServesAStaleHeadWhereAGetWouldGetTheResponse) {  // RFC 5861 §4
    const auto old = ok(control("max-age=50, stale-if-error=100") + "Age: 100\r\n", "old text");
    says("/error", {old, "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"});
    says("/out", {ok(control("max-age=50, stale-if-error=20") + "Age: 100\r\n"),
                  "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"});
    says("/down", {old});
    for (const auto* path : {"/error", "/out", "/down"}) EXPECT_EQ(get(path).status, 200u);
    const auto stale = ask("HEAD", "/error");
    EXPECT_EQ(stale.status, 200u);
    EXPECT_EQ(stale.field("Content-Length"), "8");
    EXPECT_TRUE(contains(stale.cache_status(), "fwd=stale; fwd-status=503"));
    EXPECT_EQ(ask("HEAD", "/out").status, 503u);
    EXPECT_EQ(ask("HEAD", "/error", "If-Match: \"v\"\r\n").status, 503u);
    origin.die();
    EXPECT_EQ(ask("HEAD", "/down").status, 200u);
    EXPECT_EQ(ask("HEAD", "/out").status, 502u);
}

TEST_P(Freshness, ServesNothingStaleWhereConfigured) {  // 31
    auto strict = settings();
    strict.cache.rules.stale_when_unreachable = 0s;
    start(strict);
    says("/stale", {ok(control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n")});
    says("/window", {ok(control("max-age=50, stale-if-error=100") + "Age: 100\r\n")});
    for (const auto* path : {"/stale", "/window"}) get(path);
    origin.die();
    EXPECT_EQ(get("/stale").status, 502u);
    EXPECT_EQ(get("/window").status, 200u);  // the origin has said so itself
}

TEST_P(Freshness, ServesStaleInPlaceOfAServerErrorOnlyWithinStaleIfError) {  // 31
    for (const auto* status : {"500 X", "502 X", "503 X", "504 X"}) {
        SCOPED_TRACE(status);
        const auto error = reply(status, "", "broken");
        const auto path = "/" + std::string(status, 3);
        const auto stale = [](const char* directives) {
            return ok(control(directives) + "Age: 100\r\nETag: \"v\"\r\n", "old");
        };
        EXPECT_EQ(after(path + "in", stale("max-age=50, stale-if-error=100"), error).body, "old");
        EXPECT_EQ(after(path + "case", stale("Stale-If-Error=100, max-age=50"), error).body, "old");
        EXPECT_EQ(after(path + "out", stale("max-age=50, stale-if-error=20"), error).body,
                  "broken");
        EXPECT_EQ(after(path + "bad", stale("max-age=50, stale-if-error=x"), error).body, "broken");
        EXPECT_EQ(after(path + "none", stale("max-age=50"), error).body, "broken");
    }
    for (const auto* status : {"400 X", "404 X", "410 X", "501 X", "505 X"}) {
        const auto path = "/" + std::string(status, 3);
        EXPECT_EQ(
            after(path,
                  ok(control("max-age=50, stale-if-error=100") + "Age: 100\r\nETag: \"v\"\r\n"),
                  reply(status, "", "broken"))
                .body,
            "broken")
            << status;
    }
}

TEST_P(Freshness, ServesStaleWhenTheOriginBreaksOffButNotWhenItTalksNonsense) {  // 31
    const auto tagged = [](const char* directives) {
        return ok(control(directives) + "Age: 100\r\nETag: \"v\"\r\n", "old");
    };
    says("/nonsense", {tagged("max-age=50"), "NONSENSE\r\n\r\n"});
    get("/nonsense");
    EXPECT_EQ(get("/nonsense").status, 502u) << "it can be reached";
    says("/allowed", {tagged("max-age=50, stale-if-error=100"), "NONSENSE\r\n\r\n"});
    get("/allowed");
    EXPECT_EQ(get("/allowed").body, "old");
    const auto stored = tagged("max-age=50");
    says("/cut", {stored});
    get("/cut");
    const auto scripted = origin.set([](Exchange& e) {
        e.send("HTTP/1.1 200");
        e.keep = false;
    });
    EXPECT_EQ(get("/cut").body, "old");
}

// 32, RFC 5861 §3
TEST_P(Freshness, ServesStaleAndRefreshesOnceBehindTheAnswer) {
    Gate refresh;
    std::atomic<int> fetches = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto number = ++fetches;
        if (number == 2) refresh.wait();
        e.answer(number == 1 ? control("max-age=50, stale-while-revalidate=100") + "Age: 100\r\n"
                             : control("no-cache") + "ETag: \"v\"\r\n",
                 std::to_string(number));
    });
    EXPECT_EQ(get("/swr").body, "1");
    for (int i = 0; i < 3; ++i) {
        const auto stale = get("/swr");
        EXPECT_EQ(stale.body, "1");
        EXPECT_GE(age_of(stale), 100);
        EXPECT_EQ(lines(stale.head, "Warning"), 0u);
    }
    ASSERT_TRUE(refresh.wait_for(1));
    EXPECT_EQ(fetches, 2);
    refresh.open();
    EXPECT_TRUE(eventually([&] { return get("/swr").body != "1"; }));
    const auto then = fetches.load();  // what came says no-cache: that counts from here on
    get("/swr");
    EXPECT_EQ(fetches, then + 1);
}

TEST_P(Freshness, WaitsForARefreshPastItsWindowOrWhereStaleIsForbidden) {  // 32
    for (const auto* directives :
         {"max-age=50, stale-while-revalidate=20", "max-age=50",
          "max-age=50, must-revalidate, stale-while-revalidate=100",
          "s-maxage=50, stale-while-revalidate=100", "max-age=50, stale-while-revalidate=x"}) {
        const auto path = "/" + std::to_string(origin.requests());
        EXPECT_EQ(after(path, ok(control(directives) + "Age: 100\r\n"), ok(fresh(), "new")).body,
                  "new")
            << directives;
    }
    EXPECT_EQ(
        after("/asked", ok(control("max-age=50, stale-while-revalidate=100") + "Age: 100\r\n"),
              ok(fresh(), "new"), control("no-cache"))
            .body,
        "new");
}

// 41, RFC 9111 §5.2.2.4
TEST_P(Freshness, ValidatesNoCacheBeforeEveryReuse) {
    for (const auto* directives : {"no-cache, max-age=100", "max-age=100, No-Cache", "NO-CACHE",
                                   "s-maxage=100, no-cache", "no-cache=\"\", max-age=100"}) {
        const auto path = "/" + std::to_string(origin.requests());
        SCOPED_TRACE(directives);
        const auto tagged = control(directives) + "ETag: \"v\"\r\n";
        says(path, {ok(tagged), not_modified(tagged)});
        for (const auto round : {1u, 2u, 3u}) {
            EXPECT_EQ(get(path).body, "text");
            EXPECT_EQ(asked(path), round);
        }
        EXPECT_EQ(field_of(requests(path).back(), "If-None-Match"), "\"v\"");
    }
}

TEST_P(Freshness, ReusesNoCacheWithNamesWithoutThoseFields) {  // 41
    const auto answer = hit("/named", ok(control("no-cache=\"X-Mine, set-cookie\", max-age=100") +
                                         "X-Mine: 1\r\nSet-Cookie: a=1\r\nX-Ours: 1\r\n"));
    EXPECT_EQ(lines(answer.head, "X-Mine"), 0u);
    EXPECT_EQ(lines(answer.head, "Set-Cookie"), 0u);
    EXPECT_EQ(lines(answer.head, "X-Ours"), 1u);
}

// 42, 43, RFC 9111 §5.2.1, §5.4
TEST_P(Freshness, ObeysDirectivesOfRequests) {
    const auto fresh_50 = control("max-age=100") + "Age: 50\r\nETag: \"v\"\r\n";
    const auto stale_50 = control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n";
    const auto never = control("max-age=50, must-revalidate") + "Age: 100\r\nETag: \"v\"\r\n";
    expect_reuse({
        {"no-cache", fresh_50, false, "", control("no-cache")},
        {"max-age-zero", fresh_50, false, "", control("max-age=0")},
        {"max-age-less", fresh_50, false, "", control("max-age=20")},
        {"max-age-more", fresh_50, true, "", control("max-age=80")},
        {"min-fresh-more", fresh_50, false, "", control("min-fresh=80")},
        {"stale", stale_50, false},
        {"max-stale", stale_50, true, "", control("max-stale=80")},
        {"max-stale-less", stale_50, false, "", control("max-stale=20")},
        {"max-stale-forbidden", never, false, "", control("max-stale=80")},
        {"max-stale-max-age", stale_50, false, "", control("max-stale=80, max-age=90")},
        {"only-if-cached", fresh_50, true, "", control("only-if-cached")},
        {"pragma", fresh_50, false, "", "Pragma: no-cache\r\n"},
        {"pragma-with-control", fresh_50, true, "", "Pragma: no-cache\r\n" + control("max-age=80")},
        {"pragma-in-answer", fresh_50 + "Pragma: no-cache\r\n", true},
    });
    for (const auto* path : {"/no-cache", "/max-age-zero", "/pragma"})
        EXPECT_EQ(field_of(requests(path).back(), "If-None-Match"), "\"v\"") << path;
}

TEST_P(Freshness, Answers504ToOnlyIfCachedWithoutAskingTheOrigin) {  // 42, RFC 9111 §5.2.1.7
    EXPECT_EQ(get("/absent", control("only-if-cached")).status, 504u);
    EXPECT_EQ(asked("/absent"), 0u);
    says("/stale", {ok(control("max-age=50") + "Age: 100\r\nETag: \"v\"\r\n")});
    get("/stale");
    EXPECT_EQ(get("/stale", control("Only-If-Cached")).status, 504u);
    EXPECT_EQ(ask("HEAD", "/stale", control("only-if-cached")).status, 504u);
    EXPECT_EQ(get("/stale", control("only-if-cached, max-stale")).status, 200u);
    EXPECT_EQ(asked("/stale"), 1u);
}

TEST_P(Freshness, KeepsANoStoreRequestOutOfTheStore) {  // 42, RFC 9111 §5.2.1.5
    says("/kept", {ok(fresh(), "old"), ok(fresh(), "new")});
    get("/kept");
    get("/kept", control("no-store"));    // whatever it is answered with,
    EXPECT_EQ(get("/kept").body, "old");  // nothing of it is stored
}

TEST_P(Freshness, ShieldsTheOriginFromReloadsWhereConfigured) {  // 42
    auto shielded = settings();
    shielded.cache.client_directives = ClientDirectives::shield;
    start(shielded);
    get("/one");
    for (const auto* fields : {"Cache-Control: no-cache\r\n", "Cache-Control: max-age=0\r\n",
                               "Pragma: no-cache\r\n", "Cache-Control: min-fresh=5000\r\n"})
        EXPECT_EQ(get("/one", fields).status, 200u);
    EXPECT_EQ(asked("/one"), 1u);
    EXPECT_FALSE(
        reused("/stale", ok(control("max-age=50") + "Age: 100\r\n"), "", control("max-stale")));
    EXPECT_EQ(get("/two", control("only-if-cached")).status, 504u);  // this costs no origin
}

// 43, RFC 9111 §5.5
TEST_P(Freshness, MakesNoWarning) {
    EXPECT_EQ(lines(hit("/stale", ok(control("max-age=500") + "Age: 100\r\n")).head, "Warning"),
              0u);
    says("/refreshed", {ok(control("max-age=0") + "ETag: \"v\"\r\n"), not_modified("")});
    get("/refreshed");
    EXPECT_EQ(lines(get("/refreshed").head, "Warning"), 0u);
}

}  // namespace semantics_freshness_test
}  // namespace proxy::test
