// How a body is framed, or is not.
#include "tests/cluster/malformed_requests.hpp"

namespace proxy::test {
namespace malformed_framing_test {

using namespace std::string_literals;

TEST_F(MalformedRequests, ARequestWithTwoKindsOfFramingIsRefused) {  // RFC 9112 §6.1, §6.3
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

TEST_F(MalformedRequests, ATransferCodingThatFramesNothingIsRefused) {  // RFC 9112 §6.1
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

TEST_F(MalformedRequests, AnInvalidLengthIsRefused) {  // RFC 9112 §6.3
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

TEST_F(MalformedRequests, BrokenChunksAreRefused) {  // RFC 9112 §7.1
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

}  // namespace malformed_framing_test
}  // namespace proxy::test
