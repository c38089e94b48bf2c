#include "measure/trace/line_prefix.hpp"

#include <gtest/gtest.h>

#include <string>

namespace measure {
namespace line_prefix_test {

TEST(LinePrefix, GoesWhereCollectorsPutOne) {
    const std::string rest = "10.0.0.1 - - [x] \"GET / HTTP/1.1\" 200 1";
    for (const char* prefix : {
             "Nov 25 18:50:30 web1 nginx: ",
             "Nov  5 18:50:30 web1 nginx[812]: ",
             "<190>Nov 25 18:50:30 web1 nginx: ",
             "<190>Nov 25 18:50:30 nginx: ",
             "2026-11-25T18:50:30.123456+01:00 web1 nginx[812]: ",
             "<34>1 2026-11-25T22:14:15.003Z web1 nginx 812 ID47 - ",
             "<34>1 2026-11-25T22:14:15Z web1 nginx - - [a@1 b=\"c d\"] ",
             "2026-11-25T18:50:30.123456789Z stdout F ",
             "2026-11-25T18:50:30.123456789+01:00 stderr P ",
             "2026-11-25T18:50:30.123456789Z ",
             "web-1  | ",
             "hearsay_b.2 | ",
             "hearsay_web.1.x7k2v9q0m3la@node-1    | ",
             "2026-11-25T18:50:30+0000 ",
             "2026-11-25T18:50:30.123-0530 web1 nginx[812]: ",
             "\x1b[36mweb-1  | \x1b[0m",
             "[pod/web-7d9/nginx] ",
         })
        EXPECT_EQ(without_prefix(prefix + rest), rest) << prefix;
}

TEST(LinePrefix, IsNotSeenWhereNoneIs) {
    for (const char* line :
         {"", " ", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1",
          "1066036250.129 1 10.0.0.2 TCP_MISS/200 10 GET http://a/1 - DIRECT/a text/html",
          "{\"ts\":\"2026-11-20T12:50:33.007Z\"}", "1\t1\tGET\thttp://a/\t200\t10", "a|b", "| x",
          "Nov 25 18:50:30 no tag here", "<999999>x", "<a>x", "2026-11-25 18:50:30 x",
          "2026-11-25T18:50:30x y", "\x1b[36", "[pod/", "<34>1 2026-11-25T22:14:15Z web1"})
        EXPECT_EQ(without_prefix(line), line);
}

TEST(LinePrefix, GoesLayerByLayer) {
    const std::string rest = "{\"a\":1}";
    const auto once = "Nov 25 18:50:30 web1 nginx: " + rest;
    EXPECT_EQ(without_prefix("web-1  | " + once), once);
    EXPECT_EQ(without_prefix(without_prefix("web-1  | " + once)), rest);
}

}  // namespace line_prefix_test
}  // namespace measure
