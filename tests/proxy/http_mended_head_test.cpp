#include "proxy/http/mended_head.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace http_mended_head_test {

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

TEST(MendedHead, SaysNothingOfFramingThatOthersReadOtherwise) {
    for (const std::string line :
         {"Content-Length : 5", "transfer-encoding\t: chunked", "CONTENT-LENGTH  :5"}) {
        auto head = "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n";
        EXPECT_EQ(mend_response_head(head), ParseError::bad_framing) << line;
    }
}

}  // namespace http_mended_head_test
}  // namespace proxy
