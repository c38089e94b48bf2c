#include "proxy/http/message_parser.hpp"

#include "proxy/request/error_response.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace message_parser_test {

using boost::beast::http::field;

struct Parsed {
    std::string bytes;
    Head head;
    ParseError error = ParseError::ok;
};

template <bool IsRequest = true>
Parsed parse(std::string bytes, HeadLimits limits = {}) {
    Parsed result{std::move(bytes), {}, ParseError::ok};
    MessageParser<IsRequest> parser(result.head, limits);
    result.error = parser.parse_head(result.bytes);
    return result;
}

ParseError refused(std::string bytes) {
    return parse(std::move(bytes)).error;
}

/// The body that comes out when the bytes behind the head arrive in pieces of this size; nothing on
/// an error.
template <bool IsRequest>
std::optional<std::string> body_of(std::string head, std::string_view bytes, std::size_t piece) {
    Head parsed;
    MessageParser<IsRequest> parser(parsed, {});
    if (parser.parse_head(head) != ParseError::ok) return std::nullopt;
    std::string body, input;
    auto sink = [&](std::string_view data) { body.append(data); };
    for (std::size_t at = 0; at < bytes.size() && !parser.is_done(); at += piece) {
        input.append(bytes.substr(at, piece));
        const auto used = parser.parse_body(input, sink);
        if (!used) return std::nullopt;
        input.erase(0, *used);
    }
    if (!parser.is_done() && !parser.finish_at_eof()) return std::nullopt;
    return body;
}

TEST(MessageParser, GivesViewsOfARequestsHead) {
    const auto parsed =
        parse("GET /a?b=c HTTP/1.1\r\nHost: h\r\nX-Odd:  two words \t\r\nX-Odd: again\r\n\r\n");
    ASSERT_EQ(parsed.error, ParseError::ok);
    EXPECT_EQ(parsed.head.method, "GET");
    EXPECT_EQ(parsed.head.target, "/a?b=c");
    EXPECT_EQ(parsed.head.version, 11);
    ASSERT_EQ(parsed.head.fields.size(), 3u);
    EXPECT_EQ(parsed.head.fields[0].id, field::host);
    EXPECT_EQ(parsed.head.fields[1].value, "two words");
    EXPECT_EQ(parsed.head.fields[2].value, "again");
    EXPECT_GE(parsed.head.target.data(), parsed.bytes.data());  // a view, not a copy
    EXPECT_LT(parsed.head.target.data(), parsed.bytes.data() + parsed.bytes.size());
}

TEST(MessageParser, GivesTheHeadOfAResponse) {
    const auto parsed = parse<false>("HTTP/1.0 404 Not There\r\nContent-Length: 3\r\n\r\n");
    ASSERT_EQ(parsed.error, ParseError::ok);
    EXPECT_EQ(parsed.head.status, 404u);
    EXPECT_EQ(parsed.head.version, 10);
    EXPECT_EQ(parsed.head.reason, "Not There");
}

TEST(MessageParser, RefusesOtherProtocols) {
    EXPECT_EQ(refused("GET\r\n\r\n"), ParseError::bad_request_line);
    EXPECT_EQ(refused("GET / FTP/1.1\r\nHost: h\r\n\r\n"), ParseError::bad_version);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nno colon\r\n\r\n"), ParseError::bad_field);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\n: no name\r\n\r\n"), ParseError::bad_field);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\nbad name: x\r\n\r\n"), ParseError::bad_field);
}

TEST(MessageParser, WantsOneHost) {  // RFC 9112 §3.2
    EXPECT_EQ(refused("GET / HTTP/1.1\r\n\r\n"), ParseError::host_count);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), ParseError::host_count);
    EXPECT_EQ(refused("GET / HTTP/1.0\r\n\r\n"), ParseError::ok);  // before there was Host
}

TEST(MessageParser, RefusesFoldedLines) {  // RFC 9112 §5.2
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"), ParseError::folded_line);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n"), ParseError::folded_line);
}

TEST(MessageParser, RefusesControlCharacters) {  // RFC 9110 §5.5
    for (const char byte : {'\0', '\x01', '\x0b', '\x1f', '\x7f'}) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\nX: a";
        bytes.append(1, byte).append("b\r\n\r\n");
        EXPECT_EQ(refused(bytes), ParseError::bad_value) << static_cast<int>(byte);
    }
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: h\r\nX: a\tb \xe4\r\n\r\n"),
              ParseError::ok);  // tab, obs-text
}

TEST(MessageParser, RefusesFramingThatContradictsItself) {  // RFC 9112 §6.1, §6.3
    const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
    for (const auto* lines : {
             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
             "Content-Length: 5\r\nContent-Length: 6\r\n",
             "Content-Length: -1\r\n",
             "Content-Length: 0x10\r\n",
             "Content-Length: 99999999999999999999999\r\n",
             "Content-Length: 5 5\r\n",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: chunked, chunked\r\n",
         })
        EXPECT_NE(refused(start + lines + "\r\n"), ParseError::ok) << lines;
}

TEST(MessageParser, SaysWhichCodingsAreNotThere) {  // RFC 9112 §6.1
    EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
              ParseError::unsupported_coding);
}

TEST(MessageParser, SaysWhichVersionsAreNotThere) {
    EXPECT_EQ(refused("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), ParseError::unsupported_version);
}

TEST(MessageParser, TrustsNoConnectionAfterATransferCodingInHttp10) {  // RFC 9112 §6.1
    const auto response = [](const std::string& version) {
        return "HTTP/" + version +
               " 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n";
    };
    for (const auto* version : {"1.0", "1.1"}) {
        const auto bytes = response(version);
        Head head;
        ResponseParser parser(head, {});
        ASSERT_EQ(parser.parse_head(bytes), ParseError::ok);
        EXPECT_EQ(body_of<false>(bytes, "5\r\nhello\r\n0\r\n\r\n", 3), "hello");
        EXPECT_EQ(parser.keep_alive(), version == std::string("1.1"));
    }
    EXPECT_EQ(refused("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"),
              ParseError::bad_framing);
}

TEST(MessageParser, CloseWinsOverKeepAlive) {  // RFC 9112 §9.3
    for (const auto* version : {"1.0", "1.1"})
        for (const auto* options :
             {"close, keep-alive", "keep-alive, Close", "keep-alive\r\nConnection: close"}) {
            const auto bytes = "GET / HTTP/" + std::string(version) +
                               "\r\nHost: h\r\nConnection: " + options + "\r\n\r\n";
            Head head;
            RequestParser parser(head, {});
            ASSERT_EQ(parser.parse_head(bytes), ParseError::ok);
            EXPECT_FALSE(parser.keep_alive()) << version << ' ' << options;
        }
}

TEST(MessageParser, KeepsToItsLimits) {
    const HeadLimits limits{.request_line_bytes = 40, .head_bytes = 120, .lines = 4};
    EXPECT_EQ(parse("GET /" + std::string(60, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n", limits).error,
              ParseError::target_too_long);
    EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(120, 'x') + "\r\n\r\n", limits)
                  .error,
              ParseError::head_too_large);
    EXPECT_EQ(
        parse("GET / HTTP/1.1\r\nHost: h\r\na: 1\r\nb: 1\r\nc: 1\r\nd: 1\r\n\r\n", limits).error,
        ParseError::head_too_large);
    EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\na: 1\r\nb: 1\r\nc: 1\r\n\r\n", limits).error,
              ParseError::ok);
}

TEST(MessageParser, TakesASizedBodyInPiecesOfAnySize) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n";
    for (std::size_t piece = 1; piece <= 10; ++piece)
        EXPECT_EQ(body_of<true>(head, "0123456789", piece), "0123456789");
    EXPECT_EQ(body_of<true>(head, "012345678", 4), std::nullopt);  // short
}

TEST(MessageParser, TakesChunksInPiecesOfAnySize) {  // RFC 9112 §7.1
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string_view chunks =
        "4;name=value\r\nfour\r\n00a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
    for (std::size_t piece = 1; piece <= chunks.size(); ++piece)
        EXPECT_EQ(body_of<false>(head, chunks, piece), "four0123456789") << piece;
    for (std::size_t cut = 1; cut < chunks.size(); ++cut)
        EXPECT_EQ(body_of<false>(head, chunks.substr(0, cut), 7), std::nullopt) << "cut at " << cut;
}

TEST(MessageParser, TakesBlanksBehindTheSizeOfAChunkInResponses) {
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string_view chunks =
        "4  \r\nfour\r\n00a\t \r\n0123456789\r\n1 ;a=b\r\nx\r\n0    \r\nTrailer: x\r\n\r\n";
    for (std::size_t piece = 1; piece <= chunks.size(); ++piece)
        EXPECT_EQ(body_of<false>(head, chunks, piece), "four0123456789x") << piece;
    for (std::size_t cut = 1; cut < chunks.size(); ++cut)
        EXPECT_EQ(body_of<false>(head, chunks.substr(0, cut), 7), std::nullopt) << "cut at " << cut;
    for (const auto* bad :
         {"4 4\r\nfour\r\n0\r\n\r\n", " 4\r\nfour\r\n0\r\n\r\n", "4 \nfour\r\n0\r\n\r\n",
          "4 \r4\r\nfour\r\n0\r\n\r\n", "4 \r\nfour\r\n0 \r\nfolded:\r\n x\r\n\r\n"})
        EXPECT_EQ(body_of<false>(head, bad, 64), std::nullopt) << bad;
    EXPECT_EQ(body_of<false>(head, "4" + std::string(5000, ' ') + "\r\nfour\r\n", 64),
              std::nullopt);
    const std::string request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(body_of<true>(request, "4 \r\nfour\r\n0\r\n\r\n", 64), std::nullopt);
}

TEST(MessageParser, PassesChunkDataOnAsSoonAsItIsThere) {
    Head head;
    ResponseParser parser(head, {});
    ASSERT_EQ(parser.parse_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
              ParseError::ok);
    std::string body;
    auto sink = [&](std::string_view data) { body.append(data); };
    std::string input = "1\r\n\n\r\n";  // an event's last byte in a chunk of its own
    const auto used = parser.parse_body(input, sink);
    ASSERT_TRUE(used);
    EXPECT_EQ(body, "\n");
    input.erase(0, *used);
    input.append("0\r\n\r\n");
    ASSERT_TRUE(parser.parse_body(input, sink));
    EXPECT_TRUE(parser.is_done());
}

TEST(MessageParser, RefusesBrokenChunks) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const auto* chunks :
         {"x\r\n", "-1\r\nab\r\n", "4\r\nfourX\r\n0\r\n\r\n", "ffffffffffffffffff\r\n",
          "4 4\r\nfour\r\n", "0\r\nbad trailer\r\n\r\n"})
        EXPECT_EQ(body_of<true>(head, chunks, 64), std::nullopt) << chunks;
}

TEST(MessageParser, TakesABodyThatEndsWithTheConnection) {  // RFC 9112 §6.3
    EXPECT_EQ(body_of<false>("HTTP/1.1 200 OK\r\n\r\n", "to the end", 3), "to the end");
}

/// The result of these bytes when they arrive in two parts, or one by one.
std::string verdict(std::string_view bytes, std::size_t cut, std::size_t then) {
    std::string input, head_bytes, body;
    Head head;
    std::optional<RequestParser> parser;
    std::size_t scanned = 0;
    auto sink = [&](std::string_view data) { body.append(data); };
    for (std::size_t at = 0, piece = cut; at < bytes.size(); at += piece, piece = then) {
        input.append(bytes.substr(at, piece));
        if (!parser) {
            const auto size = find_head_end(input, scanned);
            if (size == 0 && judge_request_start(input, {}) != ParseError::ok) return "refused";
            if (size == 0) continue;
            head_bytes = input.substr(0, size);
            input.erase(0, size);
            if (parser.emplace(head, HeadLimits{}).parse_head(head_bytes) != ParseError::ok)
                return "refused";
        }
        if (parser->is_done()) continue;
        const auto used = parser->parse_body(input, sink);
        if (!used) return "refused";
        input.erase(0, *used);
    }
    return parser && parser->is_done() ? "body: " + body : "waits";
}

TEST(MessageParser, GivesTheSameVerdictHoweverTheBytesArrive) {
    const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
    const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
    for (const auto& [bytes, expected] : std::vector<std::pair<std::string, std::string>>{
             {post + "Content-Length: 5\r\n\r\nhello", "body: hello"},
             {chunked + "3;a=\"b\"\r\nabc\r\n2\r\nde\r\n0;c\r\nT: u\r\n\r\n", "body: abcde"},
             {chunked + "3\r\nabc\r\n0\r\nT: u\r\n", "waits"},
             {chunked + "3;a=\"\r\nabc\r\n0\r\n\r\n", "refused"},
             {chunked + "0;a=\"\r\n\r\n", "refused"},
             {chunked + "3;a=\"\n\"\r\nabc\r\n0\r\n\r\n", "refused"},
             {chunked + "0x3\r\nabc\r\n0\r\n\r\n", "refused"},
             {chunked + "3\r\nabcd\r\n0\r\n\r\n", "refused"},
             {chunked + "3\nabc\r\n0\r\n\r\n", "refused"},
             {chunked + "hello", "refused"},
             {chunked + "3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n", "refused"},
             {chunked + "3\r\nabc\r\n0\r\nX: a\n\r\n", "refused"},
             {chunked + "3\r\nabc\r\n0\r\n\n", "refused"},
             {chunked + "3\r\nabc\r\n0\r\nX: a\r\n b\r\n\r\n", "refused"},
             {chunked + "3\r\nabc\r\n0\r\nX:\r\n b\r\n\r\n", "refused"},
             {post + "X:\r\n y\r\n\r\n", "refused"},
             {post + "X: a\nY: b\r\n\r\n", "refused"},
             {"\x16\x03\x01", "refused"},
             {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "refused"},
         }) {
        for (std::size_t cut = 1; cut <= bytes.size(); ++cut)
            EXPECT_EQ(verdict(bytes, cut, bytes.size()), expected) << bytes << " cut at " << cut;
        EXPECT_EQ(verdict(bytes, 1, 1), expected) << bytes << " byte by byte";
    }
}

TEST(MessageParser, BoundsTrailersByTheirBytesHoweverTheyArrive) {
    const auto refused_as = [](const std::string& chunks, std::size_t piece) {
        Head head;
        ResponseParser parser(head, HeadLimits{.head_bytes = 200});
        EXPECT_EQ(parser.parse_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                  ParseError::ok);
        auto sink = [](std::string_view) {};
        std::string input;
        for (std::size_t at = 0; at < chunks.size(); at += piece) {
            input.append(chunks, at, piece);
            const auto used = parser.parse_body(input, sink);
            if (!used) return parser.error();
            input.erase(0, *used);
        }
        EXPECT_TRUE(parser.is_done());
        return ParseError::ok;
    };
    // White space around a value counts as well: it has to be held until the end comes.
    const auto last_chunk = [](std::size_t bytes) {
        const std::string line = "0\r\nT:";
        return line + std::string(bytes - line.size() - 5, ' ') + "x\r\n\r\n";
    };
    for (const std::size_t piece : {1, 7, 150, 1000}) {
        EXPECT_EQ(refused_as(last_chunk(200), piece), ParseError::ok) << piece;
        EXPECT_EQ(refused_as(last_chunk(201), piece), ParseError::head_too_large) << piece;
        EXPECT_EQ(refused_as("3\r\nabc\r\n" + last_chunk(240), piece), ParseError::head_too_large)
            << piece;
    }
}

TEST(HeadStart, RefusesAnInvalidHeadEarly) {  // RFC 9112 §3, §4
    const HeadLimits limits{.request_line_bytes = 20};
    for (const auto* good : {"", "G", "GET", "GET /", "GET / HTTP/1.1\r\nX", "\r"})
        EXPECT_EQ(judge_request_start(good, limits), ParseError::ok) << good;
    for (const auto* bad : {"\n", "\rG", " GET", "G@T", "GET\t/", "GET / HTTP/1.1\nX"})
        EXPECT_EQ(status_of(judge_request_start(bad, limits)), 400u) << bad;
    EXPECT_EQ(judge_request_start("GET /" + std::string(16, 'x'), limits),
              ParseError::target_too_long);
    for (const auto* good :
         {"", "H", "HTTP/", "HTTP/1.1 200 OK\r", "HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\nX"})
        EXPECT_EQ(judge_response_start(good), ParseError::ok) << good;
    for (const auto* bad : {"\n", "h", "HTTX", "<html>", "\r\nHTTP"})
        EXPECT_NE(judge_response_start(bad), ParseError::ok) << bad;
}

TEST(ParseErrors, NameTheMalformedPart) {
    const auto request = [](const std::string& lines) {
        return std::string(to_string(refused("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n")));
    };
    EXPECT_EQ(request("Content-Length: x\r\n"),
              "Content-Length is no number, contradicts itself or is too large");
    EXPECT_EQ(request("Transfer-Encoding: chunked, x\r\n"),
              "Content-Length and Transfer-Encoding do not say where the body ends");
    EXPECT_EQ(refused("GET /#x HTTP/1.1\r\nHost: h\r\n\r\n"), ParseError::bad_target);
    EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), ParseError::bad_host);
    EXPECT_EQ(refused("PRI * HTTP/2.0\r\n\r\n"), ParseError::http2);
    EXPECT_EQ(judge_request_start("\x16\x03\x01 ", {}), ParseError::not_http);
    EXPECT_EQ(judge_response_start("<html>"), ParseError::not_http);
    EXPECT_EQ(judge_request_start("GET / HTTP/1.1\nHost", {}), ParseError::bad_line_ending);
}

TEST(FindHeadEnd, FindsTheEndHoweverTheBytesArrive) {
    const std::string_view head = "GET / HTTP/1.1\r\nHost: h\r\n\r\nbody";
    for (std::size_t piece = 1; piece <= head.size(); ++piece) {
        std::size_t scanned = 0, found = 0;
        for (std::size_t have = piece; found == 0; have += piece)
            found = find_head_end(head.substr(0, std::min(have, head.size())), scanned);
        EXPECT_EQ(found, head.size() - 4) << piece;
    }
}

}  // namespace message_parser_test
}  // namespace proxy
