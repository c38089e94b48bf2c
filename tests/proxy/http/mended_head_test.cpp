#include "proxy/http/mended_head.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace mended_head_test {

std::string mended(std::string head) {
    EXPECT_EQ(mend_response_head(head), ParseError::ok);
    return head;
}

TEST(MendedHead, IsTheSameWhereNothingIsAmiss) {
    for (const std::string head :
         {"HTTP/1.1 200 OK\r\nA: b\r\nC:d \r\n\r\n", "HTTP/1.0 200 \r\n\r\n",
          "HTTP/1.1 404 Not : There\r\nA: b : c\r\n\r\n"})
        EXPECT_EQ(mended(head), head);
}

TEST(MendedHead, HasItsLinesEndInCrlf) {  // RFC 9112 §2.2
    EXPECT_EQ(mended("HTTP/1.1 200 OK\nA: b\n\n"), "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\n"),
              "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n");
}

TEST(MendedHead, HasABlankBehindItsStatus) {  // RFC 9112 §4
    EXPECT_EQ(mended("HTTP/1.1 200\r\nA: b\r\n\r\n"), "HTTP/1.1 200 \r\nA: b\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.0 200\n\n"), "HTTP/1.0 200 \r\n\r\n");
    for (const std::string head : {"HTTP/1.1 20x\r\n\r\n", "HTTP/1.1 2000\r\n\r\n",
                                   "HTTP/1.1\r\n\r\n", "HTTP/1.1 20\r\n\r\n"})
        EXPECT_EQ(mended(head), head);  // nothing that the parser would take
}

TEST(MendedHead, IsOfAVersionThatIsKnown) {  // RFC 9112 §2.3
    EXPECT_EQ(mended("HTTP/1.2 200 OK\r\n\r\n"), "HTTP/1.1 200 OK\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.9 200\r\n\r\n"), "HTTP/1.1 200 \r\n\r\n");
    for (const std::string head : {"HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.12 200 OK\r\n\r\n",
                                   "HTTP/1.a 200 OK\r\n\r\n", "http/1.2 200 OK\r\n\r\n"})
        EXPECT_EQ(mended(head), head);
}

TEST(MendedHead, HasNoBlankBeforeAColon) {  // RFC 9112 §5.1
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\nA : b\r\nC \t:d\r\nE: f : g\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nA: b\r\nC:d\r\nE: f : g\r\n\r\n");
    for (const std::string head :
         {"HTTP/1.1 200 OK\r\nA: b\r\n C : d\r\n\r\n",  // goes on with the line before
          "HTTP/1.1 200 OK\r\n : d\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"})
        EXPECT_EQ(mended(head), head);
}

TEST(MendedHead, HasSpacesForControlCharactersInValues) {  // RFC 9110 §5.5
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\nA: b\x01"
                     "c\x7f\r\nD\t:\x1b[0m\te\n\r\n"),
              "HTTP/1.1 200 OK\r\nA: b c \r\nD: [0m\te\r\n\r\n");
    const std::string nul("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", 28);
    for (const auto& head : {nul, std::string("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n"),
                             std::string("HTTP/1.1 200 OK\r\nA\x01: b\r\n\r\n")})
        EXPECT_EQ(mended(head), head) << "the parser refuses it";
}

TEST(MendedHead, SaysOnceThatTheBodyIsChunked) {
    const std::string once = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n";
    for (const std::string head :
         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\nA: b\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked,Chunked ,\r\nA: b\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n"
          "transfer-encoding: Chunked\r\n\r\n",
          "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nA: b\n"
          "Transfer-Encoding: chunked, chunked\n\n"})
        EXPECT_EQ(mended(head), once);
    for (const std::string head :
         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"})
        EXPECT_EQ(mended(head), head);
}

TEST(MendedHead, SaysNothingOfFramingThatOthersReadOtherwise) {
    for (const std::string line :
         {"Content-Length : 5", "transfer-encoding\t: chunked", "CONTENT-LENGTH  :5",
          "Content-Length: 5\v", "Transfer-Encoding: \vchunked"}) {
        auto head = "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n";
        EXPECT_EQ(mend_response_head(head), ParseError::bad_framing) << line;
    }
}

}  // namespace mended_head_test
}  // namespace proxy
