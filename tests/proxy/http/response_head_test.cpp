#include "proxy/http/response_head.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proxy/http/hop_by_hop.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy {
namespace response_head_test {

using test::line;

TEST(RenderResponse, PartsWhatIsStoredFromWhatIsForOneAnswer) {
    Head head;
    head.status = 200;
    head.fields = {line("Date", "Sat, 21 Nov 2026 10:00:00 GMT"),
                   line("Age", "5"),
                   line("Content-Length", "10"),
                   line("Connection", "close"),
                   line("Cache-Status", "up; hit"),
                   line("X-A", "1"),
                   line("X-A", "2")};
    std::string out;
    LiveFields live;
    render_response(head, "n", StoredFields(head.fields, {}), WallTime{}, out, live);
    EXPECT_EQ(out,
              "Date: Sat, 21 Nov 2026 10:00:00 GMT\r\nX-A: 1\r\nX-A: 2\r\nVia: "
              "1.1 n\r\n");
    EXPECT_EQ(live.cache_status, "up; hit");
    EXPECT_TRUE(live.has_age);
}

TEST(RenderResponse, KeepsAContentRangeWithEveryStatus) {  // RFC 9110 §14.4
    for (const unsigned status : {200u, 206u, 404u, 416u}) {
        Head head;
        head.status = status;
        head.fields = {line("Content-Range", "bytes 0-10/11")};
        std::string out;
        LiveFields live;
        render_response(head, "n", StoredFields(head.fields, {}), WallTime{}, out, live);
        EXPECT_TRUE(out.starts_with("Content-Range: bytes 0-10/11\r\n")) << status;
    }
}

TEST(RenderResponse, AddsADateThatIsMissing) {  // RFC 9110 §6.6.1
    Head head;
    head.status = 404;
    std::string out;
    LiveFields live;
    render_response(head, "n", StoredFields(head.fields, {}), WallTime{}, out, live);
    EXPECT_EQ(out, "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nVia: 1.1 n\r\n");
}

TEST(StatusLine, HasNoReasonWhereNoneIsKnown) {  // RFC 9112 §4
    std::string out;
    append_status_line(out, 103);
    append_status_line(out, 222);
    EXPECT_EQ(out, "HTTP/1.1 103 \r\nHTTP/1.1 222 \r\n");
}

}  // namespace response_head_test
}  // namespace proxy
