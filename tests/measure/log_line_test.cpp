#include "measure/trace/log_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "proxy/telemetry/access_log.hpp"

namespace measure {
namespace log_line_test {

LogLine parse(LogFormat format, std::string_view line) {
    static LineParser* parser = nullptr;  // views must outlive the call
    delete parser;
    parser = new LineParser(format);
    const auto parsed = parser->parse(line);
    EXPECT_TRUE(parsed) << line;
    return parsed.value_or(LogLine{});
}

bool is_line(LogFormat format, std::string_view line) {
    return LineParser(format).parse(line).has_value();
}

TEST(TabSeparatedLog, GivesItsFields) {
    const auto line = parse(LogFormat::tab_separated,
                            "785433179434\t17\tGET\thttp://cs-www.bu.edu/\t200\t1934\t-");
    EXPECT_EQ(line.time_ms, 785433179434);
    EXPECT_EQ(line.client, "17");
    EXPECT_EQ(line.method, "GET");
    EXPECT_EQ(line.url, "http://cs-www.bu.edu/");
    EXPECT_EQ(line.status, 200u);
    EXPECT_EQ(line.bytes, 1934u);
}

TEST(TabSeparatedLog, TakesAMissingSizeAsZero) {
    EXPECT_EQ(parse(LogFormat::tab_separated, "1\t1\tGET\thttp://a/\t200\t-\t-").bytes, 0u);
}

TEST(TabSeparatedLog, RefusesWhatIsNotItsFormat) {
    for (const auto* line : {"", "1\t1\tGET\thttp://a/\t200", "x\t1\tGET\thttp://a/\t200\t5\t-",
                             "1\tc\tGET\thttp://a/\t200\t5\t-", "1\t1\tGET\thttp://a/\tOK\t5\t-",
                             "1\t1\tGET\thttp://a/\t200\t5k\t-", "1\t1\t\thttp://a/\t200\t5\t-",
                             "1 1 GET http://a/ 200 5 -"}) {
        EXPECT_FALSE(is_line(LogFormat::tab_separated, line)) << line;
    }
}

TEST(UrlList, IsARequestPerLine) {
    const auto line = parse(LogFormat::url_list, "http://a.test/b?c=d\r");
    EXPECT_EQ(line.url, "http://a.test/b?c=d");
    EXPECT_EQ(line.client, line.url) << "a replay may send others beside it";
    EXPECT_EQ(line.method, "GET");
    EXPECT_EQ(line.status, 200u);
    for (const auto* other : {"", "a.test/b", "/b", "ftp://a.test/", "http://a.test/ b",
                              "1\t1\tGET\thttp://a/\t200\t5\t-"})
        EXPECT_FALSE(is_line(LogFormat::url_list, other)) << other;
}

TEST(Logs, RefuseTimesThatNoClockShows) {  // sums and differences of which overflow
    for (const auto* time : {"-1", "9223372036854775807", "253402300800000"}) {
        const auto line = std::string(time) + "\t1\tGET\thttp://a/\t200\t5";
        EXPECT_FALSE(is_line(LogFormat::tab_separated, line)) << line;
    }
    for (const auto* time : {"-1.000", "9223372036854775807.999", "253402300800.000", "1.-12"}) {
        const auto line = std::string(time) + " 1 c TCP_MISS/200 1 GET http://a/ - DIRECT/a x";
        EXPECT_FALSE(is_line(LogFormat::squid, line)) << line;
    }
}

TEST(SquidLog, GivesItsFields) {
    const auto line = parse(LogFormat::squid,
                            "1066036250.129   1093 192.168.0.19 TCP_MISS/200 10182 GET "
                            "http://www.example.com/a?b|c - DIRECT/10.0.0.1 text/html");
    EXPECT_EQ(line.time_ms, 1066036250129);
    EXPECT_EQ(line.client, "192.168.0.19");
    EXPECT_EQ(line.method, "GET");
    EXPECT_EQ(line.url, "http://www.example.com/a?b|c");
    EXPECT_EQ(line.status, 200u);
    EXPECT_EQ(line.bytes, 10182u);
}

TEST(SquidLog, RefusesWhatIsNotItsFormat) {
    for (const auto* line :
         {"", "1066036250 1093 c TCP_MISS/200 1 GET http://a/ - DIRECT/a text/html",
          "1066036250.129 x c TCP_MISS/200 1 GET http://a/ - DIRECT/a text/html",
          "1066036250.129 1093 c TCP_MISS 1 GET http://a/ - DIRECT/a text/html",
          "1066036250.129 1093 c TCP_MISS/200 1 GET http://a/"}) {
        EXPECT_FALSE(is_line(LogFormat::squid, line)) << line;
    }
}

TEST(CommonLog, GivesItsFields) {
    const auto line = parse(LogFormat::common,
                            "host.example - frank [10/Oct/2000:13:55:36 -0700] \"GET /a.gif "
                            "HTTP/1.0\" 200 2326");
    EXPECT_EQ(line.time_ms, 971211336000);
    EXPECT_EQ(line.client, "host.example");
    EXPECT_EQ(line.method, "GET");
    EXPECT_EQ(line.url, "/a.gif");
    EXPECT_EQ(line.status, 200u);
    EXPECT_EQ(line.bytes, 2326u);
}

TEST(CommonLog, MayBeginWithTheVirtualHost) {
    constexpr auto kRest =
        " - - [01/Jan/2024:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1 \"-\" \"x\"";
    for (const auto& [begin, site, client] :
         {std::tuple{"www.example.org:80 10.0.0.7", "www.example.org:80", "10.0.0.7"},
          std::tuple{"www.example.org:443 2001:db8::1", "www.example.org:443", "2001:db8::1"},
          std::tuple{"[::1]:80 host.example", "[::1]:80", "host.example"},
          std::tuple{"www.example.org 10.0.0.7", "www.example.org", "10.0.0.7"},
          std::tuple{"127.0.1.1:80 10.0.0.7", "127.0.1.1:80", "10.0.0.7"},
          std::tuple{"::1", "", "::1"}, std::tuple{"host.example", "", "host.example"},
          std::tuple{"2001:db8::1:80", "", "2001:db8::1:80"}}) {
        const auto text = std::string(begin) + kRest;
        const auto line = parse(LogFormat::common, text);
        EXPECT_EQ(line.site, site) << begin;
        EXPECT_EQ(line.client, client) << begin;
        EXPECT_EQ(line.url, "/a") << begin;
    }
    const auto named =
        parse(LogFormat::common, "h - john doe [01/Jan/2024:00:00:00 +0000] \"GET /a\" 200 1");
    EXPECT_EQ(named.site, "");
    EXPECT_EQ(named.client, "h");
}

TEST(CommonLog, LeavesOutWhatDoesNotSayForCertainWhoAsked) {
    constexpr auto kRest = " [01/Jan/2024:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1";
    for (const char* begin : {
             "203.0.113.7, 10.1.1.1 - -",       // a list of X-Forwarded-For
             "203.0.113.7,10.1.1.1 - -",        // the same
             "203.0.113.7 10.1.1.1 - -",        // %{X-Forwarded-For}i %h: or an address as site
             "203.0.113.7 - 10.1.1.1 - -",      // nginx: $http_x_forwarded_for - $remote_addr
             "- 10.1.1.1 - -",                  // no X-Forwarded-For
             "unknown 10.1.1.1 - -",            // nor here
             "- - -",                           // the client is missing
             "10.1.1.1:51234 - -",              // another client for each connection
             "203.0.113.7:51234 10.1.1.1 - -",  // as some balancers have X-Forwarded-For
             "www.example.org pc7.example.com - -",  // %v %h, or the other way round
             "intranet 10.1.1.1 - -",                // a site, or a host that logs
             "0.003 10.1.1.1 - -",                   // elapsed time instead of a site
             "h ident frank",                        // an ident, or %v %h %u
             "unix: - -",                            // nginx behind a socket
             "h -",                                  // no user
             "h",
         }) {
        LineParser parser(LogFormat::common);
        const auto line = std::string(begin) + kRest;
        EXPECT_FALSE(parser.parse(line)) << begin;
        EXPECT_EQ(parser.why(), kUnsureClient) << begin;
    }
    LineParser parser(LogFormat::common);
    EXPECT_FALSE(parser.parse("nonsense"));
    EXPECT_EQ(parser.why(), kNotThisFormat);
}

TEST(Logs, AreReadBehindWhatCollectorsPutBefore) {
    const std::string common =
        "10.0.0.7 - - [01/Jan/2024:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1";
    const std::string squid =
        "1066036250.129 1 10.0.0.7 TCP_MISS/200 10 GET http://a/1 - DIRECT/a text/html";
    const std::string json =
        R"({"ts":"2026-11-20T12:50:33.007Z","client":"10.0.0.7","method":"GET","url":"http://a/"})";
    const std::string tab = "1\t107\tGET\thttp://a/\t200\t5";
    for (const std::string prefix :
         {"Nov 25 18:50:30 web1 nginx[3]: ", "2026-11-25T18:50:30.123456+01:00 web1 nginx: ",
          "2026-11-25T18:50:30.123456789Z stdout F ", "web-1  | ",
          "2026-11-25T18:50:30.123456789Z ", "web-1  | 2026-11-25T18:50:30.123456789Z ",
          "web-1  | 2026-11-25T18:50:30.1Z <34>1 2026-11-25T22:14:15Z web1 nginx - - - "}) {
        EXPECT_EQ(parse(LogFormat::common, prefix + common).client, "10.0.0.7") << prefix;
        EXPECT_EQ(parse(LogFormat::squid, prefix + squid).client, "10.0.0.7") << prefix;
        EXPECT_EQ(parse(LogFormat::json, prefix + json).client, "10.0.0.7") << prefix;
        EXPECT_EQ(parse(LogFormat::tab_separated, prefix + tab).client, "107") << prefix;
    }
}

TEST(Logs, NeverTakeTheBeginningOfASizeForTheWhole) {
    const auto why = [](LogFormat format, const std::string& line) {
        LineParser parser(format);
        return parser.parse(line) ? std::string_view("read") : parser.why();
    };
    for (const std::string bytes :
         {"1.204", "1,204", "5k", "1204.0", "1e3", "+5", "0x10", "99999999999999999999", "-1"}) {
        EXPECT_EQ(
            why(LogFormat::common, "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 " +
                                       bytes + " \"-\" \"x\""),
            kUnsureSize)
            << bytes;
        EXPECT_EQ(why(LogFormat::squid, "1066036250.129 1 c TCP_MISS/200 " + bytes +
                                            " GET http://a/ - DIRECT/a text/html"),
                  kUnsureSize)
            << bytes;
        EXPECT_EQ(why(LogFormat::tab_separated, "1\t1\tGET\thttp://a/\t200\t" + bytes + "\t-"),
                  kUnsureSize)
            << bytes;
    }
    for (const std::string bytes : {"1.204", "-1", "\"1204\"", "1e3", "true"})
        EXPECT_EQ(why(LogFormat::json,
                      R"({"ts":"2026-11-20T12:50:33.007Z","client":"10.0.0.7","method":"GET",)"
                      R"("url":"http://a/","status":200,"bytes":)" +
                          bytes + "}"),
                  kUnsureSize)
            << bytes;
}

TEST(CommonLog, MayHaveTheRefererInPlaceOfTheSize) {
    const auto line = parse(
        LogFormat::common, "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a\" 200 \"http://r/\" \"x\"");
    EXPECT_EQ(line.bytes, 0u);
}

TEST(LoggedSize, IsThatOfWholeAnswersOnly) {
    const auto logged = [](const char* squid_result, const char* method = "GET") {
        return logged_size(parse(LogFormat::squid, std::string("1066036250.129 1 c ") +
                                                       squid_result + " 10182 " + method +
                                                       " http://a/ - DIRECT/a text/html"));
    };
    for (const char* result : {"TCP_MISS/200", "TCP_HIT/200", "TCP_REFRESH_FAIL_OLD/200",
                               "TCP_SWAPFAIL_MISS/200", "TCP_MISS/203"})
        EXPECT_EQ(logged(result), LoggedSize::of_object) << result;
    for (const char* result : {"TCP_MISS/301", "TCP_MISS/410", "TCP_HIT/300"})
        EXPECT_EQ(logged(result), LoggedSize::of_answer) << result;
    for (const char* result :
         {"TCP_MISS/304", "TCP_IMS_HIT/304", "TCP_MISS/206", "TCP_MISS_ABORTED/200",
          "TCP_HIT_ABORTED/200", "TCP_MISS_TIMEDOUT/200", "TCP_DENIED/200", "TCP_TUNNEL/200",
          "TCP_MISS/404", "TCP_MISS/000"})
        EXPECT_EQ(logged(result), LoggedSize::none) << result;
    EXPECT_EQ(logged("TCP_MISS/200", "HEAD"), LoggedSize::none);
}

TEST(CommonLog, MayEndInRefererAndAgent) {
    const auto line =
        parse(LogFormat::common,
              "::1 - - [01/Jan/2024:00:00:00 +0100] \"GET http://a/b HTTP/1.1\" 304 - "
              "\"http://r/\" \"Agent \\\"x\\\"\"");
    EXPECT_EQ(line.time_ms, 1704063600000);
    EXPECT_EQ(line.url, "http://a/b");
    EXPECT_EQ(line.status, 304u);
    EXPECT_EQ(line.bytes, 0u);
}

TEST(CommonLog, UndoesTheEscapesOfTheRequestLine) {
    const auto line = parse(LogFormat::common,
                            "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a\\\"b\\\\c\\xe4\\x22\\q "
                            "HTTP/1.1\" 200 1");
    EXPECT_EQ(line.url, "/a\"b\\c\xe4\"\\q");
}

TEST(CommonLog, EndsTheRequestAtTheQuoteBeforeTheStatus) {  // old servers escaped nothing
    const auto line = parse(LogFormat::common,
                            "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a\" b\" HTTP/1.0\" 404 -");
    EXPECT_EQ(line.url, "/a\" b\"");
    EXPECT_EQ(line.status, 404u);
}

TEST(CommonLog, KnowsAnEscapedQuoteBehindAnEscapedBackslash) {
    const auto line = parse(LogFormat::common,
                            "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a\\\\\\\" 200 1 HTTP/1.1\" "
                            "404 5");
    EXPECT_EQ(line.url, "/a\\\" 200 1");
    EXPECT_EQ(line.status, 404u);
    EXPECT_EQ(line.bytes, 5u);
}

TEST(CommonLog, TakesRequestsWithoutVersion) {
    const auto line =
        parse(LogFormat::common, "h - - [01/Jan/2024:00:00:00 +0000] \"GET /a\" 200 1");
    EXPECT_EQ(line.method, "GET");
    EXPECT_EQ(line.url, "/a");
}

TEST(CommonLog, GivesNoUrlWhenTheRequestHasNone) {
    EXPECT_EQ(parse(LogFormat::common, "h - - [01/Jan/2024:00:00:00 +0000] \"-\" 408 -").url, "");
}

TEST(CommonLog, RefusesWhatIsNotItsFormat) {
    for (const auto* line :
         {"", "h - - \"GET / HTTP/1.0\" 200 1",
          "h - - [01/Foo/2024:00:00:00 +0000] \"GET /\" 200 1",
          "h - - [31/Feb/2024:00:00:00 +0000] \"GET /\" 200 1",
          "h - - [01/Jan/2024:00:00:00 +0000] GET / 200 1",
          "h - - [01/Jan/2024:00:00:00 +0000] \"GET /", "h - - [01/Jan/2024] \"GET /\" 200 1"}) {
        EXPECT_FALSE(is_line(LogFormat::common, line)) << line;
    }
}

TEST(JsonLog, IsWhatTheAccessLogWrites) {
    for (const std::string url : {"http://a/x|y\"z\\", "http://a/caf\xc3\xa9",
                                  "http://a/caf\xe9\xff\x80", "http://a/\xee\xbe\x80"}) {
        proxy::AccessRecord record;
        record.ts =
            std::chrono::system_clock::time_point{std::chrono::milliseconds{1'795'179'033'007}};
        record.request.client = "::1";
        record.request.method = "GET";
        record.request.url = url;
        record.response.status = 200;
        record.response.bytes = 12;
        std::string text;
        proxy::append_json_line(text, record);
        text.pop_back();
        const auto line = parse(LogFormat::json, text);
        EXPECT_EQ(line.time_ms, 1'795'179'033'007);
        EXPECT_EQ(line.client, "::1");
        EXPECT_EQ(line.method, "GET");
        EXPECT_EQ(line.url, url);
        EXPECT_EQ(line.status, 200u);
        EXPECT_EQ(line.bytes, 12u);
        EXPECT_FALSE(line.by_peer);
    }
}

TEST(Logs, KnowTheRequestsOfPeersInEachFormatThatTheAccessLogWrites) {
    using proxy::AccessFormat;
    proxy::AccessRecord record;
    record.ts = std::chrono::system_clock::time_point{std::chrono::milliseconds{1'795'179'033'007}};
    record.request.client = "10.0.0.2";
    record.request.method = "GET";
    record.request.url = "http://a/1";
    record.response.status = 200;
    record.handling.peer = "b";
    for (const auto& [written, read] : {std::pair(AccessFormat::json, LogFormat::json),
                                        std::pair(AccessFormat::squid, LogFormat::squid),
                                        std::pair(AccessFormat::combined, LogFormat::common)}) {
        const auto is_by_peer = [&](proxy::Role role) {
            record.request.role = role;
            std::string text;
            proxy::append_access_line(text, written, record);
            text.pop_back();
            const auto line = parse(read, text);
            EXPECT_EQ(line.client, "10.0.0.2") << text;
            EXPECT_EQ(line.url, "http://a/1") << text;
            return line.by_peer;
        };
        EXPECT_TRUE(is_by_peer(proxy::Role::peer)) << to_string(read);
        EXPECT_FALSE(is_by_peer(proxy::Role::client)) << to_string(read);
    }
}

TEST(Logs, TakeNoUserForAPeer) {
    EXPECT_FALSE(parse(LogFormat::common,
                       "10.0.0.2 - peer [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 1")
                     .by_peer);
    EXPECT_FALSE(parse(LogFormat::squid,
                       "1066036250.129 10 10.0.0.2 TCP_MISS/200 10 GET http://a/ peer "
                       "DIRECT/10.0.0.1 text/html")
                     .by_peer);
}

TEST(JsonLog, RefusesWhatIsNotItsFormat) {
    for (const auto* line :
         {"", "{", "[]", "{}", R"({"ts":1,"client":"a","method":"GET","url":"http://a/"})",
          R"({"ts":"2026-11-20 12:50:33.007Z","client":"a","method":"GET","url":"http://a/"})",
          R"({"ts":"2026-13-20T12:50:33.007Z","client":"a","method":"GET","url":"http://a/"})",
          R"({"ts":"2026-11-20T12:50:33.007Z","client":"a","method":"GET"})"}) {
        EXPECT_FALSE(is_line(LogFormat::json, line)) << line;
    }
}

}  // namespace log_line_test
}  // namespace measure
