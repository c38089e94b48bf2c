#include "measure/trace/masked.hpp"

#include <gtest/gtest.h>

#include <string>

namespace measure {
namespace masked_test {

TEST(Masked, ShowsTheShapeAndNothingOfAPerson) {
    EXPECT_EQ(masked("203.0.113.7, 10.1.1.1 - Alice [10/Oct/2000:13:55:36 -0700] \"GET "
                     "/users/123?token=Ab9 HTTP/1.1\" 200 10"),
              "999.9.999.9, 99.9.9.9 - Xxxxx [99/Xxx/9999:99:99:99 -9999] \"GET /xxxxx/999?xx...");
    EXPECT_EQ(masked("\"GET /u/123?get=1 HTTP/1.1\" 404 17"),
              "\"GET /x/999?xxx=9 HTTP/1.1\" 404 99");
    EXPECT_EQ(masked("1066036250.129 9 10.0.0.2 TCP_MISS/200 10 GET http://a.example/1"),
              "9999999999.999 9 99.9.9.9 TCP_MISS/200 99 GET http://x.xxxxxxx/9");
    EXPECT_EQ(masked("{\"client\":\"::1\",\"url\":\"https://a/b\"}"),
              "{\"client\":\"::9\",\"url\":\"https://x/x\"}");
}

TEST(Masked, ShowsMethodStatusAndUrlOfALongJsonLine) {
    EXPECT_EQ(masked("{\"ts\":\"2026-11-25T10:00:00.123Z\",\"client\":\"10.0.0.7\","
                     "\"method\":\"GET\",\"url\":\"http://a.test/u/123?q=\\\"x\",\"status\":404,"
                     "\"bytes\":17}"),
              "{\"method\":\"GET\",\"status\":404,\"url\":\"http://x.xxxx/x/999?x=\\\"x\"}");
    const auto broken = masked("{\"ts\":\"2026-11-25T10:00:00.123Z\",\"client\":\"10.0.0.7\"," +
                               std::string(80, ' ') + "\"method\":\"GE");
    EXPECT_EQ(broken, "{\"method\":\"XX}");
}

TEST(Masked, IsPrintableAndShort) {
    EXPECT_EQ(masked("\x1b[2J\xc3\xa9\tb"), "?[9X?? x");
    EXPECT_EQ(masked(std::string(1'000'000, 'a')).size(), 80u);
    EXPECT_EQ(masked(std::string(80, 'a')), std::string(80, 'x'));
    EXPECT_EQ(masked(""), "");
}

}  // namespace masked_test
}  // namespace measure
