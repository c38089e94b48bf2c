#include "proxy/telemetry/access_log.hpp"

#include <gmock/gmock.h>
#include <boost/system/system_error.hpp>

#include <fcntl.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace proxy {
namespace access_log_test {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

AccessRecord record() {
    AccessRecord r;
    r.ts = std::chrono::sys_days(2026y / 11 / 20) + 12h + 50min + 33s + 7ms;
    r.duration = 1'234'567ns;
    r.request.client = "192.0.2.1";
    r.request.method = "GET";
    r.request.url = "http://example.org/a?b";
    r.response.status = 200;
    r.response.bytes = 1024;
    r.response.sent = 1300;
    r.handling.outcome = Outcome::local_hit;
    r.handling.cache = CacheResult::hit;
    r.handling.source = Source::memory;
    r.response.content_type = "text/html; charset=utf-8";
    return r;
}

AccessRecord peer_hit() {
    auto r = record();
    r.handling.outcome = Outcome::peer_hit;
    r.handling.cache = CacheResult::miss;
    r.handling.source = Source::peer;
    r.handling.peer = "b";
    r.handling.peer_verdict = PeerVerdict::hit;
    return r;
}

std::string line(AccessFormat format, const AccessRecord& r) {
    std::string out;
    append_access_line(out, format, r);
    return out;
}

std::string squid(const AccessRecord& r) {
    return line(AccessFormat::squid, r);
}

/// Catches the log lines meanwhile; read it when no thread logs.
class ErrorLog {
public:
    ErrorLog() {
        auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
        auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
        logger->set_pattern("%l %v");
        spdlog::set_default_logger(std::move(logger));
    }
    ~ErrorLog() { spdlog::set_default_logger(before_); }

    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

const std::string kHostile = std::string("a\"b\\c\nd\re\0f\x7f\xff g\x1b[2J", 19);

TEST(JsonLine, HasTheNamesOthersReadInOrder) {
    EXPECT_EQ(line(AccessFormat::json, record()),
              "{\"ts\":\"2026-11-20T12:50:33.007Z\",\"role\":\"client\",\"client\":\"192.0.2.1\","
              "\"method\":\"GET\","
              "\"url\":\"http://example.org/a?b\",\"status\":200,\"bytes\":1024,\"dur_ms\":1.234,"
              "\"outcome\":\"local_hit\",\"cache\":\"hit\",\"source\":\"memory\",\"protocol\":"
              "\"HTTP/1.1\"}\n");
}

TEST(JsonLine, HasTheAddressOfTheOriginThatAnswered) {
    EXPECT_THAT(line(AccessFormat::json, record()), Not(HasSubstr("origin\":")));
    auto r = record();
    r.handling.origin = "10.0.0.7:8080";
    EXPECT_THAT(line(AccessFormat::json, r), HasSubstr(",\"origin\":\"10.0.0.7:8080\""));
}

TEST(JsonLine, HasTheTraceOfARequestThatHasOne) {
    auto r = record();
    EXPECT_THAT(line(AccessFormat::json, r), Not(HasSubstr("trace_id")));
    r.request.trace = {0x0a, 0xf7};
    EXPECT_THAT(line(AccessFormat::json, r),
                HasSubstr("\"trace_id\":\"0af70000000000000000000000000000\""));
}

TEST(JsonLine, NamesAPeerAfterAPeerRequest) {
    const auto hit = json::parse(line(AccessFormat::json, peer_hit()));
    EXPECT_EQ(hit["peer"], "b");
    EXPECT_EQ(hit["peer_verdict"], "hit");
    EXPECT_EQ(hit["source"], "peer");
    EXPECT_FALSE(json::parse(line(AccessFormat::json, record())).contains("peer"));
}

TEST(JsonLine, NamesAllPeersAfterSeveralPeerRequests) {
    PeerRequestLog log;
    const auto first = log.asked("b");
    auto r = peer_hit();
    r.handling.peers_asked = &log;
    EXPECT_FALSE(json::parse(line(AccessFormat::json, r)).contains("peers_asked"));
    const auto second = log.asked("c");
    log.answered(second, PeerVerdict::hit);
    log.answered(first, PeerVerdict::timeout);
    EXPECT_EQ(
        json::parse(line(AccessFormat::json, r))["peers_asked"],
        json::parse(R"([{"peer": "b", "verdict": "timeout"}, {"peer": "c", "verdict": "hit"}])"));
}

TEST(CombinedLine, HasARequestLineThatCouldNotBeReadAsItCame) {
    auto r = record();
    r.request.method = "";
    r.request.url = "G\"T /lg HTTP/1.1";
    EXPECT_THAT(line(AccessFormat::combined, r), HasSubstr("] \"G\\\"T /lg HTTP/1.1\" "));
}

TEST(PeerRequestLog, KeepsTheLastPeerRequests) {
    PeerRequestLog log;
    const auto first = log.asked("first");
    for (std::size_t i = 0; i < PeerRequestLog::kMax; ++i)
        log.answered(log.asked("b"), PeerVerdict::refused);
    log.answered(first, PeerVerdict::failure);  // nobody knows it any more
    EXPECT_EQ(log.all().size(), PeerRequestLog::kMax);
    EXPECT_EQ(log.last_to("first"), nullptr);
    EXPECT_EQ(log.last_to("b"), &log.all().back());
    for (const auto& one : log.all()) EXPECT_EQ(one.verdict, PeerVerdict::refused);
}

TEST(JsonLine, NamesTheSenderOfAPeerRequest) {
    auto r = record();
    r.request.role = Role::peer;
    r.handling.peer = "c";
    const auto request = json::parse(line(AccessFormat::json, r));
    EXPECT_EQ(request["role"], "peer");
    EXPECT_EQ(request["peer"], "c");
    EXPECT_FALSE(request.contains("peer_verdict"));
}

TEST(JsonLine, MarksAnAbortedAnswer) {
    auto r = record();
    EXPECT_FALSE(json::parse(line(AccessFormat::json, r)).contains("aborted"));
    r.response.aborted = true;
    EXPECT_EQ(json::parse(line(AccessFormat::json, r))["aborted"], true);
}

TEST(JsonLine, StaysOneValidLineForHostileClients) {
    auto r = record();
    r.request.url = r.request.method = r.request.client = kHostile;
    const auto text = line(AccessFormat::json, r);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= 0x20 && c < 0x7f; }));
    // Every byte is there, one that is no UTF-8 as U+EF00 and its value.
    const auto url = json::parse(text)["url"].get<std::string>();
    EXPECT_EQ(url, std::string("a\"b\\c\nd\re\0f\x7f\xee\xbf\xbf g\x1b[2J", 21));
}

std::string json_url(std::string_view url) {
    auto r = record();
    r.request.url = url;
    const auto text = line(AccessFormat::json, r);
    const auto begin = text.find("\"url\":\"") + 7;
    return text.substr(begin, text.find("\",\"status\"") - begin);
}

TEST(JsonLine, KeepsUtf8) {
    for (const std::string text :
         {"http://a/caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\xa6", "\xef\xbf\xbd"})
        EXPECT_EQ(json_url(text), text);
}

TEST(JsonLine, EscapesBytesThatAreNoUtf8SoThatTheyCanBeHadBack) {
    EXPECT_EQ(json_url("caf\xe9!"), "caf\\uefe9!");
    EXPECT_EQ(json_url("\xc3"), "\\uefc3");             // cut off
    EXPECT_EQ(json_url("\xc0\xaf"), "\\uefc0\\uefaf");  // longer than needed
    EXPECT_EQ(json_url("\xe0\x80\xaf"), "\\uefe0\\uef80\\uefaf");
    EXPECT_EQ(json_url("\xed\xa0\x80"), "\\uefed\\uefa0\\uef80");  // a surrogate
    EXPECT_EQ(json_url("\xf4\x90\x80\x80"), "\\ueff4\\uef90\\uef80\\uef80");
    EXPECT_EQ(json_url("\xf5\x80\x80\x80"), "\\ueff5\\uef80\\uef80\\uef80");
    EXPECT_EQ(json_url("\xee\xbf\xa9"), "\\uefee\\uefbf\\uefa9");  // U+EFE9 itself
    EXPECT_EQ(json_url("\xc2\x9b[2J"), "\\u009b[2J");              // a control character
}

TEST(SquidLine, HasTheNativeFormat) {
    EXPECT_EQ(squid(record()),
              "1795179033.008      1 192.0.2.1 TCP_MEM_HIT/200 1300 GET http://example.org/a?b - "
              "HIER_NONE/- text/html\n");
}

TEST(SquidLine, UsesSquidsWords) {
    EXPECT_THAT(squid(peer_hit()), HasSubstr(" TCP_MISS/200 1300 GET http://example.org/a?b - "
                                             "CD_SIBLING_HIT/b "));
    auto r = record();
    r.response.status = 304;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_IMS_HIT/304 "));
    r = record();
    r.handling.source = Source::disk;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_HIT/200 "));
    EXPECT_THAT(squid(r), HasSubstr(" HIER_NONE/- "));

    r = record();
    r.handling.outcome = Outcome::origin_fetch;
    r.handling.cache = CacheResult::miss;
    r.handling.source = Source::origin;
    r.handling.origin = "10.0.0.7:8080";
    EXPECT_THAT(squid(r),
                HasSubstr(" TCP_MISS/200 1300 GET http://example.org/a?b - HIER_DIRECT/10.0.0.7 "));
    r.handling.cache = CacheResult::reval;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_REFRESH_MODIFIED/200 "));
    r.request.client_reload = true;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_CLIENT_REFRESH_MISS/200 "));

    r = record();
    r.handling.cache = CacheResult::reval;
    r.handling.validated = true;
    r.handling.origin = "[2001:db8::7]:8080";
    EXPECT_THAT(squid(r), HasSubstr(" TCP_REFRESH_UNMODIFIED/200 "));
    EXPECT_THAT(squid(r), HasSubstr(" HIER_DIRECT/2001:db8::7 "));
    r = record();
    r.handling.cache = CacheResult::stale;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_REFRESH_FAIL_OLD/200 "));
}

TEST(SquidLine, SeparatesErrors) {
    auto r = record();
    r.handling.outcome = Outcome::error;
    r.handling.cache = CacheResult::bypass;
    r.handling.source = Source::none;
    r.response.status = 400;
    EXPECT_THAT(squid(r), HasSubstr(" NONE_NONE/400 "));
    r.handling.outcome = Outcome::refused;
    r.response.status = 403;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_DENIED/403 "));
    r.response.status = 407;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_DENIED/407 "));
    r.handling.outcome = Outcome::error;
    r.response.status = 504;
    EXPECT_THAT(squid(r), HasSubstr(" TCP_MISS/504 "));
    r.response.status = 0;
    r.response.aborted = true;
    EXPECT_THAT(squid(r), HasSubstr(" NONE_NONE_ABORTED/000 "));
    r = record();
    r.handling.outcome = Outcome::uncacheable;
    r.request.method = "CONNECT";
    EXPECT_THAT(squid(r), HasSubstr(" TCP_TUNNEL/200 "));
}

TEST(SquidLine, KeepsItsTenWordsForHostileClients) {
    auto r = record();
    r.request.url = r.request.method = r.request.client = r.response.content_type = kHostile;
    const auto text = squid(r);
    std::istringstream in(text);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    EXPECT_EQ(words.size(), 10u);
    EXPECT_EQ(words[6], "a\"b\\c%0ad%0de%00f%7f%ff%20g%1b[2J");
    r.request.url = r.response.content_type = "";
    EXPECT_THAT(squid(r), EndsWith(" - - HIER_NONE/- -\n"));
}

TEST(SquidLine, MarksTheRequestOfAPeerInTheFieldOfTheUser) {
    auto r = record();
    r.request.role = Role::peer;
    r.handling.peer = "b";
    EXPECT_THAT(squid(r), HasSubstr(" GET http://example.org/a?b peer:b HIER_NONE/- text/html\n"));
}

TEST(SquidLine, WritesLongTimesInFull) {
    auto r = record();
    r.duration = 12'345'678ms;
    EXPECT_THAT(squid(r), HasSubstr(" 12345678 192.0.2.1 "));
}

TEST(CombinedLine, HasApachesFormat) {
    auto r = record();
    r.request.referer = "http://ref.example/";
    r.request.user_agent = "curl/8 \"x\"";
    r.handling.origin = "10.0.0.7:8080";
    EXPECT_EQ(line(AccessFormat::combined, r),
              "192.0.2.1 - - [20/Nov/2026:12:50:33 +0000] \"GET http://example.org/a?b HTTP/1.1\" "
              "200 1024 \"http://ref.example/\" \"curl/8 \\\"x\\\"\" 10.0.0.7:8080\n");
}

TEST(AccessLines, NameTheUser) {
    auto r = record();
    r.request.user = "ann b";
    EXPECT_THAT(squid(r), HasSubstr(" GET http://example.org/a?b ann%20b HIER_NONE/- text/html\n"));
    EXPECT_THAT(line(AccessFormat::combined, r), StartsWith("192.0.2.1 - ann%20b [20/Nov/2026"));
    EXPECT_THAT(line(AccessFormat::json, r),
                HasSubstr("\"client\":\"192.0.2.1\",\"user\":\"ann b\","));
    r.request.user = "";
    EXPECT_THAT(line(AccessFormat::json, r), testing::Not(HasSubstr("user")));
}

TEST(CombinedLine, MarksTheRequestOfAPeerInTheFieldOfTheUser) {
    auto r = record();
    r.request.role = Role::peer;
    r.handling.peer = "b";
    EXPECT_THAT(line(AccessFormat::combined, r),
                StartsWith("192.0.2.1 - peer:b [20/Nov/2026:12:50:33 +0000] \"GET "));
}

TEST(CombinedLine, WritesDashesForAbsentValues) {
    auto r = record();
    r.response.bytes = 0;
    r.request.version = 10;
    EXPECT_THAT(line(AccessFormat::combined, r), EndsWith(" HTTP/1.0\" 200 - \"-\" \"-\" -\n"));
}

TEST(CombinedLine, KeepsItsQuotesForHostileClients) {
    auto r = record();
    r.request.url = r.request.user_agent = r.request.referer = kHostile;
    const auto text = line(AccessFormat::combined, r);
    EXPECT_THAT(text,
                HasSubstr("\"GET a\\\"b\\\\c\\x0ad\\x0de\\x00f\\x7f\\xff g\\x1b[2J HTTP/1.1\""));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

class AccessLogFile : public testing::Test {
protected:
    AccessLogFile() { std::filesystem::create_directories(folder_); }
    ~AccessLogFile() override { std::filesystem::remove_all(folder_); }

    LogConfig config(const std::string& name = "access.log") const {
        LogConfig log;
        log.access = (folder_ / name).string();
        return log;
    }
    std::size_t lines(const std::string& name = "access.log") const {
        std::ifstream in(folder_ / name);
        return static_cast<std::size_t>(
            std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("hearsay_log_" + std::to_string(::getpid()));
};

TEST_F(AccessLogFile, GetsEveryLineFromEveryThread) {
    constexpr int kThreads = 4, kLines = 500;
    {
        AccessLog log(config());
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&log] {
                for (int n = 0; n < kLines; ++n) log.write(record());
            });
        }
        for (auto& thread : threads) thread.join();
        log.flush();
        EXPECT_EQ(lines(), std::size_t{kThreads * kLines});
        EXPECT_EQ(log.dropped(), 0u);
    }
    std::ifstream in(folder_ / "access.log");
    for (std::string text; std::getline(in, text);) EXPECT_TRUE(json::accept(text)) << text;
}

TEST_F(AccessLogFile, HasPeerRequestsOnlyOnWish) {
    auto request = record();
    request.request.role = Role::peer;
    for (const auto peers : {true, false}) {
        auto settings = config(peers ? "with" : "without");
        settings.peers = peers;
        AccessLog log(settings);
        log.write(record());
        log.write(request);
        log.flush();
        EXPECT_EQ(lines(settings.access), peers ? 2u : 1u);
        settings.peers = !peers;
        ASSERT_FALSE(log.reconfigure(settings));
        log.write(request);
        log.flush();
        EXPECT_EQ(lines(settings.access), 2u);
    }
}

TEST_F(AccessLogFile, IsAppendedToAndCompleteAtTheEnd) {
    AccessLog(config()).write(record());
    AccessLog(config()).write(record());
    EXPECT_EQ(lines(), 2u);
}

TEST_F(AccessLogFile, IsOpenedAnewAfterRotation) {
    AccessLog log(config());
    log.write(record());
    log.flush();
    std::filesystem::rename(folder_ / "access.log", folder_ / "access.log.1");
    log.write(record());
    log.reopen();
    log.flush();
    log.write(record());
    log.flush();
    EXPECT_EQ(lines("access.log.1"), 2u);
    EXPECT_EQ(lines(), 1u);
    EXPECT_EQ(log.failed(), 0u);
}

TEST_F(AccessLogFile, LogsTheResultOfOpeningItAgain) {
    const ErrorLog errors;
    {
        AccessLog log(config());
        log.reopen();
        log.flush();
        EXPECT_THAT(errors.text(), HasSubstr("access.log: opened anew\n"));
    }
    AccessLog(LogConfig{}).reopen();
    EXPECT_THAT(errors.text(), HasSubstr("log.access is off: no file is to be opened anew"));
}

TEST_F(AccessLogFile, PassesTheResultOfOpeningItAgainToItsCallers) {
    const ErrorLog errors;
    std::vector<std::string> told;  // by the writer's thread, which flush() waits for
    const auto note = [&](const std::string& why_not) { told.push_back(why_not); };
    AccessLog(LogConfig{}).reopen(note);
    EXPECT_EQ(told, std::vector<std::string>{""});
    AccessLog log(config());
    log.reopen(note);
    log.flush();
    EXPECT_EQ(told.size(), 2u);
    EXPECT_EQ(told.back(), "");
    std::filesystem::remove(folder_ / "access.log");
    std::filesystem::create_directory(folder_ / "access.log");
    log.reopen(note);
    log.reopen(note);
    log.flush();
    ASSERT_EQ(told.size(), 4u);
    EXPECT_THAT(told[3],
                EndsWith("access.log: cannot be opened anew; the old file stays in use: Is "
                         "a directory"));
    EXPECT_EQ(told[2], told[3]);
}

TEST_F(AccessLogFile, StaysInUseWhenItCannotBeOpenedAnew) {
    const ErrorLog errors;
    AccessLog log(config());
    std::filesystem::rename(folder_ / "access.log", folder_ / "old.log");
    std::filesystem::create_directory(folder_ / "access.log");
    log.reopen();
    log.write(record());
    log.flush();
    EXPECT_EQ(lines("old.log"), 1u);
    EXPECT_EQ(log.failed(), 0u);
    EXPECT_THAT(errors.text(), HasSubstr("cannot be opened anew; the old file stays in use: "
                                         "Is a directory"));
}

TEST_F(AccessLogFile, CountsLinesThatCannotBeWrittenAndSaysWhyOnce) {
    const ErrorLog errors;
    auto full = config();
    full.access = "/dev/full";
    AccessLog log(full);
    for (int i = 0; i < 3; ++i) {
        log.write(record());
        log.flush();
    }
    EXPECT_EQ(log.failed(), 3u);
    EXPECT_EQ(errors.text(),
              "error access log /dev/full: lines are lost, as it cannot be written: "
              "No space left on device\n");
}

TEST_F(AccessLogFile, DropsAndCountsInsteadOfWaiting) {
    // A pipe that nobody reads: its writer blocks, the callers do not.
    const auto pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    {
        AccessLog log(config("pipe"), 4096);
        constexpr std::uint64_t kLines = 5000;  // far more than pipe and buffer take
        for (std::uint64_t i = 0; i < kLines; ++i) log.write(record());
        EXPECT_GT(log.dropped(), 0u);
        const auto accepted = kLines - log.dropped();
        // Somebody reads again, so the accepted lines arrive.
        std::size_t arrived = 0;
        while (arrived < accepted) {
            char buffer[4096];
            const auto count = ::read(reader, buffer, sizeof buffer);
            if (count > 0)
                arrived += static_cast<std::size_t>(std::count(buffer, buffer + count, '\n'));
        }
        log.flush();
        EXPECT_EQ(arrived, accepted);
    }
    ::close(reader);
}

TEST_F(AccessLogFile, MayBeAPipeWithoutReader) {
    const auto pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    AccessLog log(config("pipe"));  // does not wait for a reader
    log.write(record());
    log.reopen();
    log.flush();
    EXPECT_FALSE(log.reconfigure(config("pipe")));
    log.write(record());
    log.flush();
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    char buffer[4096];
    const auto count = ::read(reader, buffer, sizeof buffer);  // what was written before it came
    ::close(reader);
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::count(buffer, buffer + count, '\n'), 2);
    EXPECT_EQ(log.failed(), 0u);
}

TEST_F(AccessLogFile, GivesUpAReaderThatTakesNothingWhenItIsToEndOrGoElsewhere) {
    const ErrorLog errors;
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    constexpr std::uint64_t kLines = 2000;  // more than a pipe takes
    {
        AccessLog log(config("pipe"));
        for (std::uint64_t i = 0; i < kLines; ++i) log.write(record());
        EXPECT_FALSE(log.reconfigure(config()));
        log.write(record());
        log.flush();
        EXPECT_EQ(lines(), 1u);
        const auto lost = log.failed();
        EXPECT_GT(lost, 0u);
        EXPECT_LT(lost, kLines);
        EXPECT_FALSE(log.reconfigure(config("pipe")));
        for (std::uint64_t i = 0; i < kLines; ++i) log.write(record());
    }  // ends
    EXPECT_THAT(errors.text(), HasSubstr("lines are lost, as it cannot be written: "
                                         "Connection timed out"));
}

TEST_F(AccessLogFile, TakesAnotherFileAndFormatBetweenTwoLines) {
    AccessLog log(config("one.log"));
    for (int i = 0; i < 10; ++i) {  // faster than the writer, or not
        log.write(record());
        auto next = config(i % 2 == 0 ? "two.log" : "one.log");
        next.format = i % 2 == 0 ? AccessFormat::squid : AccessFormat::json;
        EXPECT_FALSE(log.reconfigure(next));
        if (i % 3 == 0) log.flush();
    }
    log.flush();
    EXPECT_EQ(lines("one.log"), 5u);
    EXPECT_EQ(lines("two.log"), 5u);
    std::ifstream one(folder_ / "one.log"), two(folder_ / "two.log");
    for (std::string text; std::getline(one, text);) EXPECT_TRUE(json::accept(text)) << text;
    for (std::string text; std::getline(two, text);) EXPECT_FALSE(json::accept(text)) << text;
}

TEST_F(AccessLogFile, StaysInUseWhenTheNextCannotBeOpened) {
    AccessLog log(config());
    auto bad = config("no/such/folder.log");
    bad.format = AccessFormat::squid;
    EXPECT_EQ(log.reconfigure(bad), boost::system::errc::no_such_file_or_directory);
    log.write(record());
    log.flush();
    EXPECT_EQ(lines(), 1u);
}

TEST_F(AccessLogFile, CanBeTurnedOnAndOff) {
    AccessLog log(LogConfig{});
    EXPECT_FALSE(log.reconfigure(LogConfig{}));
    EXPECT_FALSE(log.reconfigure(config()));
    EXPECT_TRUE(log.enabled());
    log.write(record());
    EXPECT_FALSE(log.reconfigure(LogConfig{}));
    log.write(record());
    log.reopen();
    log.flush();
    EXPECT_EQ(lines(), 1u);
    EXPECT_FALSE(log.reconfigure(config()));
    log.write(record());
    log.flush();
    EXPECT_EQ(lines(), 2u);
}

TEST_F(AccessLogFile, EndsStartUpWhenItCannotBeOpened) {
    EXPECT_THROW(AccessLog(config("no/such/folder.log")), boost::system::system_error);
}

TEST(AccessLog, DoesNothingWhenOff) {
    AccessLog log(LogConfig{});
    EXPECT_FALSE(log.enabled());
    log.write(record());
    log.reopen();
    log.flush();
    EXPECT_EQ(log.dropped() + log.failed(), 0u);
}

}  // namespace access_log_test
}  // namespace proxy
