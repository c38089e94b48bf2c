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
          std::tuple{"::1", "", "::1"}, std::tuple{"host.example", "", "host.example"},
          std::tuple{"2001:db8::1:80", "", "2001:db8::1:80"}}) {
        const auto text = std::string(begin) + kRest;
        const auto line = parse(LogFormat::common, text);
        EXPECT_EQ(line.site, site) << begin;
        EXPECT_EQ(line.client, client) << begin;
        EXPECT_EQ(line.url, "/a") << begin;
    }
    const auto ident =
        parse(LogFormat::common, "h ident john doe [01/Jan/2024:00:00:00 +0000] \"GET /a\" 200 1");
    EXPECT_EQ(ident.site, "");
    EXPECT_EQ(ident.client, "h");
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
        record.client = "::1";
        record.method = "GET";
        record.url = url;
        record.status = 200;
        record.bytes = 12;
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
