#include "tests/cluster/semantics.hpp"

// Validation in both directions, the changes by a 304 or a HEAD, and the copy that POST leaves for
// GET.

namespace proxy::test {
namespace semantics_validation_test {

using namespace std::chrono_literals;

class Validation : public SemanticsTest {};
HEARSAY_IN_BOTH_MODES(Validation);

const std::string kStale = "Cache-Control: max-age=50\r\nAge: 100\r\n";
const std::string kModified = "Sat, 01 Jan 2000 00:00:00 GMT";

// 33, RFC 9111 §4.3.1
TEST_P(Validation, SendsTheStoredValidatorsUnchanged) {
    for (const auto* tag :
         {"\"v\"", "W/\"v\"", "\"a,b\"", "\"\"", "\"a\\b\"", "W/\"\xc3\xa9\"", "bare"}) {
        SCOPED_TRACE(tag);
        says("/tag", {ok(kStale + "ETag: " + tag + "\r\n"),
                      not_modified("ETag: " + std::string(tag) + "\r\n")});
        get("/tag");
        EXPECT_EQ(get("/tag").status, 200u);
        EXPECT_EQ(field_of(requests("/tag").back(), "If-None-Match"), tag);
        EXPECT_EQ(lines(requests("/tag").back(), "If-Modified-Since"), 0u);
        ask("DELETE", "/tag");
    }
    for (const auto* modified : {"Sat, 01 Jan 2000 00:00:00 GMT",
                                 "Saturday, 01-Jan-00 00:00:00 GMT", "Sat Jan  1 00:00:00 2000"}) {
        SCOPED_TRACE(modified);
        says("/date", {ok(kStale + "Last-Modified: " + modified + "\r\n"), not_modified("")});
        get("/date");
        EXPECT_EQ(get("/date").status, 200u);
        EXPECT_EQ(field_of(requests("/date").back(), "If-Modified-Since"), modified);
        EXPECT_EQ(lines(requests("/date").back(), "If-None-Match"), 0u);
        ask("DELETE", "/date");
    }
    says("/both", {ok(kStale + "ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n")});
    get("/both");
    get("/both");
    EXPECT_EQ(field_of(requests("/both").back(), "If-None-Match"), "\"v\"");
    EXPECT_EQ(field_of(requests("/both").back(), "If-Modified-Since"), kModified);
}

TEST_P(Validation, SendsWhatVaryNamesAndItsOwnConditionInPlaceOfTheClients) {  // 33
    says("/vary", {ok(kStale + "Vary: X, Accept-Language\r\nETag: \"v\"\r\n"), not_modified("")});
    get("/vary", "X: 1\r\nAccept-Language: EN, de\r\n");
    get("/vary", "X: 1\r\nAccept-Language: EN, de\r\nIf-None-Match: \"w\"\r\nIf-Modified-Since: " +
                     kModified + "\r\n");
    const auto head = requests("/vary").back();
    EXPECT_EQ(field_of(head, "X"), "1");
    EXPECT_EQ(field_of(head, "Accept-Language"), "EN, de");
    EXPECT_EQ(field_of(head, "If-None-Match"), "\"v\"");
    EXPECT_EQ(lines(head, "If-None-Match"), 1u);
    EXPECT_EQ(lines(head, "If-Modified-Since"), 0u);
}

struct Conditional {
    std::string fields;
    bool matches;
};

// 34, RFC 9111 §4.3.2, RFC 9110 §13.1
TEST_P(Validation, AnswersConditionsFromWhatIsFresh) {
    const auto none = [](const char* tags) {
        return "If-None-Match: " + std::string(tags) + "\r\n";
    };
    const auto since = [](const std::string& when) {
        return "If-Modified-Since: " + when + "\r\n";
    };
    says("/strong", {ok(fresh("ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n"))});
    get("/strong");
    for (const auto& each : std::vector<Conditional>{
             {none("\"v\""), true},
             {none("W/\"v\""), true},
             {none("\"a\", \"v\", \"b\""), true},
             {none("\"a\"\r\nIf-None-Match: \"v\""), true},
             {none("*"), true},
             {none("\"w\""), false},
             {since(kModified), true},
             {since("Sun, 02 Jan 2000 00:00:00 GMT"), true},
             {since("Fri, 31 Dec 1999 23:59:59 GMT"), false},
             {since("0"), false},
             {none("\"v\"") + since("Fri, 31 Dec 1999 23:59:59 GMT"), true},
             {none("\"w\"") + since("Sun, 02 Jan 2000 00:00:00 GMT"), false},
             {since("Sun, 02 Jan 2000 00:00:00 GMT") + none("\"w\""), false}}) {
        SCOPED_TRACE(each.fields);
        const auto answer = get("/strong", each.fields);
        EXPECT_EQ(answer.status, each.matches ? 304u : 200u);
        EXPECT_EQ(answer.body, each.matches ? "" : "text");
        EXPECT_EQ(ask("HEAD", "/strong", each.fields).status, each.matches ? 304u : 200u);
    }
    EXPECT_EQ(asked("/strong"), 1u);

    says("/weak", {ok(fresh("ETag: W/\"v\"\r\n"))});
    get("/weak");
    for (const auto* tags : {"\"v\"", "W/\"v\"", "*"})
        EXPECT_EQ(get("/weak", none(tags)).status, 304u);
    EXPECT_EQ(get("/weak", none("W/\"w\"")).status, 200u);

    says("/untagged", {ok(fresh())});
    get("/untagged");
    EXPECT_EQ(get("/untagged", none("\"v\"")).status, 200u);
    EXPECT_EQ(get("/untagged", since(date(100s))).status, 304u);  // by its Date
    EXPECT_EQ(get("/untagged", since(date(-100s))).status, 200u);
    EXPECT_EQ(asked("/untagged"), 1u);
}

TEST_P(Validation, AnswersAConditionAfterItsOwnOnWhatIsStale) {  // 34
    const auto stored = kStale + "ETag: \"v\"\r\n";
    const auto none = [](const char* tags) {
        return "If-None-Match: " + std::string(tags) + "\r\n";
    };
    says("/same", {ok(stored), not_modified(stored)});
    get("/same");
    EXPECT_EQ(get("/same", none("\"v\"")).status, 304u);
    EXPECT_EQ(get("/same", none("\"w\"")).body, "text");
    EXPECT_EQ(asked("/same"), 3u);
    says("/changed", {ok(stored), ok(kStale + "ETag: \"w\"\r\n", "new")});
    get("/changed");
    EXPECT_EQ(get("/changed", none("\"v\"")).body, "new");
    EXPECT_EQ(get("/changed", none("\"w\"")).status, 304u);
}

TEST_P(Validation, NeverEvaluatesConditionsThatAreTheOrigins) {  // 34, RFC 9110 §13.1.1, §13.1.4
    says("/fresh", {ok(fresh("ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n"))});
    get("/fresh");
    for (const auto* fields : {"If-Match: \"w\"\r\n", "If-Match: *\r\n",
                               "If-Unmodified-Since: Fri, 31 Dec 1999 23:59:59 GMT\r\n"}) {
        EXPECT_EQ(get("/fresh", fields).status, 200u) << fields;
        says("/absent", {reply("412 Precondition Failed", "")});
        EXPECT_EQ(get("/absent", fields).status, 412u) << fields;
        EXPECT_TRUE(contains(requests("/absent").back(), fields)) << requests("/absent").back();
        const auto stale = "/stale" + std::to_string(origin.requests());
        says(stale, {ok(kStale + "ETag: \"v\"\r\n"), reply("412 Precondition Failed", "")});
        get(stale);
        EXPECT_EQ(get(stale, fields).status, 412u) << fields;
        EXPECT_TRUE(contains(requests(stale).back(), fields)) << requests(stale).back();
    }
    EXPECT_EQ(asked("/fresh"), 1u);
}

// 35, RFC 9110 §15.4.5
TEST_P(Validation, SendsA304WithTheFieldsOfThe200) {
    const std::string fields = "ETag: W/\"v\"\r\nDate: " + date(-10s) +
                               "\r\nCache-Control: max-age=1000, x=y\r\nExpires: " + date(100s) +
                               "\r\nVary: X\r\nVary: Y\r\nContent-Location: /there\r\n";
    says("/full", {ok(fields + "Content-Type: text/x\r\nX-Other: 1\r\n")});
    get("/full");
    const auto answer = get("/full", "If-None-Match: \"v\"\r\n");
    EXPECT_EQ(answer.status, 304u);
    EXPECT_TRUE(contains(answer.head, fields)) << answer.head;
    EXPECT_EQ(lines(answer.head, "Age"), 1u);
    for (const auto* name : {"Content-Length", "Transfer-Encoding", "Content-Type"})
        EXPECT_EQ(lines(answer.head, name), 0u) << name;
    auto connection = client();
    EXPECT_EQ(connection.get(target("/full"), "If-None-Match: *\r\n").status, 304u);
    EXPECT_EQ(connection.get(target("/full")).body, "text");  // no body came with it
}

TEST_P(Validation, NeverPassesA304OfItsOwnValidation) {  // 35
    const auto stored = ok(kStale + "ETag: \"v\"\r\n");
    says("/mine", {stored, not_modified("ETag: \"v\"\r\n")});
    get("/mine");
    EXPECT_EQ(get("/mine").status, 200u);
    EXPECT_EQ(ask("HEAD", "/mine").status, 200u);
    says("/unasked", {not_modified("ETag: \"v\"\r\n")});
    EXPECT_EQ(get("/unasked").status, 502u);
    says("/other", {ok("Cache-Control: max-age=50, must-revalidate\r\nAge: 100\r\nETag: \"v\"\r\n"),
                    not_modified("ETag: \"w\"\r\n"), ok(fresh("ETag: \"w\"\r\n"), "new")});
    get("/other");
    EXPECT_NE(get("/other").status, 304u);  // it speaks of a response that is not stored
    EXPECT_EQ(get("/other").body, "new");
}

// RFC 9111 §4.3.3
TEST_P(Validation, TakesA304WithTheStrongFormOfAWeakTag) {  // nginx, of what it compresses
    const std::string weak = "ETag: W/\"v\"\r\n";
    says("/gzip", {ok(kStale + weak), not_modified(kStale + "ETag: \"v\"\r\n")});
    get("/gzip");
    for (const auto round : {2u, 3u}) {
        const auto answer = get("/gzip");
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(answer.body, "text");
        EXPECT_EQ(answer.field("ETag"), "W/\"v\"");  // these bytes have no strong one
        EXPECT_EQ(asked("/gzip"), round);
        EXPECT_EQ(field_of(requests("/gzip").back(), "If-None-Match"), "W/\"v\"");
    }
}

TEST_P(Validation, AsksAgainWithoutConditionsWhereTheAnswerToThemMakesNoSense) {
    const auto stored = ok(kStale + "ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n", "old");
    const std::vector<std::string> odd{
        not_modified("ETag: \"w\"\r\n"),
        not_modified("ETag: v\r\n"),
        not_modified("Last-Modified: Sun, 02 Jan 2000 00:00:00 GMT\r\n"),
        reply("206 Partial Content", fresh("Content-Range: bytes 0-3/4\r\n")),
        reply("412 Precondition Failed", fresh()),
        reply("416 Range Not Satisfiable", fresh("Content-Range: bytes */4\r\n")),
        "NONSENSE\r\n\r\n"};
    for (const auto& answer : odd) {
        SCOPED_TRACE(answer);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {stored, answer, ok(fresh("ETag: \"w\"\r\n"), "new")});
        get(path);
        const auto fetched = get(path);
        EXPECT_EQ(fetched.status, 200u);
        EXPECT_EQ(fetched.body, "new");
        EXPECT_EQ(get(path).body, "new");
        EXPECT_EQ(asked(path), 3u);
        EXPECT_EQ(lines(requests(path).back(), "If-None-Match"), 0u);
        EXPECT_EQ(lines(requests(path).back(), "If-Modified-Since"), 0u);
    }
}

TEST_P(Validation, EndsWhatItsOriginForbidsToStoreNow) {
    const auto stored = ok(kStale + "ETag: \"v\"\r\n", "old");
    const std::string old_please = "Cache-Control: only-if-cached, max-stale\r\n";
    for (const auto& answer :
         {not_modified("Cache-Control: no-store\r\n"), not_modified("Cache-Control: private\r\n"),
          ok("Cache-Control: no-store\r\n", "new"), ok("Cache-Control: private\r\n", "new"),
          ok(fresh("Vary: *\r\n"), "new"), reply("410 Gone", "Cache-Control: no-store\r\n")}) {
        SCOPED_TRACE(answer);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {stored, answer});
        get(path);
        EXPECT_EQ(get(path, old_please).body, "old");
        get(path);
        EXPECT_EQ(get(path, old_please).status, 504u);
        EXPECT_EQ(asked(path), 2u);
    }
    // Nothing is said of the old response by an error that may pass.
    for (const auto* status : {"503 X", "429 X"}) {
        SCOPED_TRACE(status);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {stored, reply(status, "Cache-Control: no-store\r\n")});
        get(path);
        get(path);
        EXPECT_EQ(get(path, old_please).body, "old");
    }
    // After a refusal or a redirection it is of use only if the origin confirms it.
    for (const auto& answer :
         {reply("401 X", "Cache-Control: no-store\r\n"),
          reply("302 Found", "Cache-Control: no-store\r\nLocation: /login\r\n")}) {
        SCOPED_TRACE(answer);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {stored, answer, not_modified("ETag: \"v\"\r\n")});
        get(path);
        get(path);
        EXPECT_EQ(get(path, old_please).status, 504u);
        EXPECT_EQ(get(path).body, "old");
        EXPECT_EQ(asked(path), 3u);
    }
}

TEST_P(Validation, PassesA304ToTheClientWhoseConditionTheOriginAnswered) {  // 35
    says("/passed", {not_modified("ETag: \"v\"\r\nX: 1\r\n")});
    const auto answer = get("/passed", "Cache-Control: no-store\r\nIf-None-Match: \"v\"\r\n");
    EXPECT_EQ(answer.status, 304u);
    EXPECT_EQ(answer.field("X"), "1");
}

// 36, RFC 9111 §3.2, §4.3.4
TEST_P(Validation, MergesTheFieldsOfA304) {
    says("/merge",
         {ok(kStale +
             "ETag: \"v\"\r\nX-Old: kept\r\nX-Two: 1\r\nX-Two: 2\r\nX-Three: 1\r\n"
             "Content-Type: text/a\r\nExpires: 0\r\nDate: " +
             date(-100s) + "\r\n"),
          not_modified(
              "Date: " + date(-1s) +
              "\r\nETag: \"v\"\r\nCache-Control: max-age=100\r\nX-Two: new\r\nX-New: 1\r\n"
              "X-New: 2\r\nx-three: 3\r\nContent-Length: 99\r\nContent-Type: text/b\r\n"
              "Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: x\r\nProxy-Authenticate: x\r\n")});
    get("/merge");
    const auto merged = get("/merge"), hit = get("/merge");
    EXPECT_EQ(asked("/merge"), 2u);
    for (const auto* answer : {&merged, &hit}) {
        SCOPED_TRACE(answer->head);
        EXPECT_EQ(answer->status, 200u);
        EXPECT_EQ(answer->body, "text");
        const std::pair<const char*, std::string> expected[] = {{"X-Old", "kept"},
                                                                {"X-Two", "new"},
                                                                {"X-Three", "3"},
                                                                {"Content-Type", "text/b"},
                                                                {"Content-Length", "4"},
                                                                {"Cache-Control", "max-age=100"},
                                                                {"Date", ""},
                                                                {"ETag", "\"v\""},
                                                                {"Expires", "0"}};
        for (const auto& [name, value] : expected) {
            EXPECT_EQ(lines(answer->head, name), 1u) << name;
            EXPECT_TRUE(value.empty() || answer->field(name) == value) << name;
        }
        EXPECT_EQ(lines(answer->head, "X-New"), 2u);
        EXPECT_EQ(lines(answer->head, "Age"), 1u);
        EXPECT_LE(std::atol(answer->field("Age").c_str()), 20);
        for (const auto* name : {"X-Hop", "Keep-Alive", "Proxy-Authenticate"})
            EXPECT_EQ(lines(answer->head, name), 0u) << name;
    }
    EXPECT_EQ(merged.field("Date"), hit.field("Date"));
    EXPECT_GE(lines(merged.head, "Via"), 1u);
    EXPECT_EQ(lines(merged.head, "Via"), lines(hit.head, "Via"));
}

TEST_P(Validation, TakesTheNewLifetimeFromA304) {  // 36
    const auto tag = std::string("ETag: \"v\"\r\n");
    says("/shorter", {ok(kStale + tag), not_modified("Cache-Control: max-age=0\r\n" + tag)});
    says("/longer", {ok(kStale + tag), not_modified("Cache-Control: max-age=100\r\n")});
    says("/same", {ok(kStale + tag), not_modified("")});  // the stored 50 s, anew
    says("/aged", {ok(kStale + tag), not_modified("Age: 60\r\n" + tag)});
    says("/expires", {ok("Expires: " + date(-10s) + "\r\n" + tag),
                      not_modified("Expires: " + date(100s) + "\r\n")});
    says("/forbidden",
         {ok(kStale + tag), not_modified("Cache-Control: no-store\r\n"), ok(kStale + tag, "new")});
    for (const auto* path : {"/shorter", "/longer", "/same", "/aged", "/expires", "/forbidden"}) {
        get(path);
        EXPECT_EQ(get(path).body, "text") << path;
        EXPECT_EQ(asked(path), 2u) << path;
        get(path);
    }
    EXPECT_EQ(asked("/shorter"), 3u);
    EXPECT_EQ(asked("/longer"), 2u);
    EXPECT_EQ(asked("/same"), 2u);
    EXPECT_EQ(asked("/aged"), 3u);
    EXPECT_EQ(asked("/expires"), 2u);
    EXPECT_EQ(asked("/forbidden"), 3u);
}

// 37, RFC 9111 §4.3.3
TEST_P(Validation, ReplacesWhatAFullAnswerToAValidationBrings) {
    const auto tag = std::string("ETag: \"v\"\r\nX-Old: 1\r\n");
    for (const auto* status : {"200 OK", "404 Not Found", "410 Gone"}) {
        SCOPED_TRACE(status);
        const auto path = "/" + std::string(status, 3);
        says(path, {ok(kStale + tag, "old"), reply(status, fresh("ETag: \"w\"\r\n"), "new")});
        get(path);
        EXPECT_EQ(get(path).body, "new");
        const auto hit = get(path);
        EXPECT_EQ(hit.body, "new");
        EXPECT_EQ(hit.field("ETag"), "\"w\"");
        EXPECT_EQ(lines(hit.head, "X-Old"), 0u);
        EXPECT_EQ(asked(path), 2u);
    }
    says("/error", {ok(kStale + tag, "old"), reply("503 Service Unavailable", "", "broken"),
                    not_modified("")});
    get("/error");
    EXPECT_EQ(get("/error").status, 503u);
    EXPECT_EQ(get("/error").body, "old");  // it was not lost
    EXPECT_EQ(field_of(requests("/error").back(), "If-None-Match"), "\"v\"");
}

// 37, RFC 9111 §4.3.5
TEST_P(Validation, RefreshesAStoredGetByAHeadThatAgrees) {
    const auto stored =
        ok(kStale + "ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\nX-Old: 1\r\n");
    const auto says_head = [&](const std::string& path, const std::string& fields) {
        says(path, {stored, "HTTP/1.1 200 OK\r\n" + fields + "\r\n", ok(fresh(), "new")});
        get(path);
        const auto head = ask("HEAD", path);
        EXPECT_EQ(head.status, 200u);
        EXPECT_EQ(asked(path), 2u);
    };
    const auto validators = "ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n";
    for (const auto& [name, fields] : std::vector<std::pair<std::string, std::string>>{
             {"all", validators + "Content-Length: 4\r\n"}, {"validators", validators}}) {
        SCOPED_TRACE(name);
        says_head("/" + name, fresh("X-New: 1\r\n" + fields));
        const auto hit = get("/" + name);
        EXPECT_EQ(hit.body, "text");
        EXPECT_EQ(hit.field("X-New"), "1");
        EXPECT_EQ(hit.field("X-Old"), "1");
        EXPECT_EQ(hit.field("Content-Length"), "4");
        EXPECT_EQ(lines(hit.head, "Via"), 1u);
        EXPECT_EQ(asked("/" + name), 2u);
    }
}

// 37: a HEAD without validators, or with some of them, may be of another representation.
TEST_P(Validation, DoubtsAStoredGetAfterAHeadThatDoesNotRepeatItsValidators) {
    const auto stored = ok(kStale + "ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n", "old");
    for (const auto& fields :
         {std::string(), std::string("ETag: \"v\"\r\n"), "Last-Modified: " + kModified + "\r\n",
          std::string("Content-Length: 3\r\n")}) {
        SCOPED_TRACE(fields);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {stored, "HTTP/1.1 200 OK\r\n" + fresh(fields) + "\r\n", ok(fresh(), "new")});
        get(path);
        EXPECT_EQ(ask("HEAD", path).status, 200u);
        EXPECT_EQ(get(path).body, "new");
        EXPECT_EQ(asked(path), 3u);
    }
}

TEST_P(Validation, GivesOneClientsResponseToNobodyElseOnTheWordOfAHead) {
    const auto modified = "Last-Modified: " + kModified + "\r\n";
    const std::string tag = "ETag: \"v\"\r\n";
    for (const auto& stored : {tag, modified, "Cache-Control: no-cache\r\n" + tag,
                               "Cache-Control: max-age=0, must-revalidate\r\n" + tag,
                               "Cache-Control: max-age=0\r\n" + tag + modified}) {
        for (const auto& head : {std::string(), tag, modified, tag + modified}) {
            SCOPED_TRACE(stored + "and a HEAD with\n" + head);
            const auto path = "/" + std::to_string(origin.requests());
            says(path, {ok(stored, "for Alice"),
                        "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n" + head + "\r\n",
                        ok(fresh(), "for all")});
            EXPECT_EQ(get(path, "Cookie: who=alice\r\n").body, "for Alice");
            EXPECT_EQ(ask("HEAD", path).status, 200u);
            EXPECT_EQ(asked(path), 2u);
            EXPECT_EQ(get(path).body, "for all");
            EXPECT_EQ(asked(path), 3u);
        }
    }
}

TEST_P(Validation, TakesAHeadOfAnotherCodingForNothingThatTheStoredBytesHave) {
    const std::string tag = "ETag: \"v\"\r\n";
    for (const auto* other : {"Content-Encoding: gzip\r\n", "Content-Type: text/x\r\n"}) {
        SCOPED_TRACE(other);
        const auto path = "/" + std::to_string(origin.requests());
        says(path, {ok(kStale + tag + "Content-Type: text/plain\r\n"),
                    "HTTP/1.1 200 OK\r\n" + fresh(tag + other) + "\r\n", not_modified(fresh(tag))});
        get(path);
        EXPECT_EQ(ask("HEAD", path, "Accept-Encoding: gzip\r\n").status, 200u);
        for (int again = 0; again < 2; ++again) {
            const auto answer = get(path);
            EXPECT_EQ(answer.body, "text");
            EXPECT_EQ(answer.field("Content-Encoding"), "");
            EXPECT_EQ(answer.field("Content-Type"), "text/plain");
        }
        EXPECT_EQ(asked(path), 3u) << "the HEAD made it stale";
    }
}

TEST_P(Validation, EndsAStoredGetByAHeadThatForbidsToStoreIt) {
    for (const auto* forbidding : {"no-store", "private"}) {
        SCOPED_TRACE(forbidding);
        const auto path = "/" + std::string(forbidding);
        says(path,
             {ok("Cache-Control: max-age=50, stale-if-error=1000\r\nAge: 100\r\nETag: \"v\"\r\n"),
              reply("200 OK", "Cache-Control: " + std::string(forbidding) + "\r\n"),
              reply("503 X", "", "down")});
        get(path);
        EXPECT_EQ(ask("HEAD", path).status, 200u);
        EXPECT_EQ(get(path).body, "down");
    }
}

// 36: a 304 for one client, about a response that was stored for another.
TEST_P(Validation, KeepsPersonalWhatA304GivesALifetime) {
    says("/page", {ok("ETag: \"v\"\r\n"), not_modified(fresh("ETag: \"v\"\r\n"))});
    get("/page", "Cookie: who=alice\r\n");
    get("/page");
    get("/page");
    EXPECT_EQ(asked("/page"), 3u);
}

TEST_P(Validation, LeavesTheCodingOfTheStoredBytesWhateverA304Says) {
    says("/coded", {ok(kStale + "ETag: \"v\"\r\n"),
                    not_modified(fresh("ETag: \"v\"\r\nContent-Encoding: gzip\r\n"))});
    get("/coded");
    get("/coded", "Accept-Encoding: gzip\r\n");
    const auto hit = get("/coded");
    EXPECT_EQ(hit.body, "text");
    EXPECT_EQ(hit.field("Content-Encoding"), "");
    EXPECT_EQ(asked("/coded"), 2u);
}

TEST_P(Validation, SelectsAfterA304ByAllThatSelectedBefore) {  // nginx's gzip_vary, of a 304
    const std::string tag = "ETag: W/\"v\"\r\n", zip = "Accept-Encoding: gzip\r\n";
    says("/zip", {ok(kStale + tag + "Vary: Accept-Encoding\r\nVary: Cookie\r\n" +
                         "Content-Encoding: gzip\r\n",
                     "zipped"),
                  not_modified(fresh(tag + "Vary: Cookie\r\n")), ok(fresh(tag), "plain")});
    get("/zip", zip);
    EXPECT_EQ(get("/zip", zip).body, "zipped");
    EXPECT_EQ(get("/zip", zip).body, "zipped");
    EXPECT_EQ(asked("/zip"), 2u);
    EXPECT_EQ(get("/zip").body, "plain");
    EXPECT_EQ(asked("/zip"), 3u);
}

TEST_P(Validation, DoubtsAStoredGetAfterAHeadThatDisagrees) {  // 37, RFC 9111 §4.3.5
    const auto stored = ok(fresh("ETag: \"v\"\r\nLast-Modified: " + kModified + "\r\n"));
    for (const auto& [name, fields] : std::vector<std::pair<std::string, std::string>>{
             {"tag", "ETag: \"w\"\r\nContent-Length: 4\r\n"},
             {"weak", "ETag: W/\"v\"\r\n"},
             {"date", "ETag: \"v\"\r\nLast-Modified: Sun, 02 Jan 2000 00:00:00 GMT\r\n"},
             {"length", "ETag: \"v\"\r\nContent-Length: 5\r\n"}}) {
        SCOPED_TRACE(name);
        const auto path = "/" + name;
        says(path, {stored, "HTTP/1.1 200 OK\r\n" + fresh(fields) + "\r\n", ok(fresh(), "new")});
        get(path);
        EXPECT_EQ(ask("HEAD", path, "Cache-Control: no-cache\r\n").status, 200u);
        EXPECT_EQ(get(path).body, "new");
        EXPECT_EQ(field_of(requests(path).back(), "If-None-Match"), "\"v\"");  // not forgotten
    }
    says("/error", {stored, reply("500 X", ""), ok(fresh(), "new")});
    get("/error");
    EXPECT_EQ(ask("HEAD", "/error", "Cache-Control: no-cache\r\n").status, 500u);
    EXPECT_EQ(get("/error").body, "text");  // an error says nothing of it
}

// 14, RFC 9111 §3.4, RFC 9110 §14
TEST_P(Validation, CutsRangesOutOfWhatIsStored) {
    says("/range", {ok(fresh("ETag: \"v\"\r\nLast-Modified: " + kModified +
                             "\r\nX-Other: 1\r\nContent-Type: text/x\r\n"),
                       "0123456789")});
    get("/range");
    struct Part {
        std::string fields;
        unsigned status;
        std::string range, body;
    };
    const auto range = [](const std::string& value) { return "Range: " + value + "\r\n"; };
    const auto part = [&](const char* value, const char* answer, const char* body) {
        return Part{range(value), 206, answer, body};
    };
    const auto whole = [&](const std::string& fields) {
        return Part{fields, 200, "", "0123456789"};
    };
    for (const auto& each : std::vector<Part>{
             part("bytes=0-3", "bytes 0-3/10", "0123"),
             part("bytes=5-", "bytes 5-9/10", "56789"),
             part("bytes=-3", "bytes 7-9/10", "789"),
             part("bytes=8-100", "bytes 8-9/10", "89"),
             {range("bytes=10-"), 416, "bytes */10", ""},
             whole(range("bytes=3-1")),
             whole(range("lines=0-3")),
             {range("bytes=0-3") + "If-Range: \"v\"\r\n", 206, "bytes 0-3/10", "0123"},
             {range("bytes=0-3") + "If-Range: " + kModified + "\r\n", 206, "bytes 0-3/10", "0123"},
             whole(range("bytes=0-3") + "If-Range: \"w\"\r\n"),
             whole(range("bytes=0-3") + "If-Range: W/\"v\"\r\n"),
             whole(range("bytes=0-3") + "If-Range: Sun, 02 Jan 2000 00:00:00 GMT\r\n"),
             {range("bytes=0-3") + "If-None-Match: \"v\"\r\n", 304, "", ""}}) {
        SCOPED_TRACE(each.fields);
        const auto answer = get("/range", each.fields);
        EXPECT_EQ(answer.status, each.status);
        EXPECT_EQ(answer.field("Content-Range"), each.range);
        if (each.status == 416) continue;
        EXPECT_EQ(answer.body, each.body);
        EXPECT_EQ(answer.field("X-Other"), "1");
        EXPECT_EQ(answer.field("ETag"), "\"v\"");
        EXPECT_EQ(lines(answer.head, "Age"), 1u);
    }
    EXPECT_EQ(ask("HEAD", "/range", range("bytes=0-3")).status, 200u);  // Range is for GET
    EXPECT_EQ(asked("/range"), 1u);
}

TEST_P(Validation, NeverMixesPartsOfDifferentVersions) {  // 15, RFC 9111 §3.4
    std::atomic<char> version = 'a';
    const auto scripted = origin.set([&](Exchange& e) {
        const std::string body(10, version);
        const auto fields = fresh("ETag: \"" + std::string(1, version) + "\"\r\n");
        const auto range = e.field("Range");
        if (range.empty() || (!e.field("If-Range").empty() &&
                              e.field("If-Range") != "\"" + std::string(1, version) + "\""))
            return e.answer(fields, body);
        const auto first = std::strtoul(range.c_str() + 6, nullptr, 10);
        const auto last =
            std::min(9ul, range.back() == '-'
                              ? 9ul
                              : std::strtoul(range.c_str() + range.find('-') + 1, nullptr, 10));
        e.answer(fields + "Content-Range: bytes " + std::to_string(first) + "-" +
                     std::to_string(last) + "/10\r\n",
                 body.substr(first, last - first + 1), "206 Partial Content");
    });
    for (const auto* path : {"/whole", "/part"}) {
        version = 'a';
        EXPECT_EQ(get(path, "Range: bytes=0-3\r\n").body, "aaaa");
        EXPECT_EQ(get(path, "Range: bytes=2-5\r\n").body, "aaaa");
        version = 'b';
        const auto answer =
            get(path, std::string_view(path) == "/whole" ? "" : "Range: bytes=2-\r\n");
        EXPECT_TRUE(answer.complete);
        EXPECT_EQ(answer.body.find_first_not_of(answer.body.front()), std::string::npos)
            << answer.body;
    }
}

// 6, RFC 9110 §9.3.3
TEST_P(Validation, AnswersGetFromAPostThatSaysItIsTheTarget) {
    const auto named = [&](const std::string& path) {
        return "Content-Location: " + path + "\r\n";
    };
    says("/made", {ok(fresh("X-Made: 1\r\n" + named("/made")), "made")});
    EXPECT_EQ(ask("POST", "/made", {}, "content").body, "made");
    const auto hit = get("/made");
    EXPECT_EQ(hit.body, "made");
    EXPECT_EQ(hit.field("X-Made"), "1");
    EXPECT_EQ(lines(hit.head, "Age"), 1u);
    EXPECT_EQ(ask("HEAD", "/made").field("Content-Length"), "4");
    EXPECT_EQ(asked("/made"), 1u);
    says("/full", {ok(fresh(named(uri("/full"))), "made")});
    ask("POST", "/full", {}, "content");
    get("/full");
    EXPECT_EQ(asked("/full"), 1u);
    says("/made", {ok(fresh(named("/made")), "again")});
    EXPECT_EQ(ask("POST", "/made", {}, "content").body,
              "again");  // a POST is never answered from it
    EXPECT_EQ(get("/made").body, "again");
}

TEST_P(Validation, AnswersNoGetFromOtherPosts) {  // 6
    const auto modified = "Last-Modified: " + kModified + "\r\n";
    for (const auto& [name, answer] : std::vector<std::pair<std::string, std::string>>{
             {"elsewhere", ok(fresh("Content-Location: /other\r\n"))},
             {"unnamed", ok(fresh())},
             {"guessed", ok(modified + "Content-Location: /guessed\r\n")},
             {"private",
              ok("Cache-Control: private, max-age=100\r\nContent-Location: /private\r\n")},
             {"error", reply("500 X", fresh("Content-Location: /error\r\n"))},
             {"elsewhere-host", ok(fresh("Content-Location: http://x.test/elsewhere-host\r\n"))}}) {
        SCOPED_TRACE(name);
        says("/" + name, {answer});
        ask("POST", "/" + name, {}, "content");
        get("/" + name);
        EXPECT_EQ(asked("/" + name), 2u);
    }
    says("/put", {ok(fresh("Content-Location: /put\r\n"))});
    ask("PUT", "/put", {}, "content");
    get("/put");
    EXPECT_EQ(asked("/put"), 2u);
}

TEST_P(Validation, TakesA304WhoseTagHasLostTheMarkOfTheCoding) {  // 36, Apache's mod_deflate
    const auto coded = "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n";
    const auto accept = "Accept-Encoding: gzip\r\n";
    says("/gzip", {ok(kStale + "ETag: \"x-gzip\"\r\n" + coded, "coded"),
                   not_modified(kStale + "ETag: \"x\"\r\nX-New: 1\r\n")});
    get("/gzip", accept);
    for (const auto round : {2u, 3u, 4u}) {
        const auto answer = get("/gzip", accept);
        EXPECT_EQ(answer.body, "coded");
        EXPECT_EQ(answer.field("ETag"), "\"x-gzip\"") << "it was given to these bytes";
        EXPECT_EQ(answer.field("Content-Encoding"), "gzip");
        EXPECT_EQ(answer.field("X-New"), "1");
        EXPECT_EQ(asked("/gzip"), round) << "no 200 behind the 304";
        EXPECT_EQ(field_of(requests("/gzip").back(), "If-None-Match"), "\"x-gzip\"");
    }
}

TEST_P(Validation, StoresNoPostThatWasCut) {  // 6, RFC 9111 §3.3
    const auto scripted = origin.set([](Exchange& e) {
        if (e.method != "POST") return e.answer(fresh(), "whole");
        e.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Location: /cut\r\n"
            "Content-Length: 100\r\n\r\npart");
        e.keep = false;
    });
    EXPECT_FALSE(ask("POST", "/cut", {}, "content").complete);
    EXPECT_EQ(get("/cut").body, "whole");
}

TEST_P(Validation, PassesAGetWithABodyAndStoresNothingOfIt) {  // RFC 9110 §9.3.1
    says("/body", {ok(fresh(), "for the body"), ok(fresh(), "plain")});
    EXPECT_EQ(ask("GET", "/body", {}, "content").body, "for the body");
    EXPECT_EQ(get("/body").body, "plain");
    EXPECT_EQ(ask("GET", "/body", {}, "content").body, "plain");
    EXPECT_EQ(asked("/body"), 3u);
}

class ValidationOfAPeersCopy : public NodesTest {};

// The body is the peer's, but the fields of the 304 were for a client that identifies itself.
TEST_F(ValidationOfAPeersCopy, MakesItPersonalWhereTheAnswerToThatClientIs) {
    const auto modified = "Last-Modified: " + date(-40s) + "\r\n";  // good for 4 s, by a guess
    const auto scripted = origin.set([&](Exchange& e) {
        const auto dated = "Date: " + date(0s) + "\r\n" + modified;
        if (e.field("If-Modified-Since").empty()) return e.answer(dated, "page");
        e.send(not_modified(dated));
    });
    start_cluster(2);
    get("a", "/one");
    ASSERT_TRUE(eventually([&] { return announced("a", 1); }));
    ASSERT_TRUE(eventually(
        [&] { return get("a", "/one", "Cache-Control: only-if-cached\r\n").status == 504; }));
    EXPECT_EQ(get("b", "/one", "Cookie: who=bob\r\n").body, "page");
    ASSERT_EQ(origin.requests(), 2u);
    EXPECT_EQ(get("b", "/one").body, "page");
    EXPECT_EQ(origin.requests(), 3u) << "it has to be validated for everybody else";
}

}  // namespace semantics_validation_test
}  // namespace proxy::test
