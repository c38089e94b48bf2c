#include "measure/trace/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "measure/trace/target.hpp"
#include "tests/measure/temporary_file.hpp"

namespace measure {
namespace trace_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

Trace load(const std::string& text, TraceOptions options = {},
           TemporaryFile::Kind kind = TemporaryFile::Kind::plain) {
    const TemporaryFile file(text, kind);
    options.path = file.path();
    return load_trace(options);
}

std::string tab(const std::string& time, const std::string& client, const std::string& url,
                const std::string& bytes = "10", const std::string& method = "GET",
                const std::string& status = "200") {
    return time + '\t' + client + '\t' + method + '\t' + url + '\t' + status + '\t' + bytes +
           "\t-\n";
}

std::vector<std::string> urls_in_order(const Trace& trace) {
    std::vector<std::string> out;
    for (const auto& request : trace.requests) out.emplace_back(trace.urls[request.url].text);
    return out;
}

std::string error_of(const std::string& text) {
    try {
        load(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "no error";
}

constexpr const char* kSquid =
    "1066036250.129 1 10.0.0.2 TCP_MISS/200 10 GET http://a/1 - DIRECT/a text/html\n"
    "1066036250.500 1 10.0.0.1 TCP_MISS/200 20 GET http://a/2 - DIRECT/a text/html\n";
constexpr const char* kCommon =
    "10.0.0.2 - - [10/Oct/2000:13:55:36 -0700] \"GET /1 HTTP/1.0\" 200 10\n"
    "10.0.0.1 - - [10/Oct/2000:13:55:37 -0700] \"GET /2 HTTP/1.0\" 200 20 \"-\" \"agent\"\n";

constexpr const char* kJson =
    R"({"ts":"2026-11-20T12:50:33.007Z","client":"10.0.0.2","role":"client","method":"GET",)"
    R"("url":"http://a/caf\uefe9","status":200,"bytes":10}
{"ts":"2026-11-20T12:50:33.009Z","client":"10.0.0.9","role":"peer","method":"GET",)"
    R"("url":"http://a/1","status":200,"bytes":10}
{"ts":"2026-11-20T12:50:34.000Z","client":"10.0.0.1","method":"GET","url":"http://a/1",)"
    R"("status":200,"bytes":3,"aborted":true}
)";

TEST(Trace, TakesTheProxysOwnJsonAndNoRequestOfAPeer) {
    const auto trace = load(kJson);
    EXPECT_EQ(trace.format, LogFormat::json);
    EXPECT_THAT(urls_in_order(trace), ElementsAre("http://a/caf\xe9", "http://a/1"));
    EXPECT_EQ(trace.clients.size(), 2u);
    EXPECT_EQ(trace.requests[1].time_ms - trace.requests[0].time_ms, 993);
    EXPECT_EQ(trace.object_bytes, (std::vector<std::uint64_t>{10, 0}));  // the second was cut off
    ASSERT_EQ(trace.skipped.size(), 1u);
    EXPECT_THAT(trace.skipped.begin()->first, HasSubstr("peer"));
}

TEST(Trace, FindsOutTheFormatItself) {
    EXPECT_EQ(load(tab("1", "1", "http://a/")).format, LogFormat::tab_separated);
    EXPECT_EQ(load(kSquid).format, LogFormat::squid);
    EXPECT_EQ(load("# first\nhttp://a.test/\nhttp://b.test/c\n").format, LogFormat::url_list);
    EXPECT_EQ(load(kCommon).format, LogFormat::common);
    EXPECT_EQ(load(kSquid, {}, TemporaryFile::Kind::gzip).format, LogFormat::squid);
}

TEST(Trace, FindsOutTheFormatDespiteBrokenLines) {
    const auto trace = load(std::string("# a comment\n\nbroken\n") + kCommon);
    EXPECT_EQ(trace.format, LogFormat::common);
    EXPECT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.lines, 3u);  // neither the comment nor the blank line
    EXPECT_THAT(trace.skipped, ElementsAre(Pair("not a line of this format", 1u)));
}

TEST(Trace, RefusesWhatIsInNoKnownFormat) {
    EXPECT_THAT(error_of("some text\nand more\n"), HasSubstr("none of the formats known"));
    EXPECT_THAT(error_of("some text\n"), HasSubstr("some text"));
    EXPECT_THAT(error_of(""), HasSubstr("empty"));
    EXPECT_THAT(error_of("\x1b[2J\a\n"), HasSubstr("it begins: \\x1b[2J\\x07"));
}

TEST(Trace, SaysWhyNothingIsLeftToSend) {
    EXPECT_THAT(error_of(tab("1", "1", "https://a/")), HasSubstr("https"));
}

TEST(Trace, NumbersClientsInOrderOfAppearance) {
    EXPECT_THAT(load(kSquid).clients, ElementsAre(1u, 2u));
}

TEST(Trace, KeepsTheClientNumbersOfItsOwnFormat) {
    const auto trace =
        load(tab("1", "7", "http://a/") + tab("2", "3", "http://a/") + tab("3", "7", "http://a/"));
    EXPECT_THAT(trace.clients, ElementsAre(7u, 3u));
    EXPECT_EQ(trace.requests[2].client, 0u);
}

TEST(Trace, PutsTheSiteBeforePaths) {
    EXPECT_THAT(urls_in_order(load(kCommon)),
                ElementsAre("http://localhost/1", "http://localhost/2"));
    TraceOptions options;
    options.site = "http://www.ksc.nasa.gov";
    EXPECT_THAT(urls_in_order(load(kCommon, options)),
                ElementsAre("http://www.ksc.nasa.gov/1", "http://www.ksc.nasa.gov/2"));
}

TEST(Trace, KeepsOddCharactersOfUrls) {
    const std::string odd = "http://a.example/x|y{z}\\w\"'^`<>?q=%zz&\xe4\xf6#frag";
    EXPECT_THAT(urls_in_order(load(tab("1", "1", odd))), ElementsAre(odd));
}

TEST(Trace, CountsWhatCannotBeSentByReason) {
    TraceOptions options;
    options.all = true;
    const auto trace = load(tab("1", "1", "http://good/") + tab("1", "1", "http://a/b c") +
                                tab("1", "1", "ftp://a/") + tab("1", "1", "http://u@a/") +
                                tab("1", "1", "http:///x") + tab("1", "1", "") +
                                tab("1", "1", "a:443", "0", "CONNECT") +
                                tab("1", "1", "http://a/" + std::string(20'000, 'x')),
                            options);
    EXPECT_EQ(trace.requests.size(), 1u);
    EXPECT_EQ(trace.lines, 8u);
    EXPECT_EQ(std::accumulate(trace.skipped.begin(), trace.skipped.end(), std::uint64_t{0},
                              [](auto sum, const auto& each) { return sum + each.second; }),
              7u);
    EXPECT_EQ(trace.skipped.at("no URL"), 1u);
    EXPECT_EQ(trace.skipped.at("URL too long"), 1u);
    EXPECT_EQ(trace.skipped.at("CONNECT"), 1u);
}

TEST(Trace, TakesOnlyCacheableGetsByDefault) {
    std::string text;
    for (const auto* status : {"200", "203", "300", "301", "304", "410"}) {
        text += tab("1", "1", std::string("http://yes/") + status, "1", "GET", status);
    }
    for (const auto* status : {"0", "206", "302", "404", "500"}) {
        text += tab("1", "1", std::string("http://no/") + status, "1", "GET", status);
    }
    text +=
        tab("1", "1", "http://no/head", "1", "HEAD") + tab("1", "1", "http://no/post", "1", "POST");
    EXPECT_EQ(load(text).requests.size(), 6u);
    TraceOptions options;
    options.all = true;
    const auto all = load(text, options);
    EXPECT_EQ(all.requests.size(), 13u);
    EXPECT_EQ(all.methods[all.requests[11].method], "HEAD");
    EXPECT_EQ(all.methods[all.requests[12].method], "POST");
}

TEST(Trace, TakesTheLargestSizeThatAWholeAnswerTells) {
    const auto trace =
        load(tab("1", "1", "http://a/", "7000", "GET", "304") + tab("2", "1", "http://a/", "-") +
             tab("3", "1", "http://a/", "900", "GET", "301") + tab("4", "1", "http://a/", "500") +
             tab("5", "1", "http://a/", "600") + tab("6", "1", "http://a/", "550") +
             tab("7", "1", "http://b/", "300", "GET", "301") +
             tab("8", "1", "http://c/", "300", "GET", "304"));
    EXPECT_EQ(trace.object_bytes, (std::vector<std::uint64_t>{600, 300, 0}));
    const auto squid = load(
        "1066036250.129 1 c TCP_MISS_ABORTED/200 7168 GET http://a/1 - DIRECT/a text/html\n"
        "1066036250.130 1 c TCP_IMS_HIT/304 300 GET http://a/1 - DIRECT/a text/html\n"
        "1066036250.131 1 c TCP_MISS/200 41943040 GET http://a/1 - DIRECT/a text/html\n"
        "1066036250.132 1 c TCP_HIT_ABORTED/200 50000000 GET http://a/1 - DIRECT/a text/html\n");
    EXPECT_EQ(squid.object_bytes, (std::vector<std::uint64_t>{40u << 20}));
}

TEST(Trace, CountsAndShowsLinesWhoseSizeIsNoWholeNumber) {
    const auto trace = load("h - - [10/Oct/2000:13:55:36 -0700] \"GET /1 HTTP/1.0\" 200 1.204\n" +
                            std::string(kCommon));
    EXPECT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.skipped.at(std::string(kUnsureSize)), 1u);
    EXPECT_EQ(trace.in_doubt, 1u);
    EXPECT_THAT(trace.examples.at(std::string(kUnsureSize)),
                ElementsAre(testing::EndsWith(" 200 9.999")));
}

TEST(Trace, CountsAndShowsLinesThatLeaveOpenWhoAsked) {
    const auto trace =
        load("203.0.113.7, 10.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /1 HTTP/1.0\" 200 10\n" +
             std::string(kCommon));
    EXPECT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.clients.size(), 2u);
    EXPECT_EQ(trace.skipped.at(std::string(kUnsureClient)), 1u);
    EXPECT_EQ(trace.in_doubt, 1u);
    EXPECT_THAT(trace.examples.at(std::string(kUnsureClient)),
                ElementsAre(testing::StartsWith("line 1: 999.9.999.9, 99.9.9.9 - - [")));
    EXPECT_THAT(
        error_of("203.0.113.7, 10.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /1\" 200 1\n"),
        testing::AllOf(HasSubstr("no request is left of 1 line"),
                       HasSubstr(std::string(kUnsureClient)), HasSubstr("line 1: 999.9")));
}

TEST(Trace, TakesHttpsUrlsWhereNobodyIsAskedForThem) {
    const auto text = tab("1", "1", "https://a/") + tab("2", "1", "http://a/");
    EXPECT_EQ(load(text).requests.size(), 1u);
    EXPECT_EQ(load(text).skipped.at(std::string(kHttpsUrl)), 1u);
    EXPECT_EQ(load(text).in_doubt, 0u) << "there is no doubt of what it is";
    TraceOptions options;
    options.https = true;
    const auto trace = load(text, options);
    EXPECT_THAT(urls_in_order(trace), ElementsAre("https://a/", "http://a/"));
    EXPECT_EQ(trace.object_bytes.size(), 2u);
    options.site = "https://www.example.org";
    EXPECT_THAT(urls_in_order(load(kCommon, options)),
                ElementsAre("https://www.example.org/1", "https://www.example.org/2"));
}

TEST(Trace, DoesNotTakePagesWithoutTheirQueriesForOne) {
    std::string text = kSquid;
    for (int i = 0; i < 5; ++i)
        text += "1066036251.000 1 10.0.0.1 TCP_MISS/200 20 GET http://a/page? - DIRECT/a x\n";
    const auto trace = load(text);
    EXPECT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.skipped.at(std::string(kQueryStripped)), 5u);
    EXPECT_EQ(trace.in_doubt, 5u);
    EXPECT_EQ(trace.examples.at(std::string(kQueryStripped)).size(), 3u);
    EXPECT_EQ(load(tab("1", "1", "http://a/page?")).requests.size(), 1u) << "nobody strips there";
}

constexpr std::int64_t kDay = 86'400'000;

/// A request each hour for ten days.
std::string ten_days(std::int64_t from) {
    std::string text;
    for (int i = 0; i < 240; ++i)
        text += tab(std::to_string(from + i * kDay / 24), "1", "http://a/");
    return text;
}

TEST(Trace, LeavesOutALineWhoseClockWasWrong) {
    const auto from = 20'000 * kDay;
    const auto early = load(tab("5", "1", "http://early/") + ten_days(from));
    EXPECT_EQ(early.requests.size(), 240u);
    EXPECT_EQ(early.requests.front().time_ms, from);
    EXPECT_THAT(early.examples.at(std::string(kWrongClock)),
                ElementsAre("line 1: 1970-01-01, 19999 days before all others"));
    const auto late =
        load(ten_days(from) + tab(std::to_string(from + 400 * kDay), "1", "http://l/"));
    EXPECT_EQ(late.requests.back().time_ms, from + 239 * kDay / 24);
    EXPECT_THAT(late.examples.at(std::string(kWrongClock)),
                ElementsAre("line 241: 2025-11-08, 390 days after all others"));
    EXPECT_EQ(late.in_doubt, 1u);
    const auto both = load(tab("5", "1", "http://early/") + ten_days(from) +
                           tab(std::to_string(from + 400 * kDay), "1", "http://late/"));
    EXPECT_EQ(both.requests.size(), 240u);
}

TEST(Trace, KeepsWhatMayHaveBeenSo) {
    const auto from = 20'000 * kDay;
    EXPECT_EQ(load(tab(std::to_string(from - 5 * kDay), "1", "http://a/") + ten_days(from))
                  .requests.size(),
              241u)
        << "a quiet week";
    EXPECT_EQ(load(tab("5", "1", "http://a/") + tab("6", "1", "http://a/") + ten_days(from))
                  .requests.size(),
              242u)
        << "two are more than one of a thousand";
    EXPECT_EQ(load(tab("5", "1", "http://a/") + tab(std::to_string(from), "1", "http://a/"))
                  .requests.size(),
              2u)
        << "too few to judge";
}

TEST(Trace, TakesSpellingsOfOneTargetUriForOneObject) {  // RFC 9110 §7.1
    const auto trace =
        load(tab("1", "1", "http://a.test/x", "500") + tab("2", "1", "http://A.test:80/x", "700") +
             tab("3", "1", "http://a.test/X", "900"));
    ASSERT_EQ(trace.urls.size(), 3u);
    EXPECT_EQ(trace.urls[1].text, "http://A.test:80/x");  // goes out byte for byte all the same
    EXPECT_EQ(trace.urls[1].object, trace.urls[0].object);
    EXPECT_EQ(trace.object_bytes, (std::vector<std::uint64_t>{700, 900}));
}

TEST(Trace, IsInTheOrderOfItsTimesAndSaysHowManyWereNot) {
    const auto trace =
        load(tab("10", "1", "http://a/") + tab("5", "1", "http://b/") +
             tab("11", "1", "http://c/") + tab("5", "1", "http://d/") + tab("9", "1", "http://e/"));
    EXPECT_THAT(urls_in_order(trace),
                ElementsAre("http://b/", "http://d/", "http://e/", "http://a/", "http://c/"));
    EXPECT_EQ(trace.requests[0].time_ms, 5);
    EXPECT_EQ(trace.out_of_order, 3u);
    EXPECT_EQ(load(kSquid).out_of_order, 0u);
}

TEST(Trace, StopsAtItsLimit) {
    TraceOptions options;
    options.limit = 1;
    EXPECT_EQ(load(kSquid, options).requests.size(), 1u);
}

TEST(Trace, UrlsStayValidWhenItIsMoved) {
    Trace moved = load(tab("1", "1", "http://a/"));
    const Trace again = std::move(moved);
    EXPECT_EQ(again.urls[0].text, "http://a/");
}

TEST(Retime, SpreadsRequestsEvenlyOrSqueezesThem) {
    Trace trace;
    trace.clients = {1};
    const auto url = trace.add_url("http://a/", 1);
    for (const int time : {10'000, 10'000, 16'000}) trace.add({time, 0, url, kGet});
    retime(trace, 0, 2);
    EXPECT_EQ(trace.requests[2].time_ms, 3'000);
    retime(trace, 10, 0);
    EXPECT_EQ(trace.requests[1].time_ms, 100);
    EXPECT_EQ(trace.requests[2].time_ms, 200);
    retime(trace, 0, 0);
    EXPECT_EQ(trace.requests[2].time_ms, 200);
    EXPECT_EQ(trace.source, ", 2 times faster, at 10 requests/s");
}

TEST(Retime, RefusesTimesThatNobodyCanCount) {
    Trace trace;
    trace.clients = {1};
    const auto url = trace.add_url("http://a/", 1);
    for (const int time : {0, 1'000}) trace.add({time, 0, url, kGet});
    EXPECT_THROW(retime(trace, 1e-300, 0), std::invalid_argument);
    EXPECT_THROW(retime(trace, 0, 1e-300), std::invalid_argument);
    EXPECT_EQ(trace.requests[1].time_ms, 1'000);
}

TEST(Trace, TakesTheVirtualHostOfALineForThatOfItsPath) {
    TraceOptions options;
    options.site = "http://site.example";
    const auto trace = load(
        "www.example.org:80 10.0.0.2 - - [10/Oct/2000:13:55:36 -0700] \"GET /1 HTTP/1.0\" 200 10\n"
        "img.example.org:80 10.0.0.1 - - [10/Oct/2000:13:55:37 -0700] \"GET /1 HTTP/1.0\" 200 20\n"
        "10.0.0.1 - - [10/Oct/2000:13:55:38 -0700] \"GET /1 HTTP/1.0\" 200 20\n",
        options);
    EXPECT_EQ(trace.clients.size(), 2u);
    EXPECT_THAT(urls_in_order(trace),
                ElementsAre("http://www.example.org:80/1", "http://img.example.org:80/1",
                            "http://site.example/1"));
}

}  // namespace trace_test
}  // namespace measure
