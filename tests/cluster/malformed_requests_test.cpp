#include <algorithm>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

struct Case {
    std::string name, bytes;
    unsigned status = 400;
};

/// Sent behind every malformed message: whoever loses the framing takes it for a request.
constexpr std::string_view kNext = "GET /smuggled HTTP/1.1\r\nHost: origin.test\r\n\r\n";

std::string get_of(std::string_view fields) {
    return "GET /x HTTP/1.1\r\nHost: origin.test\r\n" + std::string(fields) + "\r\n";
}
std::string post_of(std::string_view fields, std::string_view body) {
    return "POST /x HTTP/1.1\r\nHost: origin.test\r\n" + std::string(fields) + "\r\n" +
           std::string(body);
}
std::string chunked(std::string_view body) {
    return post_of("Transfer-Encoding: chunked\r\n", body);
}
std::string line(std::string_view request_line) {
    return std::string(request_line) + "\r\nHost: origin.test\r\n\r\n";
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

/// One node in reverse mode, "a", and one in forward mode, "b". No wait of theirs ends within a
/// test's patience: what is refused is refused for what it says.
class MalformedRequests : public NodesTest {
protected:
    void SetUp() override {
        for (const auto* name : {"a", "b"}) {
            auto settings = config(name);
            settings.timeouts.client_head = settings.timeouts.keep_alive =
                settings.timeouts.body_idle = 60s;
            if (settings.node == "b") {
                settings.origins.clear();
                settings.forward.enabled = true;
                settings.forward.private_destinations = Destinations::allow;
            }
            start(std::move(settings));
        }
    }

    /// In forward mode with the target in absolute-form.
    std::string as_sent_to(const std::string& node, std::string bytes) const {
        const auto target = bytes.find(" /");
        if (node == "b" && target != std::string::npos && target < bytes.find('\n'))
            bytes.insert(target + 1, "http://127.0.0.1:" + std::to_string(origin.port()));
        return bytes;
    }

    /// All that comes until the node closes.
    static std::string read_to_end(Socket& socket) {
        std::string all;
        while (socket.receive(all)) {
        }
        return all;
    }

    /// Refused with this status and closed; nothing of it, nor what follows, becomes a request.
    void expect_refused(const std::vector<Case>& cases) {
        for (const auto& each : cases) {
            for (const auto* node : {"a", "b"}) {
                SCOPED_TRACE(each.name + " at " + node);
                auto connection = client(node);
                connection.socket.send(as_sent_to(node, each.bytes) + std::string(kNext));
                const auto answer = read_to_end(connection.socket);
                EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(each.status) + ' '))
                    << answer;
                EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1u) << answer;
                EXPECT_EQ(field_of(answer, "Connection"), "close");
                EXPECT_EQ(origin.requests(), 0u);
            }
        }
    }

    /// Answered, and the connection kept for what follows. Gives the origin's view of the request's
    /// body, decoded or as chunks of the node's own.
    std::string accept(const std::string& node, const std::string& bytes) {
        std::string body;
        const auto scripted = origin.set([&](Exchange& e) {
            if (e.target == "/x") body = e.body;
            e.answer("", e.method + ' ' + e.target);
        });
        const auto before = origin.requests();
        auto connection = client(node);
        connection.socket.send(as_sent_to(node, bytes) +
                               as_sent_to(node, "GET /next HTTP/1.1\r\nHost: origin.test\r\n\r\n"));
        const auto first = connection.read();
        EXPECT_EQ(first.status, 200u) << first.head;
        EXPECT_TRUE(first.body.ends_with(" /x")) << first.body;
        EXPECT_EQ(connection.read().body, "GET /next");
        EXPECT_EQ(origin.requests(), before + 2);
        return body;
    }
    void expect_accepted(const std::vector<std::pair<std::string, std::string>>& bytes_and_body) {
        for (const auto& [bytes, body] : bytes_and_body)
            for (const auto* node : {"a", "b"}) {
                SCOPED_TRACE(bytes + " at " + node);
                EXPECT_EQ(accept(node, bytes), body);
            }
    }
};

const std::string kWhole = "5\r\nhello\r\n0\r\n\r\n";

TEST_F(MalformedRequests, WithTwoKindsOfFraming) {  // RFC 9112 §6.1, §6.3
    expect_refused({
        {"CL.TE", post_of("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"TE.CL", post_of("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
        {"CL.TE, hidden request",
         post_of("Content-Length: 49\r\nTransfer-Encoding: chunked\r\n",
                 "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: origin.test\r\n\r\n")},
        {"length 0", post_of("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", kWhole)},
        {"other case", post_of("content-length: 5\r\nTRANSFER-ENCODING: Chunked\r\n", "0\r\n\r\n")},
        {"GET", get_of("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")},
        {"unknown coding and length",
         post_of("Transfer-Encoding: x\r\nContent-Length: 5\r\n", "hello")},
        {"length and unknown coding",
         post_of("Content-Length: 5\r\nTransfer-Encoding: x\r\n", "hello")},
        {"apart",
         post_of("Content-Length: 5\r\nX: y\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    });
}

TEST_F(MalformedRequests, WithATransferCodingThatFramesNothing) {  // RFC 9112 §6.1
    std::vector<Case> cases;
    const auto te = [&](std::string name, std::string value, unsigned status = 400) {
        cases.push_back(
            {std::move(name), post_of("Transfer-Encoding:" + value + "\r\n", kWhole), status});
    };
    te("identity", " identity");
    te("chunked, identity", " chunked, identity");
    te("xchunked", " xchunked");
    te("chunkedx", " chunkedx");
    te("two words", " chunked chunked");
    te("twice in a list", " chunked, chunked");
    te("three times", " chunked, chunked, chunked");
    te("quoted", " \"chunked\"");
    te("apostrophes", " 'chunked'");
    te("trailing comma", " chunked,");
    te("leading comma", " , chunked");
    te("empty member", " gzip, , chunked");
    te("empty", "");
    te("white space alone", " \t ");
    te("with a parameter", " chunked;q=1");
    te("semicolon", " chunked;");
    te("gzip alone", " gzip");
    te("unknown last", " chunked, gzip");
    te("vertical tab behind", " chunked\x0b");
    te("form feed before",
       " \x0c"
       "chunked");
    te("NUL behind", " chunked"s + '\0');
    te("NUL inside", " chun"s + '\0' + "ked");
    te("bare CR before", " \rchunked");
    te("bare CR behind", " chunked\rX: y");
    te("bare LF before", " \nchunked");
    te("no-break space",
       " \xa0"
       "chunked");
    te("known and last", " gzip, chunked", 501);
    te("identity, chunked", " identity, chunked", 501);
    te("nonsense, chunked", " nonsense, chunked", 501);
    const auto fields = [&](std::string name, std::string lines) {
        cases.push_back({std::move(name), post_of(lines, kWhole)});
    };
    fields("space before the colon", "Transfer-Encoding : chunked\r\n");
    fields("tab before the colon", "Transfer-Encoding\t: chunked\r\n");
    fields("space before the name", " Transfer-Encoding: chunked\r\n");
    fields("space before the name of a second line", "X: y\r\n Transfer-Encoding: chunked\r\n");
    fields("control in the name", "Transfer\x0b-Encoding: chunked\r\n");
    fields("NUL in the name", "Transfer-Encoding"s + '\0' + ": chunked\r\n");
    fields("two lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n");
    fields("two lines, identity last",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n");
    fields("two lines, chunked last",
           "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n");
    fields("two lines, nonsense first", "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n");
    fields("folded", "Transfer-Encoding:\r\n chunked\r\n");
    fields("folded with a tab", "Transfer-Encoding:\r\n\tchunked\r\n");
    fields("folded behind", "Transfer-Encoding: chunked\r\n \r\n");
    fields("hidden in a folded line", "X: y\r\n Transfer-Encoding: chunked\r\n");
    cases.push_back({"HTTP/1.0",
                     "POST /x HTTP/1.0\r\nHost: origin.test\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n" +
                         kWhole});
    cases.push_back({"HTTP/1.0 keep-alive",
                     "POST /x HTTP/1.0\r\nHost: origin.test\r\nConnection: keep-alive\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n" +
                         kWhole});
    expect_refused(cases);
}

TEST_F(MalformedRequests, WithALengthThatIsNone) {  // RFC 9112 §6.3
    std::vector<Case> cases;
    for (const std::string value : {" +5",
                                    " -5",
                                    " -0",
                                    " 0x5",
                                    " 5 5",
                                    " 5, 6",
                                    " 6, 5",
                                    " 5,",
                                    " ,5",
                                    " 5,,5",
                                    "",
                                    " ",
                                    " ,",
                                    " five",
                                    " 5.0",
                                    " 5e0",
                                    " 5;",
                                    " \"5\"",
                                    " 5\x0b",
                                    " \x0c"
                                    "5",
                                    " 5_0",
                                    " 9223372036854775808",
                                    " 18446744073709551615",
                                    " 18446744073709551616",
                                    " 36893488147419103237",
                                    " 99999999999999999999999999999999",
                                    " 5\rX: y",
                                    " \xd9\xa5"})
        cases.push_back({value, post_of("Content-Length:" + value + "\r\n", "hello")});
    cases.push_back({"NUL", post_of("Content-Length: 5"s + '\0' + "\r\n", "hello")});
    for (const std::string lines :
         {"Content-Length: 5\r\nContent-Length: 6\r\n",
          "Content-Length: 0\r\nContent-Length: 5\r\n",
          "Content-Length: 5\r\ncontent-length: 0\r\n", "Content-Length: 5\r\nContent-Length:\r\n",
          "Content-Length: 5\r\nContent-Length: x\r\n", "Content-Length : 5\r\n",
          "Content-Length\t: 5\r\n", " Content-Length: 5\r\n", "X: y\r\n Content-Length: 5\r\n",
          "Content-Length:\r\n 5\r\n", "Content-Length: 5\r\n 0\r\n",
          "Content-Length: 5\r\nX: y\r\nContent-Length: 5, 7\r\n"})
        cases.push_back({lines, post_of(lines, "hello")});
    expect_refused(cases);
}

TEST_F(MalformedRequests, WithBrokenChunks) {  // RFC 9112 §7.1
    std::vector<Case> cases;
    for (const std::string body : {"0x5\r\nhello\r\n0\r\n\r\n",
                                   "+5\r\nhello\r\n0\r\n\r\n",
                                   "-0\r\n\r\n",
                                   "-5\r\nhello\r\n0\r\n\r\n",
                                   " 5\r\nhello\r\n0\r\n\r\n",
                                   "\t5\r\nhello\r\n0\r\n\r\n",
                                   "5\nhello\r\n0\r\n\r\n",
                                   "5\rhello\r\n0\r\n\r\n",
                                   "5 \r\nhello\r\n0\r\n\r\n",
                                   "5\t\r\nhello\r\n0\r\n\r\n",
                                   "5 5\r\nhello\r\n0\r\n\r\n",
                                   "5,5\r\nhello\r\n0\r\n\r\n",
                                   "5.\r\nhello\r\n0\r\n\r\n",
                                   "5_0\r\nhello\r\n0\r\n\r\n",
                                   "g\r\nhello\r\n0\r\n\r\n",
                                   "\r\n5\r\nhello\r\n0\r\n\r\n",
                                   "\r\n\r\n",
                                   ";a\r\nhello\r\n0\r\n\r\n",
                                   "10000000000000005\r\nhello\r\n0\r\n\r\n",
                                   "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
                                   "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
                                   "8000000000000000\r\nhello\r\n0\r\n\r\n",
                                   "5\r\nhello0\r\n\r\n",
                                   "5\r\nhelloX\r\n0\r\n\r\n",
                                   "5\r\nhello\n0\r\n\r\n",
                                   "5\r\nhello\r0\r\n\r\n",
                                   "5\r\nhello \r\n0\r\n\r\n",
                                   "5\r\nhello\r\n\r\n0\r\n\r\n",
                                   "4\r\nhello\r\n0\r\n\r\n",
                                   "6\r\nhello\r\n0\r\n\r\n",
                                   "5\r\nhello\r\n0\n\n",
                                   "5\r\nhello\r\n0\r\n\n",
                                   "5\r\nhello\r\n0\n\r\n",
                                   "0\r\n\n",
                                   "0 \r\n\r\n",
                                   "0x0\r\n\r\n",
                                   "0;\r\n\r\n",
                                   "5;\r\nhello\r\n0\r\n\r\n",
                                   "5; \r\nhello\r\n0\r\n\r\n",
                                   "5;=b\r\nhello\r\n0\r\n\r\n",
                                   "5;a=\r\nhello\r\n0\r\n\r\n",
                                   "5;a b\r\nhello\r\n0\r\n\r\n",
                                   "5;a=\"\r\nhello\r\n0\r\n\r\n",
                                   "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
                                   "5;a=\"\x01\"\r\nhello\r\n0\r\n\r\n",
                                   "5;a\nb\r\nhello\r\n0\r\n\r\n",
                                   "5;a=b\n\r\nhello\r\n0\r\n\r\n"})
        cases.push_back({body, chunked(body)});
    cases.push_back({"NUL behind the size", chunked("5"s + '\0' + "\r\nhello\r\n0\r\n\r\n")});
    cases.push_back(
        {"NUL in an extension", chunked("5;a=\""s + '\0' + "\"\r\nhello\r\n0\r\n\r\n")});
    cases.push_back({"an extension over its limit",
                     chunked("5;a=" + std::string(2000, 'x') + "\r\nhello\r\n0\r\n\r\n")});
    cases.push_back({"an extension over its limit, at the last chunk",
                     chunked("0;a=" + std::string(2000, 'x') + "\r\n\r\n")});
    cases.push_back({"a chunk line without an end", chunked("5;a=" + std::string(80'000, 'x'))});
    for (const std::string trailer :
         {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "no colon\r\n",
          ": no name\r\n", "X : y\r\n", " X: y\r\n", "X: y\r\n z\r\n", "X:\r\n y\r\n",
          "X: a\rb\r\n", "X: a\nb\r\n", "X\x01: y\r\n", "X: \x01\r\n", "\n"})
        cases.push_back({trailer, chunked("5\r\nhello\r\n0\r\n" + trailer + "\r\n")});
    std::string lines;
    for (int i = 0; i < 201; ++i) lines += "T: x\r\n";
    cases.push_back({"too many trailers", chunked("0\r\n" + lines + "\r\n")});
    cases.push_back(
        {"too large a trailer", chunked("0\r\nT: " + std::string(80'000, 'x') + "\r\n\r\n")});
    expect_refused(cases);
}

TEST_F(MalformedRequests, WithABadHost) {  // RFC 9112 §3.2
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

TEST_F(MalformedRequests, WithABrokenFieldLine) {  // RFC 9112 §2.2, §5, §5.1, §5.2
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

TEST_F(MalformedRequests, WithABrokenRequestLine) {  // RFC 9112 §3, §2.3
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
             {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
             {"the preface and SETTINGS",
              "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s + std::string("\0\0\0\x04\0\0\0\0\0", 9)},
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

TEST_F(MalformedRequests, AboveTheLimitsThatAreSet) {  // both are settings
    auto settings = config("c");
    settings.limits.request_line = 100;
    settings.limits.head = 1000;
    settings.limits.head_lines = 4;
    start(std::move(settings));
    const auto ask = [&](std::string_view bytes) {
        auto connection = client("c");
        connection.socket.send(bytes);
        return connection.read().status;
    };
    EXPECT_EQ(ask(get_of("A: 1\r\nB: 2\r\nC: 3\r\n")), 200u);
    EXPECT_EQ(ask(get_of("A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n")), 431u);
    EXPECT_EQ(ask(get_of("A: " + std::string(1000, 'x') + "\r\n")), 431u);
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

TEST_F(MalformedRequests, AreToldFromOddOnesWithALength) {  // what the grammar allows
    expect_accepted({
        {post_of("Content-Length: 5\r\n", "hello"), "hello"},
        {post_of("Content-Length: 0005\r\n", "hello"), "hello"},
        {post_of("Content-Length:5\r\n", "hello"), "hello"},
        {post_of("Content-Length: \t 5 \t\r\n", "hello"), "hello"},
        {post_of("content-LENGTH: 5\r\n", "hello"), "hello"},
        {post_of("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), "hello"},
        {post_of("Content-Length: 5, 5\r\n", "hello"), "hello"},
        {post_of("Content-Length: 0\r\n", ""), ""},
        {post_of("", ""), ""},
    });
    for (const auto& head : origin.heads())  // RFC 9112 §6.3: one number goes on
        EXPECT_LE(count_of(head, "Content-Length"), 1u) << head;
}

TEST_F(MalformedRequests, AreToldFromOddOnesInChunks) {
    expect_accepted({
        {chunked(kWhole), kWhole},
        {post_of("Transfer-Encoding:\tCHUNKED \r\n", kWhole), kWhole},
        {chunked("5;a\r\nhello\r\n0\r\n\r\n"), kWhole},
        {chunked("5;a=b;c=\"d;\\\"e\"\r\nhello\r\n0;f\r\n\r\n"), kWhole},
        {chunked("5 ;a = b\r\nhello\r\n0\r\n\r\n"), kWhole},  // bad white space, to be tolerated
        {chunked("00000000000000005\r\nhello\r\n000\r\n\r\n"), kWhole},
        {chunked("A\r\n0123456789\r\n0\r\n\r\n"), "a\r\n0123456789\r\n0\r\n\r\n"},
        {chunked("0\r\n\r\n"), "0\r\n\r\n"},
        {chunked("5\r\nhello\r\n0\r\nX-Sum: 1\r\nHost: other\r\n\r\n"), kWhole},
        {chunked("2\r\n\r\n\r\n0\r\n\r\n"), "2\r\n\r\n\r\n0\r\n\r\n"},
    });
    for (const auto& head : origin.heads()) {  // trailers never become fields
        EXPECT_EQ(field_of(head, "X-Sum"), "");
        EXPECT_EQ(count_of(head, "Host: other"), 0u);
    }
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

TEST_F(MalformedRequests,
       AreNotMadeOfTheBodyOfAGet) {  // RFC 9112 §6: framed like any other
    const std::string hidden(kNext);
    expect_accepted({
        {get_of("Content-Length: " + std::to_string(hidden.size()) + "\r\n") + hidden, hidden},
        {get_of("Transfer-Encoding: chunked\r\n") + kWhole, kWhole},
        {"DELETE /x HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 5\r\n\r\nhello", "hello"},
    });
    for (const auto& head : origin.heads()) EXPECT_FALSE(head.starts_with("GET /smuggled")) << head;
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

TEST_F(MalformedRequests, AreNotMadeByExpect) {  // RFC 9110 §10.1.1
    for (const auto* node : {"a", "b"}) {
        auto connection = client(node);
        connection.socket.send(as_sent_to(
            node,
            "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
        std::string interim;
        while (!interim.ends_with("\r\n\r\n")) ASSERT_TRUE(connection.socket.receive(interim, 1));
        EXPECT_TRUE(interim.starts_with("HTTP/1.1 100 ")) << interim;
        connection.socket.send("hello" + as_sent_to(node, "GET /y HTTP/1.1\r\nHost: h\r\n\r\n"));
        EXPECT_EQ(connection.read().body, "body of /x");
        EXPECT_EQ(connection.read().body, "body of /y");
    }
}

TEST_F(MalformedRequests, AreNotMadeByTwoNames) {  // RFC 9112 §3.2.2: the target wins
    const auto place = "127.0.0.1:" + std::to_string(origin.port());
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
        {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
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

}  // namespace
}  // namespace proxy::test
