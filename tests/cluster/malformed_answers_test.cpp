#include <atomic>
#include <mutex>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace malformed_answers_test {

using namespace std::chrono_literals;
using namespace std::string_literals;

enum class End { close, stay };

/// The text that an origin sends instead of a good answer, and whether it closes then.
struct Bad {
    std::string name, bytes;
    End end = End::stay;
};

std::string ok(std::string_view fields, std::string_view body = {}) {
    return "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n" + std::string(fields) + "\r\n" +
           std::string(body);
}
std::string chunks(std::string_view body) {
    return ok("Transfer-Encoding: chunked\r\n", body);
}

/// One node in reverse mode, "a", and one in forward mode, "b", asked in three ways: for the store,
/// past it, and with an unsafe method. No wait of theirs ends within a test's patience.
class MalformedAnswers : public NodesTest {
protected:
    void SetUp() override {
        for (const auto* name : {"a", "b"}) start(settings(name));
    }
    Config settings(const std::string& node) const {
        auto result = config(node);
        result.timeouts.origin_head = result.timeouts.body_idle = result.timeouts.keep_alive = 60s;
        result.limits.head = 16 << 10;
        if (node == "b") {
            result.origins.clear();
            result.forward.enabled = true;
            result.forward.private_destinations = Destinations::allow;
        }
        return result;
    }
    std::string target(const std::string& node, const std::string& path) const {
        if (node != "b") return path;
        return "http://" + origin_authority() + path;
    }

    struct Way {
        const char *node, *method, *fields;
    };
    static constexpr Way kWays[] = {
        {"a", "GET", ""},
        {"b", "GET", ""},
        {"a", "GET", "Cache-Control: no-store\r\n"},
        {"a", "POST", "Content-Length: 0\r\n"},
        {"b", "POST", "Content-Length: 0\r\n"},
    };

    /// Asks in every way for every answer. `check` looks at the answer for the client; then nothing
    /// of it may be stored, and no later request is harmed.
    template <class Check>
    void for_each(const std::vector<Bad>& answers, Check check, std::size_t origin_asked = 1) {
        std::mutex mutex;
        Bad now;
        const auto scripted = origin.set([&](Exchange& e) {
            if (!e.target.starts_with("/bad")) return e.answer(fresh(), "good");
            const std::lock_guard lock(mutex);
            e.send(now.bytes);
            e.keep = now.end == End::stay;
        });
        for (const auto& bad : answers)
            for (const auto& way : kWays) {
                SCOPED_TRACE(bad.name + ": " + way.method + " at " + way.node + ' ' + way.fields);
                {
                    const std::lock_guard lock(mutex);
                    now = bad;
                }
                const auto path = "/bad" + std::to_string(++number_);
                const auto before = origin.requests();
                auto connection = client(way.node);
                auto answer = connection.ask(way.method, target(way.node, path), way.fields);
                while (answer.status / 100 == 1)
                    answer = connection.read();  // before the final one
                check(answer);
                EXPECT_EQ(origin.requests(), before + origin_asked);
                {
                    const std::lock_guard lock(mutex);
                    now = {"", ok("Content-Length: 4\r\n", "next"), End::stay};
                }
                EXPECT_EQ(get(way.node, target(way.node, path)).body, "next");
                EXPECT_EQ(get(way.node, target(way.node, "/good" + std::to_string(number_))).body,
                          "good");
            }
    }
    void expect_502(const std::vector<Bad>& answers) {
        for_each(answers, [](const Answer& answer) {
            EXPECT_EQ(answer.status, 502u) << answer.head;
            EXPECT_TRUE(answer.complete);
            EXPECT_FALSE(answer.body.empty());  // says why
        });
    }
    /// The head was good and is out: the client must see that the body is not whole.
    void expect_cut(const std::vector<Bad>& answers) {
        for_each(answers, [](const Answer& answer) {
            if (answer.status == 502) return;  // it was known before the head went out
            EXPECT_EQ(answer.status, 200u);
            EXPECT_FALSE(answer.complete) << answer.body;
        });
    }

private:
    std::size_t number_ = 0;  // each request has a target of its own
};

TEST_F(MalformedAnswers, AnAnswerWithContradictingFramingIsRefused) {  // RFC 9112 §6.3
    std::vector<Bad> cases;
    for (const std::string fields : {"Content-Length: 5\r\nContent-Length: 6\r\n",
                                     "Content-Length: 5, 6\r\n",
                                     "Content-Length: 5\r\ncontent-length: 5, 7\r\n",
                                     "Content-Length: +5\r\n",
                                     "Content-Length: -5\r\n",
                                     "Content-Length: 0x5\r\n",
                                     "Content-Length: 5 5\r\n",
                                     "Content-Length: five\r\n",
                                     "Content-Length:\r\n",
                                     "Content-Length: 5,\r\n",
                                     "Content-Length: 9223372036854775808\r\n",
                                     "Content-Length: 18446744073709551621\r\n",
                                     "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                                     "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                                     "Transfer-Encoding: gzip\r\n",
                                     "Transfer-Encoding: gzip, chunked\r\n",
                                     "Transfer-Encoding: identity\r\n",
                                     "Transfer-Encoding: xchunked\r\n",
                                     "Transfer-Encoding: chunked, identity\r\n",
                                     "Transfer-Encoding:\r\n",
                                     "Transfer-Encoding : chunked\r\n",
                                     "Transfer-Encoding: chunked\x0b\r\n",
                                     "Transfer-Encoding:\r\n chunked\r\n"})
        cases.push_back({fields, ok(fields, "hello")});
    cases.push_back({"a length with chunks in HTTP/1.0",
                     "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
                     "5\r\nhello\r\n0\r\n\r\n"});
    // Some readers overlook the line and others obey it.
    cases.push_back({"a blank behind Content-Length", ok("Content-Length : 5\r\n", "hello")});
    cases.push_back({"a blank behind Transfer-Encoding",
                     ok("Transfer-Encoding\t: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")});
    expect_502(cases);
}

TEST_F(MalformedAnswers, ThatAreNotHttp) {  // RFC 9112 §4; a status above 599: RFC 9110 §15
    std::vector<Bad> cases;
    for (const std::string first :
         {"HTTP/1.1 099 Low",    "HTTP/1.1 000 None",  "HTTP/1.1 600 High",
          "HTTP/1.1 999 Higher", "HTTP/1.1 1000 Long", "HTTP/1.1 20 Short",
          "HTTP/1.1 2xx OK",     "HTTP/1.1 +20 OK",    "HTTP/1.1 -20 OK",
          "HTTP/1.10 200 OK",    "HTTP/1.1  200 OK",   "HTTP/1.1\t200 OK",
          "HTTP/1.1 200\tOK",    "HTTP/1.1",           "HTTP/1.1 ",
          "HTTP/1.1 OK",         "HTTP/1. 200 OK",     "HTTP/2.0 200 OK",
          "HTTP/2 200 OK",       "HTTP/0.9 200 OK",    "HTTP/11 200 OK",
          "http/1.1 200 OK",     "ICY 200 OK",         "HTTP 200 OK",
          "XHTTP/1.1 200 OK",    " HTTP/1.1 200 OK",   "\r\nHTTP/1.1 200 OK",
          "HTTP/1.1 200 O\x01K", "HTTP/1.1 200 O\rK",  "200 OK",
          "GET / HTTP/1.1"})
        cases.push_back({first, first + "\r\nContent-Length: 2\r\n\r\nhi"});
    // Nothing here ends a head, and nothing more comes: said at once, not at a deadline.
    cases.push_back({"a page of HTTP/0.9", "<html>hello</html>"});
    cases.push_back({"a page of HTTP/0.9, then the end", "<html>hello</html>", End::close});
    cases.push_back({"the greeting of another protocol", "220 mail.test ESMTP\r\n"});
    cases.push_back({"TLS", "\x15\x03\x03"s + '\0' + "\x02\x02\x46"});
    expect_502(cases);
}

TEST_F(MalformedAnswers, BrokenFieldsAreRefused) {  // RFC 9112 §5
    std::vector<Bad> cases;
    for (const std::string fields :
         {"X y : z\r\n", "no colon\r\n", ": no name\r\n", " : no name\r\n", " X: y\r\n",
          "X: a\nb\r\n", "X: a\n b\r\n", "X: a\rb\r\n", "X: a\r\r\n", "X: a\r\n b\r\n",
          "X: a\r\n \r\n", "X:\r\n b\r\n", "X\xc3\xa9: y\r\n", "X(y): z\r\n"})
        cases.push_back({fields, ok("Content-Length: 2\r\n" + fields, "hi")});
    cases.push_back({"NUL in a value", ok("Content-Length: 2\r\nX: a"s + '\0' + "b\r\n", "hi")});
    cases.push_back({"NUL in a name", ok("Content-Length: 2\r\nX"s + '\0' + ": b\r\n", "hi")});
    cases.push_back({"a head above its limit", ok("X: " + std::string(20'000, 'y') + "\r\n")});
    cases.push_back({"a head without an end", "HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'y')});
    std::string lines;
    for (int i = 0; i < 201; ++i) lines += "X: y\r\n";
    cases.push_back({"too many lines", ok(lines)});
    std::string interim;  // any number of them, but within the limit of a head
    for (int i = 0; i < 800; ++i) interim += "HTTP/1.1 103 Early\r\n\r\n";
    cases.push_back(
        {"interim answers above the limit", interim + ok("Content-Length: 2\r\n", "hi")});
    cases.push_back({"a malformed interim answer",
                     "HTTP/1.1 103 Early\r\nX y: z\r\n\r\n" + ok("Content-Length: 2\r\n", "hi")});
    cases.push_back({"101 that nobody asked for",  // RFC 9110 §7.8
                     "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"});
    cases.push_back({"304 that nobody asked for",  // RFC 9110 §15.4.5
                     "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n"});
    expect_502(cases);
}

TEST_F(MalformedAnswers, WithOneMeaningOnlyAreUnderstood) {  // as nginx and HAProxy do
    const std::string body = "5\r\nhello\r\n0\r\n\r\n";
    const std::string cases[] = {
        chunks("5 \r\nhello\r\n0\t \r\nT: u\r\n\r\n"),
        ok("Transfer-Encoding: chunked, chunked\r\n", body),
        ok("Transfer-Encoding: chunked\r\nX: y\r\nTransfer-Encoding: Chunked\r\n", body),
        ok("Content-Length: 5\r\nX-Odd: a\x01\x1b[0m\x7f"
           "b\r\n",
           "hello")};
    std::atomic<int> now{0};
    const auto scripted = origin.set([&](Exchange& e) {
        e.send(cases[now]);
        e.keep = true;
    });
    for (; now < static_cast<int>(std::size(cases)); ++now)
        for (const auto& way : kWays) {
            SCOPED_TRACE(std::to_string(now) + ": " + way.method + " at " + way.node);
            const auto path = "/odd/" + std::to_string(now) + way.method;
            const auto answer =
                client(way.node).ask(way.method, target(way.node, path), way.fields);
            EXPECT_EQ(answer.status, 200u);
            EXPECT_EQ(answer.body, "hello");
            if (now == 3) {
                EXPECT_EQ(answer.field("X-Odd"), "a  [0m b");
            }
        }
}

TEST_F(MalformedAnswers, BrokenChunksNeverPassAsWhole) {  // RFC 9112 §7.1
    std::vector<Bad> cases;
    for (const std::string body : {"0x5\r\nhello\r\n0\r\n\r\n",
                                   "+5\r\nhello\r\n0\r\n\r\n",
                                   "-5\r\nhello\r\n0\r\n\r\n",
                                   " 5\r\nhello\r\n0\r\n\r\n",
                                   "5\nhello\r\n0\r\n\r\n",
                                   "5 5\r\nhello\r\n0\r\n\r\n",
                                   "g\r\nhello\r\n0\r\n\r\n",
                                   "\r\n5\r\nhello\r\n0\r\n\r\n",
                                   "hello world",
                                   "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
                                   "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
                                   "5\r\nhello0\r\n\r\n",
                                   "5\r\nhelloX\r\n0\r\n\r\n",
                                   "5\r\nhello\n0\r\n\r\n",
                                   "5\r\nhello\r\nx\r\n\r\n",
                                   "5\r\nhello\r\n-0\r\n\r\n",
                                   "5\r\nhello\r\n0\nxx\r\n\r\n",
                                   "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
                                   "5;a=\"\r\nhello\r\n0\r\n\r\n",
                                   "5\r\nhello\r\n0\r\nno colon\r\n\r\n",
                                   "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
                                   "5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
                                   "5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n",
                                   "5\r\nhello\r\n0\r\nX:\r\n b\r\n\r\n"})
        cases.push_back({body, chunks(body)});
    cases.push_back({"an extension above its limit",
                     chunks("5;a=" + std::string(2000, 'x') + "\r\nhello\r\n0\r\n\r\n")});
    cases.push_back({"a chunk line without an end", chunks("5;a=" + std::string(70'000, 'x'))});
    cases.push_back({"a trailer without an end", chunks("0\r\nT: " + std::string(70'000, 'x'))});
    expect_cut(cases);
}

TEST_F(MalformedAnswers, ACutAnswerNeverPassesAsWhole) {  // RFC 9112 §8
    std::vector<Bad> cases;
    const std::string body = "3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: u\r\n\r\n";
    for (std::size_t cut = 0; cut < body.size(); ++cut)
        cases.push_back(
            {"chunks at " + std::to_string(cut), chunks(body.substr(0, cut)), End::close});
    for (std::size_t cut = 0; cut < 5; ++cut)
        cases.push_back({"length at " + std::to_string(cut),
                         ok("Content-Length: 5\r\n", "hello"s.substr(0, cut)), End::close});
    expect_cut(cases);

    cases.clear();
    const auto head = ok("Content-Length: 0\r\n");
    for (std::size_t cut = 1; cut < head.size(); cut += 3)
        cases.push_back({"head at " + std::to_string(cut), head.substr(0, cut), End::close});
    expect_502(cases);
}

TEST_F(MalformedAnswers, ThatGoOnAfterTheirEnd) {  // RFC 9112 §9.3
    const std::string poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    std::vector<Bad> cases;
    for (const auto& extra : {poison, "x"s, "\r\n"s, "HTTP/1.1 200 OK\r\n"s, poison + poison}) {
        const std::string head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n";
        cases.push_back({"behind a length", head + "Content-Length: 5\r\n\r\nhello" + extra});
        cases.push_back({"behind chunks", head + "Transfer-Encoding: chunked\r\n\r\n" +
                                              "5\r\nhello\r\n0\r\n\r\n" + extra});
    }
    for_each(cases, [](const Answer& answer) {
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(answer.body, "hello");
    });
}

TEST_F(MalformedAnswers, ABodyWhereNoneCanBeIsIgnored) {  // RFC 9110 §15.3.5, RFC 9112 §6.3
    const std::string poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    for_each(
        {{"204 with bytes", "HTTP/1.1 204 No Content\r\n\r\nhello"},
         {"204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"},
         {"204 with chunks",
          "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
         {"204 and another answer", "HTTP/1.1 204 No Content\r\n\r\n" + poison}},
        [](const Answer& answer) {
            EXPECT_EQ(answer.status, 204u);
            EXPECT_EQ(answer.field("Content-Length"), "");  // RFC 9110 §8.6
            EXPECT_EQ(answer.field("Transfer-Encoding"), "");
        });
    // HEAD and a 304 that was asked for.
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/good") return e.answer(fresh(), "good");
        if (e.method == "HEAD") return e.send(ok("Content-Length: 5\r\n", "hello"));
        e.send("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nContent-Length: 5\r\n\r\nhello");
    });
    for (const auto* node : {"a", "b"}) {
        auto connection = client(node);
        const auto answer = connection.ask("HEAD", target(node, "/head"));
        EXPECT_EQ(answer.status, 200u) << answer.head;
        EXPECT_EQ(
            connection
                .get(target(node, "/304"), "If-None-Match: \"v\"\r\nCache-Control: no-store\r\n")
                .status,
            304u);
        EXPECT_EQ(connection.get(target(node, "/good")).body, "good");
    }
}

TEST_F(MalformedAnswers, AreToldFromOddOnes) {  // what the grammar allows
    std::string interim;
    for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/interim") return e.send(interim + ok("Content-Length: 5\r\n", "hello"));
        if (e.target == "/twice")
            return e.send(ok("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"));
        if (e.target == "/list") return e.send(ok("Content-Length: 5, 5\r\n", "hello"));
        if (e.target == "/extensions")
            return e.send(chunks("5 ;a=\"b;\\\"\"\r\nhello\r\n00\r\nT: u\r\n\r\n"));
        if (e.target == "/noreason")
            return e.send("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello");
        if (e.target == "/status")
            return e.send("HTTP/1.1 599 Own\r\nContent-Length: 5\r\n\r\nhello");
        e.send(ok("", "hello"));  // to the end of the connection
        e.keep = false;
    });
    for (const auto* node : {"a", "b"})
        for (const std::string path :
             {"/twice", "/list", "/extensions", "/noreason", "/status", "/end"}) {
            const auto answer = get(node, target(node, path));
            EXPECT_EQ(answer.status, path == "/status" ? 599u : 200u) << path;
            EXPECT_EQ(answer.body, "hello") << path;
            EXPECT_TRUE(answer.complete) << path;
        }
    for (const auto* node :
         {"a", "b"}) {  // passed on or not, interim answers never end the request
        auto connection = client(node);
        auto answer = connection.get(target(node, "/interim"));
        EXPECT_TRUE(answer.status == 200 || answer.status == 103) << answer.head;
    }
}

/// Answers that nginx, HAProxy, Squid and Varnish all pass on, and that mean one thing only.
TEST_F(MalformedAnswers, AreMendedWhereAllProxiesUnderstandThemAlike) {
    std::vector<Bad> cases;
    for (const std::string answer :
         {"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",     // RFC 9112 §4
          "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello",  // §2.3
          "HTTP/1.9 200\nContent-Length: 5\n\nhello",
          "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",  // §2.2
          "HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nX: a\nContent-Length: 5\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
          "HTTP/1.1 200 OK\r\nX \t: y\r\nContent-Length: 5\r\n\r\nhello",  // §5.1
          "HTTP/1.1 103\nLink : </a>\n\nHTTP/1.1 200\nContent-Length: 5\n\nhello",
          "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n",
          // §6.1: and nothing more comes by that connection
          "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
          "5\r\nhello\r\n0\r\n\r\n"})
        cases.push_back({answer, answer});
    for_each(cases, [](const Answer& answer) {
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(answer.body, "hello");
        EXPECT_TRUE(answer.complete);
        EXPECT_TRUE(answer.head.starts_with("HTTP/1.1 200 ")) << answer.head;
        EXPECT_EQ(answer.head.find(" :"), std::string::npos) << answer.head;
        for (auto lf = answer.head.find('\n'); lf != std::string::npos;
             lf = answer.head.find('\n', lf + 1))
            EXPECT_EQ(answer.head[lf - 1], '\r') << answer.head;
    });
}

TEST_F(MalformedAnswers, ChunksInHttp10EndTheirConnection) {  // RFC 9112 §6.1
    const auto scripted = origin.set([](Exchange& e) {
        e.send(
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
            "5\r\nhello\r\n0\r\n\r\n");
    });
    for (std::size_t asked = 1; asked <= 3; ++asked) {
        EXPECT_EQ(get("a", "/" + std::to_string(asked)).body, "hello");
        EXPECT_EQ(origin.connections(), asked);
    }
}

TEST_F(MalformedAnswers, AreOnceMoreAskedForWhenNoneCameOnAKeptConnection) {  // RFC 9110 §9.2.2
    struct Try {
        const char *method, *fields, *body;
        std::size_t tries;  // with an idle connection to the origin at hand; without, one
    };
    std::atomic<bool> answer_second = false;
    std::atomic<std::size_t> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/warm") return e.answer("", "warm");
        const auto count = ++asked;
        if (answer_second && count == 2) return e.answer(fresh(), "second");
        e.keep = false;  // closed before a byte of the answer
    });
    for (const auto* node : {"a", "b"})
        for (const auto& each :
             {Try{"GET", "", "", 2}, Try{"GET", "Cache-Control: no-store\r\n", "", 2},
              Try{"HEAD", "", "", 2}, Try{"OPTIONS", "", "", 2}, Try{"DELETE", "", "", 2},
              Try{"POST", "", "x", 1}, Try{"POST", "", "", 1}, Try{"PATCH", "", "", 1},
              Try{"PUT", "", "x", 2}, Try{"PROPFIND", "", "x", 2}, Try{"PROPFIND", "", "", 2},
              Try{"UNHEARD-OF", "", "", 1}}) {
            SCOPED_TRACE(std::string(each.method) + " at " + node + ' ' + each.fields);
            auto connection = client(node);
            const auto warm = [&] {
                return connection.get(target(node, "/warm"), "Cache-Control: no-store\r\n").status;
            };
            EXPECT_EQ(warm(), 200u);
            for (int i = 0; i < 2; ++i) {
                asked = 0;
                answer_second = false;
                EXPECT_EQ(
                    connection.ask(each.method, target(node, "/x"), each.fields, each.body).status,
                    502u);
                EXPECT_EQ(asked, i == 0 ? each.tries : 1u);
            }
            if (each.tries == 1 || *each.body != '\0') continue;
            EXPECT_EQ(warm(), 200u);
            asked = 0;
            answer_second = true;
            EXPECT_EQ(
                connection
                    .ask(each.method, target(node, "/y" + std::string(each.method)), each.fields)
                    .status,
                200u);
            EXPECT_EQ(asked, 2u);
            answer_second = false;
        }
}

TEST_F(MalformedAnswers, AreNotAskedForAgainOnceTheyBegan) {
    std::atomic<std::size_t> asked = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        ++asked;
        e.send("HTTP/1.1 ");
        e.keep = false;
    });
    EXPECT_EQ(get("a", "/x").status, 502u);
    EXPECT_EQ(asked, 1u);
}

TEST_F(MalformedAnswers, ThatComeTooLateOrFromNowhere) {  // RFC 9110 §15.6.3, §15.6.5
    for (const auto* name : {"a", "b"}) {
        auto hasty = settings(name);
        hasty.timeouts.origin_head = 200ms;
        hasty.origins.push_back({"closed.test", {"127.0.0.1", 1}});
        hasty.origins.push_back(
            {"nowhere.test", {std::string(80, 'x'), 80}});  // no such name can be
        std::swap(hasty.origins.front(), hasty.origins.back());
        start(std::move(hasty));
    }
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/half")) e.send("HTTP/1.1 200 OK\r\nContent-Le");
        gate.wait();
        e.keep = false;
    });
    for (const auto* node : {"a", "b"}) {
        auto connection = client(node);
        for (const auto* path : {"/silent", "/half"}) {
            const auto answer = connection.get(target(node, path));
            EXPECT_EQ(answer.status, 504u) << path;
            EXPECT_NE(answer.body.find("in time"), std::string::npos) << answer.body;
        }
        const auto nowhere = connection.get("http://nowhere.test/x");
        EXPECT_EQ(nowhere.status, 502u);
        EXPECT_NE(nowhere.body.find("resolved"), std::string::npos) << nowhere.body;
    }
    gate.open();
}

TEST_F(MalformedAnswers, AreCutWhenTheyStopInTheMiddle) {
    for (const auto* name : {"a", "b"}) {
        auto hasty = settings(name);
        hasty.timeouts.body_idle = 200ms;
        start(std::move(hasty));
    }
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send(ok("Content-Length: 10\r\n", "hello"));
        gate.wait();
        e.keep = false;
    });
    for (const auto* node : {"a", "b"})
        for (const auto* fields : {"", "Cache-Control: no-store\r\n"}) {
            const auto answer = get(node, target(node, "/x"), fields);
            EXPECT_EQ(answer.status, 200u);
            EXPECT_FALSE(answer.complete);
        }
    gate.open();
}

TEST_F(MalformedAnswers, AreNotMadeOfAStreamWithoutLength) {  // RFC 9112 §6.3
    for (const bool chunked : {false, true}) {
        Gate first;
        const auto scripted = origin.set([&](Exchange& e) {
            e.send(chunked ? chunks("5\r\nhello\r\n") : ok("", "hello"));
            first.wait();
            e.send(chunked ? "5\r\nworld\r\n0\r\n\r\n" : "world");
            e.keep = false;
        });
        for (const auto* node : {"a", "b"}) {
            const auto path = chunked ? "/chunked" : "/end";
            auto connection = client(node);
            connection.begin("GET", target(node, path));
            // Not waiting for the last byte; "5\r\nhello\r\n" as a chunk of the node's own.
            ASSERT_TRUE(connection.read_at_least(8)) << node;
            first.open();
            const auto answer = connection.read();
            EXPECT_EQ(answer.body, "helloworld");
            EXPECT_TRUE(answer.complete);
        }
    }
}

TEST_F(MalformedAnswers, ThatNobodyReadsHoldUpNobodyElse) {  // memory for them is bounded
    constexpr std::size_t kBytes = 64 << 20;
    const std::string large(kBytes, 'x');
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/small") return e.answer("", "small");
        e.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
               std::to_string(kBytes) + "\r\n\r\n");
        e.send(large);
    });
    std::vector<Client> slow;
    for (int i = 0; i < 4; ++i) {
        slow.push_back(client("a"));
        slow.back().begin("GET", "/large" + std::to_string(i));
        ASSERT_TRUE(slow.back().read_at_least(1));
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get("a", "/small").body, "small");
    const auto window = kBodyWindow;
    EXPECT_LE(status("a").cache.memory_bytes, 4 * (window + 256 * 1024));
    for (auto& each : slow) each.socket.reset();
    EXPECT_TRUE(eventually([&] { return status("a").cache.memory_bytes == 0; }));
}

}  // namespace malformed_answers_test
}  // namespace proxy::test
