// Heads, and other texts in their place.
#include "tests/cluster/malformed_requests.hpp"

namespace proxy::test {
namespace malformed_requests_test {

using namespace std::string_literals;

TEST_F(MalformedRequests, ABadHostIsRefused) {  // RFC 9112 §3.2
    std::vector<Case> cases;
    const auto hosts = [&](std::string name, std::string lines) {
        cases.push_back({std::move(name), "GET /x HTTP/1.1\r\n" + lines + "\r\n"});
    };
    hosts("none", "");
    hosts("two equal ones", "Host: a\r\nHost: a\r\n");
    hosts("two", "Host: a\r\nhost: b\r\n");
    hosts("two, one of them empty", "Host: a\r\nHost:\r\n");
    for (const std::string value :
         {"a b",  "a/b",      "user@a", "a, b", "a,b",     "a\tb", "a\\b",        "a?b",
          "a#b",  "a:80:80",  "a:x",    "a:-1", "a:65536", "a:0",  "a: 80",       "[::1",
          "::1",  "[]",       "[::1]x", "[x]",  "a<b",     "a\"b", "caf\xc3\xa9", "a%",
          "a%zz", "http://a", "a\x01",  "a|b",  "a^b",     "{a}"})
        hosts(value, "Host: " + value + "\r\n");
    hosts("NUL", "Host: a"s + '\0' + "b\r\n");
    hosts("folded", "Host:\r\n a\r\n");
    expect_refused(cases);
    // In origin-form there is nothing else to go by.
    auto connection = client("a");
    connection.socket.send("GET /x HTTP/1.1\r\nHost:\r\n\r\n" + std::string(kNext));
    EXPECT_EQ(count_of(read_to_end(connection.socket), "HTTP/1.1 400 "), 1u);
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(MalformedRequests, ABrokenFieldLineIsRefused) {  // RFC 9112 §2.2, §5, §5.1, §5.2
    std::vector<Case> cases;
    for (const std::string fields : {"X : y\r\n",
                                     "X\t: y\r\n",
                                     "X \r\n: y\r\n",
                                     "no colon\r\n",
                                     "nocolon\r\n",
                                     ": no name\r\n",
                                     ":\r\n",
                                     " X: y\r\n",
                                     "\tX: y\r\n",
                                     "X: a\nb\r\n",
                                     "X: a\n\r\n",
                                     "X: a\nY: b\r\n",
                                     "X: a\rb\r\n",
                                     "X: a\r\r\n",
                                     "X: \r\r\n",
                                     "X: a\x01\r\n",
                                     "X: a\x0b"
                                     "b\r\n",
                                     "X: a\x7f\r\n",
                                     "X: a\x1f\r\n",
                                     "X: a\r\n b\r\n",
                                     "X: a\r\n\tb\r\n",
                                     "X: a\r\n \r\n",
                                     "X:\r\n a\r\n",
                                     "X:\r\n \r\n",
                                     "X: a\r\nY: b\r\n c\r\nZ: d\r\n",
                                     "X: a\r\n b\r\n c\r\n",
                                     "X\xc3\xa9: y\r\n",
                                     "X(y): z\r\n",
                                     "X/y: z\r\n",
                                     "X[y]: z\r\n",
                                     "X\"y: z\r\n",
                                     "X@y: z\r\n",
                                     "X,y: z\r\n",
                                     "X;y: z\r\n",
                                     "X=y: z\r\n",
                                     "X{y}: z\r\n",
                                     "X\\y: z\r\n",
                                     "X\x7fy: z\r\n",
                                     "X y: z\r\n",
                                     "\nX: y\r\n",
                                     "\rX: y\r\n",
                                     "X: y\r\n\rY: z\r\n",
                                     "Connection: a b\r\n"})
        cases.push_back({fields, get_of(fields)});
    cases.push_back({"NUL in a value", get_of("X: a"s + '\0' + "b\r\n")});
    cases.push_back({"NUL in a name", get_of("X"s + '\0' + ": b\r\n")});
    cases.push_back({"first line folded", "GET /x HTTP/1.1\r\n Host: origin.test\r\n\r\n"});
    cases.push_back({"fold larger than the parser's own limit",
                     get_of("X: a\r\n " + std::string(8000, 'b') + "\r\n")});
    cases.push_back({"LF LF", "GET /x HTTP/1.1\nHost: origin.test\n\n"});
    cases.push_back({"LF after the request line", "GET /x HTTP/1.1\nHost: origin.test\r\n\r\n"});
    cases.push_back({"LF after a field", "GET /x HTTP/1.1\r\nHost: origin.test\n\r\n"});
    cases.push_back({"LF as empty line", "GET /x HTTP/1.1\r\nHost: origin.test\r\n\n"});
    cases.push_back({"CR as line end", "GET /x HTTP/1.1\rHost: origin.test\r\r"});
    cases.push_back({"CR LF LF", "GET /x HTTP/1.1\r\n\nHost: origin.test\r\n\r\n"});
    cases.push_back({"more options than are looked at", [] {
                         std::string names = "Connection: a";
                         for (int i = 0; i < 200; ++i) names += ", x" + std::to_string(i);
                         return get_of(names + "\r\n");
                     }()});
    expect_refused(cases);
}

TEST_F(MalformedRequests, ABrokenRequestLineIsRefused) {  // RFC 9112 §3, §2.3
    std::vector<Case> cases;
    for (const std::string text : {"GET  /x HTTP/1.1",
                                   "GET /x  HTTP/1.1",
                                   "GET\t/x HTTP/1.1",
                                   "GET /x\tHTTP/1.1",
                                   " GET /x HTTP/1.1",
                                   "GET /x HTTP/1.1 ",
                                   "GET /x HTTP/1.1\t",
                                   "GET /x http/1.1",
                                   "GET /x Http/1.1",
                                   "GET /x HTTP/1.2",
                                   "GET /x HTTP/1.10",
                                   "GET /x HTTP/01.1",
                                   "GET /x HTTP/1",
                                   "GET /x HTTP/1.",
                                   "GET /x HTTP/.1",
                                   "GET /x HTTP/+1.1",
                                   "GET /x HTTP/1,1",
                                   "GET /x HTTP1.1",
                                   "GET /x HTTP/ 1.1",
                                   "GET /x HTTPS/1.1",
                                   "GET /x ICY/1.1",
                                   "GET /x",
                                   "GET /x ",
                                   "GET",
                                   "GET ",
                                   " /x HTTP/1.1",
                                   "/x HTTP/1.1",
                                   "GET HTTP/1.1",
                                   "G@T /x HTTP/1.1",
                                   "G(T) /x HTTP/1.1",
                                   "GET: /x HTTP/1.1",
                                   "\"GET\" /x HTTP/1.1",
                                   "GE\x01T /x HTTP/1.1",
                                   "G\xc3\x89T /x HTTP/1.1",
                                   "GET /x y HTTP/1.1",
                                   "GET /x\x01 HTTP/1.1",
                                   "GET /x\x7f HTTP/1.1",
                                   "GET /x\x0b HTTP/1.1",
                                   "GET /x\ry HTTP/1.1",
                                   "GET /x#y HTTP/1.1",
                                   "GET /# HTTP/1.1",
                                   "GET x HTTP/1.1",
                                   "GET ?x HTTP/1.1",
                                   "GET * HTTP/1.1",
                                   "GET origin.test:80 HTTP/1.1",
                                   "GET /x HTTP/1.1 x",
                                   "GET /x HTTP/2.0 HTTP/1.1",
                                   "GET /x HTTP/10.1",
                                   "GET /x HTTP/1.1\r"})
        cases.push_back({text, line(text)});
    cases.push_back({"NUL in the target", line("GET /x"s + '\0' + " HTTP/1.1")});
    for (const std::string text :
         {"GET /x HTTP/2.0", "GET /x HTTP/3.0", "GET /x HTTP/0.9", "GET /x HTTP/9.9"})
        cases.push_back({text, line(text), 505});
    expect_refused(cases);
}

TEST_F(MalformedRequests, InAnotherProtocolAtOnce) {  // 400 and a close, without a wait
    const std::string client_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
             {"TLS", client_hello},
             {"the first byte of TLS", "\x16"},
             {"SOCKS", "\x05\x01"s + '\0'},
             {"binary", std::string("\0\0\0\0", 4)},
             {"SSH", "SSH-2.0-x\r\n"},
             {"a bare LF", "\n"},
             {"a bare CR", "\rG"},
             {"a lone LF at the end of the request line", "GET /x HTTP/1.1\n"},
         }) {
        SCOPED_TRACE(name);
        auto connection = client("a");
        connection.socket.send(bytes);
        const auto answer = read_to_end(connection.socket);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
        EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1u);
    }
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(MalformedRequests, AboveTheLimits) {  // RFC 9112 §3, RFC 6585 §5
    std::string lines;
    for (int i = 0; i < 200; ++i) lines += "X: y\r\n";
    expect_refused({
        {"a line above its limit", line("GET /" + std::string(16 * 1024, 'x') + " HTTP/1.1"), 414},
        {"a line above both limits", line("GET /" + std::string(70'000, 'x') + " HTTP/1.1"), 414},
        {"a line without an end", "GET /" + std::string(20'000, 'x'), 414},
        {"a method without an end", std::string(20'000, 'X'), 414},
        {"a head above its limit", get_of("X: " + std::string(65'536, 'y') + "\r\n"), 431},
        {"a head without an end", "GET /x HTTP/1.1\r\nX: " + std::string(70'000, 'y'), 431},
        {"too many lines", get_of(lines), 431},
    });
    const std::string longest = " HTTP/1.1\r\nHost: origin.test\r\n\r\n";
    const std::string absolute = "GET http://127.0.0.1:" + std::to_string(origin.port()) + "/";
    for (const auto& [node, start] : {std::pair("a", "GET /"s), std::pair("b", absolute)}) {
        auto connection = client(node);
        const auto fill = 16 * 1024 - start.size() - 10;  // what stands before the LF
        connection.socket.send(start + std::string(fill, 'x') + longest);
        EXPECT_EQ(connection.read().status, 200u);
        connection.socket.send(start + std::string(fill + 1, 'x') + longest);
        EXPECT_EQ(connection.read().status, 414u);
    }
}

TEST_F(MalformedRequests, AboveTheLimitsThatAreSet) {  // but that of lines
    auto settings = config("c");
    settings.limits.request_line = 100;
    settings.limits.head = 1200;
    start(std::move(settings));
    const auto ask = [&](std::string_view bytes) {
        auto connection = client("c");
        connection.socket.send(bytes);
        return connection.read().status;
    };
    std::string lines;  // with Host
    for (std::size_t i = 1; i < kHeadLines; ++i) lines += "A:\r\n";
    EXPECT_EQ(ask(get_of(lines)), 200u);
    EXPECT_EQ(ask(get_of(lines + "A:\r\n")), 431u);
    EXPECT_EQ(ask(get_of("A: " + std::string(1200, 'x') + "\r\n")), 431u);
    EXPECT_EQ(ask(line("GET /" + std::string(100, 'x') + " HTTP/1.1")), 414u);
}

TEST_F(MalformedRequests, ThatNameNothingToFetch) {  // RFC 9110 §4.2.4, RFC 9112 §3.2.2
    for (const std::string target : {"ftp://origin.test/x",
                                     "file:///etc/passwd",
                                     "gopher://origin.test",
                                     "httpx://origin.test/",
                                     "http://user@origin.test/",
                                     "http://user:pw@origin.test/",
                                     "http://@origin.test/",
                                     "http:///x",
                                     "http:/x",
                                     "http:x",
                                     "http://",
                                     "http://:80/",
                                     "http://origin.test:x/",
                                     "http://origin.test:99999/",
                                     "http://origin test/",
                                     "http://[::1/",
                                     "http://a%zz/",
                                     "://origin.test/",
                                     "javascript:x",
                                     "origin.test/x"})
        for (const auto* node : {"a", "b"}) {
            SCOPED_TRACE(target + " at " + node);
            auto connection = client(node);
            connection.socket.send(line("GET " + target + " HTTP/1.1") + std::string(kNext));
            const auto answer = read_to_end(connection.socket);
            EXPECT_EQ(count_of(answer, "HTTP/1.1 400 "), 1u) << answer;
            EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1u) << answer;
        }
    EXPECT_EQ(origin.requests(), 0u);
}

TEST_F(MalformedRequests, AreToldFromOddFields) {
    expect_accepted({
        {get_of("X:\r\n"), ""},
        {get_of("X:y\r\n"), ""},
        {get_of("X: a\tb \xe4 \r\n"), ""},
        {get_of("!#$%&'*+-.^_`|~09azAZ: y\r\n"), ""},
        {"GET /x HTTP/1.1\r\nHost:   origin.test:80 \t\r\n\r\n", ""},
        {"GET /x HTTP/1.1\r\nhOsT: origin.test\r\n\r\n", ""},
    });
    const auto scripted = origin.set([](Exchange& e) { e.answer("", "old"); });
    auto old = client("a");
    old.socket.send("GET /x HTTP/1.0\r\nHost: h\r\n\r\n");
    EXPECT_EQ(old.read().status, 200u);
    EXPECT_TRUE(old.at_end());
}

TEST_F(MalformedRequests, AreNotMadeOfEmptyLines) {  // RFC 9112 §2.2
    for (const auto* node : {"a", "b"}) {
        auto connection = client(node);
        connection.socket.send("\r\n\r\n" + as_sent_to(node, get_of("")) + "\r\n" +
                               as_sent_to(node, get_of("")) + "\r\n");
        EXPECT_EQ(connection.read().status, 200u);
        EXPECT_EQ(connection.read().status, 200u);
        connection.socket.shut_send();
        EXPECT_TRUE(connection.at_end());
    }
    EXPECT_EQ(count("a", Outcome::error), 0u);
}

TEST_F(MalformedRequests, AreNotMadeByPipelining) {  // RFC 9112 §9.3.2
    for (const auto* node : {"a", "b"}) {
        auto connection = client(node);
        std::string all;
        for (int i = 0; i < 20; ++i) {
            const auto target = "/" + std::to_string(i);
            all += as_sent_to(node, i % 3 == 0 ? "POST " + target +
                                                     " HTTP/1.1\r\nHost: h\r\nContent-Length: "
                                                     "5\r\n\r\nhello"
                                               : "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");
        }
        connection.socket.send(all + as_sent_to(node, get_of("X : y\r\n")) + std::string(kNext));
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(connection.read().body, "body of /" + std::to_string(i));
        EXPECT_EQ(connection.read().status, 400u);  // it alone is refused, and what is behind it
        EXPECT_TRUE(connection.at_end());
    }
}

TEST_F(MalformedRequests, AreNotMadeByTwoNames) {  // RFC 9112 §3.2.2: the target wins
    const auto place = origin_authority();
    auto connection = client("b");
    connection.socket.send("GET http://" + place + "/x HTTP/1.1\r\nHost: other.test\r\n\r\n");
    EXPECT_EQ(connection.read().status, 200u);
    EXPECT_EQ(field_of(origin.heads().front(), "Host"), place);
    auto reverse = client("a");
    reverse.socket.send("GET http://one.test/x HTTP/1.1\r\nHost: other.test\r\n\r\n");
    EXPECT_EQ(reverse.read().status, 200u);
    EXPECT_EQ(field_of(origin.heads().back(), "Host"), "one.test");
}

TEST_F(MalformedRequests, AreTheSameHoweverTheirBytesArrive) {
    const std::vector<Case> cases{
        {"good",
         "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3;a\r\nabc\r\n0\r\nT: u\r\n\r\n",
         200},
        {"two framings",
         post_of("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"folded", get_of("X:\r\n y\r\n")},
        {"bare LF", get_of("X: a\nY: b\r\n")},
        {"size", chunked("0x5\r\nhello\r\n0\r\n\r\n")},
        {"data", chunked("5\r\nhelloX\r\n0\r\n\r\n")},
        {"trailer", chunked("0\r\nContent-Length: 5\r\n\r\n")},
    };
    for (const auto& each : cases)
        for (std::size_t cut = 1; cut < each.bytes.size(); ++cut) {
            auto connection = client("a");
            connection.socket.send(each.bytes.substr(0, cut));
            connection.socket.send(each.bytes.substr(cut));
            const auto answer = connection.read();
            EXPECT_EQ(answer.status, each.status) << each.name << " cut at " << cut;
            if (each.status != 200) {
                EXPECT_TRUE(connection.at_end()) << each.name << " cut at " << cut;
            }
        }
    for (const auto& each : cases) {  // byte by byte
        auto connection = client("a");
        for (const char byte : each.bytes)
            if (!connection.socket.send({&byte, 1})) break;
        EXPECT_EQ(connection.read().status, each.status) << each.name;
    }
}

}  // namespace malformed_requests_test
}  // namespace proxy::test
